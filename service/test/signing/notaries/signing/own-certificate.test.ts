import assert from "node:assert/strict";
import { test } from "node:test";
import { parseCertificatesPem } from "@signsealship/evidence/x509";
import { temporaryFolder } from "@signsealship/testing/temporary-folder";
import type { Notary } from "../../../../src/signing/notaries/commissions/store.ts";
import { nameWarning } from "../../../../src/signing/notaries/signing/own-certificate.ts";
import { certificateFiles } from "../certificate-files.ts";

test("a notary is warned only of a certificate with another name, whatever its accents, case and word order", (t) => {
  const folder = temporaryFolder();
  t.after(folder.remove);
  const make = certificateFiles(folder.path);
  const warnings = (certified: string, commissionName: string) => {
    const [certificate] = parseCertificatesPem(make(certified, { key: "p256" }).pem);
    assert.ok(certificate);
    return nameWarning(certificate, { commissionName } as Notary);
  };
  for (const [certified, commissioned] of [
    ["Ana Núñez", "Ana Núñez"],
    ["NUNEZ ANA", "Ana Núñez"],
    ["Ana Núñez", "Ana Nunez"],
    ["Zoë Ana Brontë", "Zoe Bronte"],
  ] as const)
    assert.deepEqual(warnings(certified, commissioned), [], `${certified}, ${commissioned}`);
  assert.match(warnings("Ana Núñez", "Ana Muñoz")[0] ?? "", /names .*, and your commission Ana Muñoz/);
  assert.equal(warnings("Ana", "Ana Núñez").length, 1);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { signPdf } from "../../../../packages/evidence/test/seal/signed-pdf.ts";
import { testSigner, tokenOver } from "../../../../packages/evidence/test/signer.ts";
import { fileForm, postSeal } from "../../evidence/proof-passports/seal-document.ts";
import { openCeremonyService, signBy } from "./ceremony/ceremony-service.ts";

const running = await forTests(openCeremonyService());

const author = testSigner("plain");
const tsa = testSigner("tsa");

/**
 * A signed document. One digit of a certificate's public key is changed, so that the key is not a point of its curve.
 */
function withDamagedKey({ certificate }: typeof author): Buffer {
  const bytes = signPdf(Uint8Array.from(makePdf({ text: "Contract" })), {
    signer: author,
    reason: null,
    originalLength: "absent",
    unstated: true,
    stamp: (signature) => tokenOver(signature, tsa, Date.UTC(2026, 0, 2)),
  });
  const digits = Buffer.from(certificate.spki).toString("hex");
  const file = Buffer.from(bytes);
  const last = file.indexOf(digits) + digits.length - 1;
  assert.ok(last >= digits.length);
  file[last] = file[last] === 0x30 ? 0x31 : 0x30;
  return file;
}

for (const [whose, signer] of Object.entries({ "the signer's": author, "the time stamp's": tsa })) {
  test(`seals a document with an earlier signature whose ${whose} key is damaged`, async () => {
    const caller = { baseUrl: running.service.baseUrl, headers: running.headers };
    const response = await postSeal(caller, fileForm(withDamagedKey(signer)));
    assert.equal(response.status, 200, await response.text());
  });

  test(`completes an order whose document has a damaged ${whose} key`, async () => {
    const email = `${signer === tsa ? "juan" : "jane"}@example.com`;
    const place = { kind: "signature", signer: 1, page: 1, x: 72, y: 100, width: 180, height: 40 };
    const more = { fields: JSON.stringify([place]) };
    await running.order([{ name: "Jane Doe", email }], more, withDamagedKey(signer));
    const done = await signBy(running.ceremony, await running.linkOf(email), "Jane Doe");
    assert.deepEqual(done, { outcome: "signed", completed: true });
  });
}

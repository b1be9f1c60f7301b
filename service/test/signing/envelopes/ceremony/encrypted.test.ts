import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { canonicalJson } from "@signsealship/evidence/manifest";
import { verifySignatures } from "@signsealship/evidence/seal";
import { readBlob, wholeFile } from "@signsealship/testing/blobs";
import { forTests } from "@signsealship/testing/for-tests";
import { zooBytes } from "@signsealship/testing/inputs/zoo";
import { needs } from "@signsealship/testing/tools/tools";
import { createNodeCrypto } from "@signsealship/verifier/node-crypto";
import { isSealed, sql } from "../../../../src/kernel/platform/database/sql.ts";
import { documentUse } from "../../../../src/orders/order/order.ts";
import { isWhatWasAsked } from "../../../../src/pages/signing/browser/check-act.ts";
import { oneActKey } from "../../../../src/signing/envelopes/signer-authority.ts";
import { browser, consentText, openCeremonyService, signBy } from "./ceremony-service.ts";

const folder = mkdtempSync(join(tmpdir(), "encrypted-ceremony-"));
const running = await forTests(openCeremonyService());
after(() => rmSync(folder, { recursive: true }));

/**
 * Signs as the page's script does: checks that the prepared act is what the signer requested, and signs it with a key
 * of its own.
 */
async function signByScript(email: string, text: string) {
  const { ceremony } = running;
  const link = await running.linkOf(email);
  await ceremony.consent(link, consentText, browser);
  const { document, fields } = await ceremony.view(link);
  const bytes = await wholeFile((await ceremony.document(link)).file);
  const key = oneActKey();
  const request = { revision: document?.revision ?? 0, mark: { kind: "typed", text } as const, values: new Map() };
  const act = await ceremony.prepare(link, { ...request, publicKey: key.publicKey }, browser);
  assert.ok(act.outcome === "prepared");
  const own = new Map(fields.map(({ name, kind }) => [name, kind] as const));
  const asked = {
    document: bytes,
    fields: own,
    options: new Map(),
    values: new Map<string, string>(),
    mark: { kind: "typed", text },
  };
  assert.equal(await isWhatWasAsked({ ...act, record: canonicalJson(act.record) }, asked), true);
  return ceremony.complete(link, await key.sign(act.signedAttrs));
}

const encryptions = {
  "R 2, RC4 of 40 bits": "encrypted-open-rc4-40.pdf",
  "R 3, RC4 of 128 bits": "encrypted-open-rc4-128.pdf",
  "R 4, AES of 128 bits": "encrypted-open-aes-128.pdf",
  "R 5, AES of 256 bits": "encrypted-open-aes-256-r5.pdf",
  "R 6, AES of 256 bits": "encrypted-open-aes-256.pdf",
  "R 6 with object streams": "encrypted-open-aes-256-object-streams.pdf",
};

let unique = 1;
for (const [how, name] of Object.entries(encryptions))
  test(`an encrypted document is signed with and without a script, and sealed: ${how}`, needs("qpdf"), async () => {
    const [first, second] = [`first-${unique}@example.com`, `second-${unique++}@example.com`];
    const signers = [
      { name: "Ann", email: first },
      { name: "Bob", email: second },
    ];
    const original = zooBytes(name);
    const code = await running.order(signers, {}, original);
    const unscripted = await signBy(running.ceremony, await running.linkOf(first), "Ann");
    assert.deepEqual(unscripted, { outcome: "signed", completed: false });
    assert.deepEqual(await signByScript(second, "Bob"), { outcome: "signed", completed: true });
    const [row] = await running.db.query<{ key: string; sha256: string }>(sql`
      SELECT d.blob_key AS key, d.sha256 FROM documents d JOIN orders o ON o.id = d.order_id
      WHERE ${isSealed(sql`o.code`, "order", code)} AND d.kind = 'sealed'`);
    const sealed = row && (await readBlob(running.deps.blobs, row.key, documentUse(row.sha256)));
    assert.ok(sealed);
    assert.ok(sealed.subarray(0, original.length).equals(original));
    const signatures = await verifySignatures(sealed, [], Date.now(), createNodeCrypto());
    const own = signatures.filter(({ revisionEnd }) => (revisionEnd ?? 0) > original.length);
    assert.equal(own.length, 3);
    for (const { claims } of own)
      assert.ok(
        claims.every(({ state }) => state === "holds"),
        JSON.stringify(claims),
      );
    // Runs a command from the documentation of the format. The command prints the hashes of acts.
    const [path, plain] = [join(folder, name), join(folder, `plain-${name}`)];
    writeFileSync(path, sealed);
    const command = `qpdf --qdf --decrypt ${path} ${plain} && grep -a -o 'SSSActSha256 *<[0-9a-f]*>' ${plain}`;
    const listed = execFileSync("sh", ["-c", command], { encoding: "utf8" }).match(/[0-9a-f]{64}/g);
    const acts = await running.db.query<{ sha256: string }>(sql`
      SELECT t.record::jsonb->>'actSha256' AS sha256 FROM envelope_events t
        JOIN envelopes e ON e.id = t.envelope_id JOIN orders o ON o.id = e.order_id
      WHERE ${isSealed(sql`o.code`, "order", code)} AND t.record::jsonb->>'event' = 'signed'`);
    assert.deepEqual(listed?.toSorted(), acts.map(({ sha256 }) => sha256).toSorted());
  });

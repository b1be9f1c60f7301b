import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { parseEnvelope, readCustodyCertificate, verifyCustody } from "@signsealship/evidence/envelope";
import { parseCertificatesPem } from "@signsealship/evidence/x509";
import { needs } from "@signsealship/testing/tools";
import { createNodeCrypto } from "@signsealship/verifier/node-crypto";
import { documentUse } from "../../src/orders/orders.ts";
import { sql } from "../../src/platform/database/sql.ts";
import { openCeremonyService, signBy } from "./ceremony/ceremony-service.ts";

let running: Awaited<ReturnType<typeof openCeremonyService>>;
let code: string;
let sealed: Buffer;
let certificate: Buffer;
let folder: string;

const documentOf = async (kind: string) => {
  const [row] = await running.db.query<{ sha256: string; blobKey: string }>(sql`
    SELECT d.sha256, d.blob_key AS "blobKey" FROM documents d JOIN orders o ON o.id = d.order_id
    WHERE o.code = ${code} AND d.kind = ${kind}`);
  assert.ok(row, `there is a ${kind} document`);
  const bytes = await running.deps.blobs.get(row.blobKey, documentUse(row.sha256));
  assert.ok(bytes);
  assert.equal(createHash("sha256").update(bytes).digest("hex"), row.sha256);
  return bytes;
};

before(async () => {
  running = await openCeremonyService();
  const [jane, juan] = [
    { name: "Jane Doe", email: "jane@example.com" },
    { name: "Juan Peña 売主", email: "juan@example.com", routing: 2 },
  ] as const;
  code = await running.order([jane, juan], { external_reference: "FILE-2207" });
  await signBy(running.ceremony, await running.linkOf(jane.email), "Jane Doe");
  const done = await signBy(running.ceremony, await running.linkOf(juan.email), "Juan");
  assert.deepEqual(done, { outcome: "signed", completed: true });
  sealed = await documentOf("sealed");
  certificate = await documentOf("custody_certificate");
  folder = mkdtempSync(join(tmpdir(), "custody-"));
  writeFileSync(join(folder, "sealed.pdf"), sealed);
  writeFileSync(join(folder, "certificate.pdf"), certificate);
});
after(async () => {
  rmSync(folder, { recursive: true, force: true });
  await running.close();
});

const shell = (command: string) => execFileSync("sh", ["-c", command], { cwd: folder, encoding: "utf8" }).trim();

const trust = () => ({
  sealAnchors: parseCertificatesPem(readFileSync(join(running.service.dataDir, "keys/seal-certificate.pem"), "utf8")),
  tsaAnchors: [],
});
const verify = (document: Buffer | null, file = certificate) =>
  verifyCustody(file, document, { trust: trust(), at: Date.now(), crypto: createNodeCrypto() });
const failing = (claims: readonly { name: string; state: string }[]) =>
  claims.filter(({ state }) => state === "fails").map(({ name }) => name);

test("the certificate is sealed for what it is, and all of it holds against the sealed document", async () => {
  const { envelope, purpose } = await readCustodyCertificate(certificate);
  assert.deepEqual(purpose, { kind: "custody", environment: "test" });
  assert.ok(envelope);
  const { claims, document } = await verify(sealed);
  assert.deepEqual(
    claims.filter(({ state }) => state !== "holds"),
    [],
  );
  assert.equal(document?.sealedSha256, parseEnvelope(envelope).document.sealedSha256);
  const alone = await verify(null);
  assert.deepEqual(failing(alone.claims), []);
  assert.equal(alone.claims.find(({ name }) => name === "document_hash")?.state, "unchecked");
});

test("another document, and one that was changed, are not the one that was signed", async () => {
  const changed = Buffer.from(sealed);
  changed[200] = (changed[200] ?? 0) ^ 1;
  assert.ok(failing((await verify(changed)).claims).includes("document_revisions"));
  assert.ok(failing((await verify(certificate)).claims).includes("document_hash"));
});

test("a document of a stranger that holds an envelope.json is no custody certificate", async () => {
  const { bytes } = await running.deps.sealDocument({ bytes: certificate, reason: "Signed (test)" });
  assert.deepEqual(failing((await verify(null, bytes)).claims), ["custody_purpose"]);
});

test("coreutils, poppler and jq show the same", needs("poppler", "jq"), () => {
  shell("pdfdetach -save 1 -o envelope.json certificate.pdf");
  const envelope = parseEnvelope(readFileSync(join(folder, "envelope.json")));
  assert.equal(shell("jq -Sca . envelope.json | tr -d '\\n' | cmp - envelope.json && echo same"), "same");
  for (const { bytes, sha256 } of envelope.revisions)
    assert.equal(shell(`head -c ${bytes} sealed.pdf | sha256sum`), `${sha256}  -`);
  for (const [index, { previousSha256 }] of envelope.trail.entries()) {
    if (index === 0) continue;
    const hash = shell(`jq -Sca '.trail[${index - 1}]' envelope.json | tr -d '\\n' | sha256sum`);
    assert.equal(hash, `${previousSha256}  -`);
  }
  const act = `jq -c '.trail[] | select(.event == "signed")' envelope.json | head -1`;
  assert.equal(
    shell(`${act} | jq -Sca .act | tr -d '\\n' | sha256sum | head -c 64`),
    shell(`${act} | jq -r .actSha256`),
  );
  assert.match(
    shell(
      'grep -a -c "SSSActSha256<$(jq -r \'.trail[] | select(.event == "signed") | .actSha256\' envelope.json | head -1)>" sealed.pdf',
    ),
    /^1$/,
  );
  assert.match(shell("pdfsig certificate.pdf"), /Signature is Valid/);
});

test("it says who signed when and how, and what it is not", needs("poppler"), () => {
  const text = shell("pdftotext -layout certificate.pdf -").replaceAll(/\s+/g, " ");
  for (const words of ["FILE-2207", "Jane Doe", "jane@example.com", "Juan Peña 売主", "Test environment"])
    assert.ok(text.includes(words), words);
  assert.match(text, /Identified by\s+link mailed to the address/);
  assert.match(text, /no qualified ones/);
  assert.match(text, new RegExp(`${running.deps.baseUrl}/v/envelope/[a-z2-7]{26}`));
});

test("bin/signsealship verify judges it alone, and together with the document", () => {
  const run = (...more: string[]) => {
    const key = join(running.service.dataDir, "keys/seal-certificate.pem");
    const args = ["verify", join(folder, "certificate.pdf"), "--trust", key, "--json", ...more];
    const { status, stdout } = spawnSync(join(import.meta.dirname, "../../../bin/signsealship"), args, {
      encoding: "utf8",
    });
    const { verdict, kind, checks } = JSON.parse(stdout) as Answer;
    return {
      status,
      verdict,
      kind,
      fails: checks.filter(({ result }) => result === "fails").map(({ claim }) => claim),
    };
  };
  type Answer = { verdict: string; kind: string; checks: { claim: string; result: string }[] };
  const good = { status: 0, verdict: "verified_test", kind: "custody_certificate", fails: [] };
  assert.deepEqual(run(), good);
  assert.deepEqual(run("--with", join(folder, "sealed.pdf")), good);
  writeFileSync(join(folder, "changed.pdf"), sealed.with(200, 0));
  const bad = run("--with", join(folder, "changed.pdf"));
  assert.deepEqual([bad.status, bad.verdict], [1, "not_verified"]);
  assert.deepEqual(bad.fails, ["document_hash", "document_revisions", "document_seal", "document_signatures"]);
});

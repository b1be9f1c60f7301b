import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createPublicKey } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { printedScripts } from "@signsealship/testing/inputs/printed-commands";
import { newPartner, temporaryFolder } from "@signsealship/testing/service";
import { buildOracle } from "@signsealship/testing/tools/log/oracle";
import { verifyBySigstore } from "@signsealship/testing/tools/sigstore";
import { needs } from "@signsealship/testing/tools/tools";
import { until } from "@signsealship/testing/until";
import { queueEntry } from "../../../src/evidence/transparency-log/transparency-log.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { fileForm, postSeal } from "../proof-passports/seal-document.ts";

const { service, db } = await forTests(openHarness());
const { headers } = await newPartner(service);
const folder = await forTests(
  Promise.resolve(temporaryFolder()).then((made) => ({ ...made, close: async () => made.remove() })),
);
const tools = fileURLToPath(new URL("../../../../testing/tools/log/", import.meta.url));
const leaves = 1_500;

// The size of the newest checkpoint, where an export ends. Newer leaves may already be numbered, but are not published
// yet.
const leavesNow = async () =>
  (await db.query<{ size: number | null }>(sql`SELECT max(size) AS size FROM log_checkpoints WHERE log = 'test'`))[0]
    ?.size ?? 0;

const mirror = join(folder.path, "mirror");
let key = "";
let line = "";
let proof = "";

before(async () => {
  for (let i = 0; i < leaves; i++)
    await db.query(queueEntry("test", { kind: "artifact/v1", commitment: String(i).padStart(64, "0") }, new Date()));
  await until(async () => (await leavesNow()) >= leaves);
  await service.cli("log", "export", mirror, "--test");
  writeFileSync(join(mirror, "checkpoint.old"), readFileSync(join(mirror, "checkpoint")));
  const answer = await postSeal({ baseUrl: service.baseUrl, headers }, fileForm(makePdf({ bytes: 20_000, text: "x" })));
  const sealed = (await answer.json()) as { verifyCode: string; sealedSha256: string };
  const url = `${service.baseUrl}/api/passport/verify/${sealed.verifyCode}/tlog-proof`;
  await until(async () => (await fetch(url)).status === 200);
  proof = await (await fetch(url)).text();
  line = `seal/v1 ${sealed.sealedSha256}\n`;
  await service.cli("log", "export", mirror, "--test");
  writeFileSync(join(mirror, "p.tlog-proof"), proof);
  writeFileSync(join(mirror, "p.entry"), line);
  key = readFileSync(join(mirror, "vkey"), "utf8").trim();
});

const filesBelow = (path: string): string[] =>
  readdirSync(path, { recursive: true, encoding: "utf8" })
    .map((name) => join(path, name))
    .filter((name) => statSync(name).isFile())
    // The first export also wrote the partial tiles of the smaller tree at that time. The current tree does not use
    // these.
    .filter((name) => !name.endsWith(`.p/${leaves % 256}`));

test("Go's own packages accept the whole log, and find one changed byte in any of its files", needs("go"), () => {
  const program = buildOracle(folder.path);
  const check = () => spawnSync(program, [mirror], { encoding: "utf8" });
  const accepted = check();
  assert.equal(accepted.status, 0, accepted.stderr);
  assert.match(accepted.stdout, new RegExp(`^ok: ${leaves + 1} entries, root, bundles, inclusion, consistency`));
  for (const file of filesBelow(mirror)) {
    const bytes = readFileSync(file);
    const at = Math.floor(bytes.length / 2);
    writeFileSync(
      file,
      bytes.map((byte, i) => (i === at ? byte ^ 1 : byte)),
    );
    assert.notEqual(check().status, 0, file);
    writeFileSync(file, bytes);
  }
});

const checkByShell = (ofLine: string, ofProof: string, ofKey = key) => {
  const at = { line: join(folder.path, "line"), proof: join(folder.path, "proof") };
  writeFileSync(at.line, ofLine);
  writeFileSync(at.proof, ofProof);
  return spawnSync(join(tools, "check-proof.sh"), [at.line, at.proof, ofKey], { encoding: "utf8" });
};

/** Copies of the proof, each with a change in one place that alters its meaning. */
function changedProofs(): string[] {
  const lines = proof.split("\n");
  const blank = lines.indexOf("");
  const other = (text: string) => (text.startsWith("A") ? "B" : "A") + text.slice(1);
  const changed = lines.slice(2, blank).map((hash, i) => lines.with(2 + i, other(hash)));
  const swapped = lines.with(2, lines[3] ?? "").with(3, lines[2] ?? "");
  const signature = lines.findIndex((text) => text.startsWith("\u2014"));
  return [
    ...changed,
    swapped,
    lines.toSpliced(2, 1),
    lines.toSpliced(2, 0, lines[2] ?? ""),
    lines.with(1, "index 0"),
    lines.with(1, "index 2"),
    lines.with(1, `index ${leaves - 1}`),
    lines.with(1, `index ${leaves + 1}`),
    lines.with(blank + 1, "elsewhere.example/log/test"),
    lines.with(blank + 2, String(leaves)),
    lines.with(blank + 2, String(leaves + 2)),
    lines.with(blank + 3, other(lines[blank + 3] ?? "")),
    lines.toSpliced(signature, 1),
    lines.with(
      signature,
      (lines[signature] ?? "").replace(/(.)(.{20})$/, (_, one, rest) => `${one === "A" ? "B" : "A"}${rest}`),
    ),
    lines.with(2, `${"A".repeat(43)}=`),
  ].map((each) => each.join("\n"));
}

test("coreutils and openssl accept a proof, and refuse twenty that differ in one place", needs("openssl"), () => {
  const accepted = checkByShell(line, proof);
  assert.equal(accepted.status, 0, accepted.stderr);
  assert.match(accepted.stdout, /inclusion: OK[\s\S]*Signature Verified Successfully/);
  const [printed = ""] = printedScripts("22.4");
  writeFileSync(join(folder.path, "sealed.pdf.tlog-proof"), proof);
  const variables = { S: line.slice(-65, -1), KEY: key, PATH: `${tools}:${process.env["PATH"]}` };
  const runPrinted = (env: Record<string, string>) =>
    spawnSync("sh", ["-ec", printed], { cwd: folder.path, env: { ...variables, ...env }, encoding: "utf8" });
  assert.match(runPrinted({}).stdout, /Signature Verified Successfully/);
  assert.notEqual(runPrinted({ S: "0".repeat(64) }).status, 0);
  const refused = [...changedProofs(), proof.replace("@v1", "@v2")];
  assert.ok(refused.length >= 20, String(refused.length));
  for (const each of refused) assert.notEqual(checkByShell(line, each).status, 0, each);
  assert.notEqual(checkByShell(line.replace("\n", " \n"), proof).status, 0);
  assert.notEqual(checkByShell(line, proof, key.replace("/test+", "/live+")).status, 0);
});

test("sigstore's verifier accepts a proof, and refuses twenty that differ in one place", needs("sigstore"), () => {
  const [origin = "", id = "", ...bytes] = key.split("+");
  const x = Buffer.from(bytes.join("+"), "base64").subarray(1).toString("base64url");
  const publicKey = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  const log = { logID: Buffer.from(id, "hex"), baseURL: origin, publicKey };
  const judge = (of: string, given: string) => {
    const [head = "", ...note] = given.split("\n\n");
    const [, index = "", ...hashes] = head.split("\n");
    verifyBySigstore(
      {
        canonicalizedBody: Buffer.from(of),
        inclusionProof: {
          logIndex: index.replace("index ", ""),
          hashes: hashes.map((hash) => Buffer.from(hash, "base64")),
          checkpoint: { envelope: note.join("\n\n") },
        },
      },
      log,
    );
  };
  judge(line, proof);
  assert.ok(changedProofs().length >= 20);
  for (const changed of changedProofs()) assert.throws(() => judge(line, changed), changed);
  assert.throws(() => judge(line.replace("\n", " \n"), proof));
});

test("the monitor finds no fault over HTTP, finds the sealed line's proof, and reads only new data the next time", async () => {
  const state = join(folder.path, "monitor");
  const proofFile = join(mirror, "p.tlog-proof");
  const from = `${service.baseUrl}/log/test`;
  const ofAll = { size: leaves + 1, read: leaves + 1, findings: [], fork: null };
  assert.partialDeepStrictEqual(
    await service.cli("monitor", from, "--state", state, "--with", proofFile, "--full"),
    ofAll,
  );
  assert.partialDeepStrictEqual(await service.cli("monitor", from, "--state", state), { ...ofAll, read: 0 });
  assert.partialDeepStrictEqual(await service.cli("monitor", mirror), ofAll);
});

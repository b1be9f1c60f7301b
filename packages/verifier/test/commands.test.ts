import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { writeDetached } from "@signsealship/evidence/ots";
import { sealReasons } from "@signsealship/evidence/seal";
import { makeZip } from "@signsealship/testing/inputs/zip-maker";
import { needs } from "@signsealship/testing/tools/tools";
import { sealedFor } from "../../evidence/test/seal/closing-pdf.ts";
import { testSigner, tokenOver } from "../../evidence/test/signer.ts";
import * as f from "./fixtures.ts";

/** Runs every command of a report in order in one new folder, as a person would. @returns the output of each command */
function runAll(t: TestContext, { checks }: f.JsonReport): Map<string, string> {
  const cwd = f.folderWith(t);
  const outputs = new Map<string, string>();
  for (const { claim, command } of checks) {
    if (command === undefined) continue;
    // The OpenTimestamps client is not installed here, so its printed commands are only compared with the expected
    // text.
    const script = ["set -e", ...command.split("\n").filter((line) => !line.startsWith("ots "))].join("\n");
    outputs.set(
      claim,
      execFileSync("sh", ["-c", script], { cwd, encoding: "latin1", stdio: ["ignore", "pipe", "pipe"] }),
    );
  }
  return outputs;
}

test(
  "every command shown for a sealed PDF runs, and shows the same result with other tools",
  needs("openssl", "poppler", "jq"),
  async (t) => {
    const folder = f.folderWith(t, {
      "a b's.pdf": f.proofPdf(),
      "trust.pem": f.pemOf(f.seal),
      "tsa.pem": f.pemOf(f.tsa),
    });
    const path = join(folder, "a b's.pdf");
    const trust = ["--trust", join(folder, "trust.pem"), "--tsa-trust", join(folder, "tsa.pem")];
    const { json } = await f.verify([path, ...trust]);
    const outputs = runAll(t, json);
    assert.match(outputs.get("whole_file_covered") ?? "", /Total document signed[\s\S]*Signature is Valid/);
    assert.match(outputs.get("original_document_hash") ?? "", new RegExp(`^${json.facts.docSha256}`));
    assert.match(outputs.get("seal_certificate_valid_at_time") ?? "", /notAfter=[\s\S]*signer\.pem: OK/);
    assert.equal(outputs.get("seal_signature_valid"), "");
    assert.match(outputs.get("seal_purpose") ?? "", /\/Reason *\(Proof passport\)/);
    assert.match(outputs.get("time_stamp_valid") ?? "", /Verification: OK/);
    assert.ok(["document_unchanged_since_seal", "seal_certificate_trusted"].every((claim) => outputs.has(claim)));
    assert.ok(outputs.has("time_stamp_valid"));
    const without = await f.verify([path]);
    assert.ok(runAll(t, without.json).size >= 6);
  },
);

test(
  "the openssl commands refuse a forged file and an untrusted certificate too",
  needs("openssl", "poppler", "jq"),
  async (t) => {
    const pdf = f.proofPdf();
    const folder = f.folderWith(t, { "a.pdf": pdf, "trust.pem": f.pemOf(f.stranger) });
    const { json } = await f.verify([join(folder, "a.pdf"), "--trust", join(folder, "trust.pem")]);
    const command = (claim: string) => json.checks.find((one) => one.claim === claim)?.command ?? "";
    const cwd = f.folderWith(t);
    const run = (script: string) => execFileSync("sh", ["-c", `set -e\n${script}`], { cwd, stdio: "pipe" });
    run(command("document_unchanged_since_seal"));
    assert.throws(() => run(command("seal_certificate_trusted")));
    const forged = Uint8Array.from(pdf);
    forged[20] = (forged[20] ?? 0) ^ 1;
    writeFileSync(join(folder, "a.pdf"), forged);
    assert.throws(() => run(command("document_unchanged_since_seal")));
  },
);

test(
  "every command shown for a room's certificates and manifests runs",
  needs("openssl", "poppler", "jq"),
  async (t) => {
    const [v1, v2] = await f.chainOf(2);
    assert.ok(v1 && v2);
    const folder = f.folderWith(t, {
      "v1.json": v1.bytes,
      "v1.pdf": f.certificateOf(v1.bytes),
      "v2.pdf": f.certificateOf(v2.bytes),
    });
    const at = (name: string) => join(folder, name);
    const { json } = await f.verify([at("v1.json"), "--with", at("v1.pdf"), "--with", at("v2.pdf")]);
    const outputs = runAll(t, json);
    assert.match(outputs.get("manifest.v1.hash") ?? "", new RegExp(`^${v1.manifestSha256}`));
    assert.equal(outputs.get("manifest.v2.link"), `${v1.manifestSha256}\n`);
    assert.ok(outputs.has("certificate.v1.manifest") && outputs.has("manifest.v2.canonical"));
    const alone = await f.verify([at("v2.pdf")]);
    assert.match(runAll(t, alone.json).get("manifest.v2.hash") ?? "", new RegExp(`^${v2.manifestSha256}`));
  },
);

/** Runs a script in a new folder; returns its output and whether it succeeded. */
function outcomeOf(t: TestContext, script: string, cwd = f.folderWith(t)): { ok: boolean; said: string } {
  const { status, stdout, stderr } = spawnSync("sh", ["-c", `set -e\n${script}`], { cwd, encoding: "latin1" });
  return { ok: status === 0, said: stdout + stderr };
}
const commandOf = ({ checks }: f.JsonReport, claim: string) => checks.find((one) => one.claim === claim)?.command ?? "";

test("the commands judge certificates at the proven time, as the claims do", needs("openssl"), async (t) => {
  const brief = testSigner("seal", Date.UTC(2025, 0, 1), Date.UTC(2026, 2, 1));
  const shortTsa = testSigner("tsa", Date.UTC(2025, 0, 1), Date.UTC(2026, 2, 1));
  const stamp = (signature: Uint8Array) => tokenOver(signature, shortTsa, f.stampedAt);
  const unstamped = sealedFor(sealReasons.proof.live, { signer: brief }, f.original);
  const folder = f.folderWith(t, {
    "stamped.pdf": f.proofPdf({ signer: brief, stamp }),
    "plain.pdf": unstamped,
    "trust.pem": f.pemOf(brief),
    "tsa.pem": f.pemOf(shortTsa),
  });
  const trust = ["--trust", join(folder, "trust.pem"), "--tsa-trust", join(folder, "tsa.pem")];
  const claims = ["seal_certificate_trusted", "seal_certificate_valid_at_time"] as const;
  for (const [name, holds] of [
    ["stamped.pdf", true],
    ["plain.pdf", false],
  ] as const) {
    const { code, json } = await f.verify([join(folder, name), ...trust]);
    assert.equal(code, holds ? 0 : 1);
    const cwd = f.folderWith(t);
    assert.ok(outcomeOf(t, commandOf(json, "document_unchanged_since_seal"), cwd).ok);
    for (const claim of claims) assert.equal(outcomeOf(t, commandOf(json, claim), cwd).ok, holds, `${name}: ${claim}`);
    if (holds) assert.ok(outcomeOf(t, commandOf(json, "time_stamp_valid"), cwd).ok);
  }
});

test("the command for the certificate shows the seal's own, wherever it is in the set", needs("openssl"), async (t) => {
  const first = f.proofPdf({ before: [f.stranger.certificate.der, f.tsa.certificate.der] });
  const folder = f.folderWith(t, { "a.pdf": first });
  const { json } = await f.verify([join(folder, "a.pdf")]);
  const cwd = f.folderWith(t);
  outcomeOf(t, commandOf(json, "document_unchanged_since_seal"), cwd);
  const { said } = outcomeOf(t, commandOf(json, "seal_certificate_valid_at_time"), cwd);
  const digest = f.hex(f.seal.certificate.der).toUpperCase().match(/../g)?.join(":") ?? "";
  assert.ok(said.includes(digest), said);
});

test("the command for the signature's profile refuses what PAdES forbids", needs("openssl"), async (t) => {
  for (const options of [{ withoutSigningCertificate: true }, { signingTime: f.stampedAt }]) {
    const folder = f.folderWith(t, { "a.pdf": f.proofPdf(options) });
    const { json } = await f.verify([join(folder, "a.pdf")]);
    assert.ok(f.failing(json).includes("seal_signature_valid"));
    const cwd = f.folderWith(t);
    assert.ok(outcomeOf(t, commandOf(json, "document_unchanged_since_seal"), cwd).ok);
    const { ok, said } = outcomeOf(t, commandOf(json, "seal_signature_valid"), cwd);
    assert.ok(!ok || /signingTime/.test(said), said);
  }
});

test("the command verifies a token over the signature value of a seal, or over a file", needs("openssl"), async (t) => {
  const pdf = f.proofPdf();
  const files = {
    "a.pdf": pdf,
    "whole.tst": tokenOver(pdf, f.tsa, f.stampedAt),
    "tsa.pem": f.pemOf(f.tsa),
    "evidence.zip": makeZip([
      { name: "sealed.pdf", bytes: pdf },
      { name: "timestamp.tst", bytes: tokenOver(pdf, f.tsa, f.stampedAt) },
    ]),
  };
  const folder = f.folderWith(t, files);
  const at = (name: string) => join(folder, name);
  const sealed = await f.verify([at("a.pdf"), "--tsa-trust", at("tsa.pem")]);
  const cwd = f.folderWith(t);
  outcomeOf(t, commandOf(sealed.json, "document_unchanged_since_seal"), cwd);
  assert.ok(outcomeOf(t, commandOf(sealed.json, "time_stamp_valid"), cwd).ok);
  for (const token of [join(cwd, "token.tst"), at("whole.tst")]) {
    const { json } = await f.verify([token, "--doc", at("a.pdf"), "--tsa-trust", at("tsa.pem")]);
    assert.equal(json.verdict, "verified");
    assert.match(outcomeOf(t, commandOf(json, "chain")).said, /Verification: OK/, token);
  }
  const { json } = await f.verify([at("evidence.zip"), "--tsa-trust", at("tsa.pem")]);
  const outputs = runAll(t, json);
  assert.match(outputs.get("separate_time_stamp_valid") ?? "", /Verification: OK/);
});

test(
  "the command for a record's document hash prints the document's hash, and the report explains what ots does",
  needs("openssl", "unzip", "poppler"),
  async (t) => {
    const pdf = f.proofPdf();
    const hashes = { sealedSha256: f.hex(pdf), docSha256: f.hex(f.original) };
    const record = { verifyCode: "a".repeat(26), environment: "live", ...hashes };
    const digest = Uint8Array.from(Buffer.from(hashes.sealedSha256, "hex"));
    const timestamp = [{ attestation: { kind: "pending", uri: "https://calendar.example" } }] as const;
    const ots = writeDetached({ fileHashOp: "sha256", digest, timestamp });
    const zip = makeZip([
      { name: "sealed.pdf", bytes: pdf },
      { name: "sealed.pdf.ots", bytes: ots },
      { name: "passport.json", bytes: Buffer.from(JSON.stringify(record)) },
    ]);
    const folder = f.folderWith(t, { "evidence.zip": zip });
    const { json, text } = await f.verify([join(folder, "evidence.zip")]);
    const outputs = runAll(t, json);
    assert.match(outputs.get("record_sealed_hash") ?? "", new RegExp(`^${hashes.sealedSha256}`));
    assert.match(outputs.get("record_document_hash") ?? "", new RegExp(`^${hashes.docSha256}`));
    assert.match(text, /^ +# needs a Bitcoin Core node of your own/m);
    const alone = await f.verify([join(folder, "evidence", "sealed.pdf.ots")]);
    assert.match(commandOf(alone.json, "ots.pending"), /replaces the file[\s\S]*\ncp .*\nots upgrade upgraded\.ots$/);
  },
);

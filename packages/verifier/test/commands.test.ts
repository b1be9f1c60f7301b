import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { needs } from "@signsealship/testing/tools";
import * as f from "./fixtures.ts";

/** Runs every command of a report in order in one new folder, as a person would; gives what each wrote. */
function runAll(t: TestContext, { checks }: f.JsonReport): Map<string, string> {
  const cwd = f.folderWith(t);
  const outputs = new Map<string, string>();
  for (const { claim, command } of checks) {
    if (command === undefined || command.startsWith("ots ")) continue;
    const script = `set -e\n${command}`;
    outputs.set(
      claim,
      execFileSync("sh", ["-c", script], { cwd, encoding: "latin1", stdio: ["ignore", "pipe", "pipe"] }),
    );
  }
  return outputs;
}

test(
  "every command shown for a sealed PDF runs, and shows the same with other tools",
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
    assert.match(outputs.get("seal_certificate_valid_at_time") ?? "", /notAfter=/);
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

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { opensslSigner } from "@signsealship/testing/tools/openssl-cms";
import * as f from "./fixtures.ts";

const main = join(import.meta.dirname, "../src/cli/main.ts");
const run = (...argv: string[]) => spawnSync(process.execPath, [main, ...argv], { encoding: "utf8" });

test("the program verifies alone, without the service and without a network", (t) => {
  const folder = f.folderWith(t, { "a.pdf": f.proofPdf(), "trust.pem": f.pemOf(f.seal) });
  const good = run(join(folder, "a.pdf"), "--trust", join(folder, "trust.pem"), "--json");
  assert.equal(good.status, 0, good.stderr);
  assert.equal((JSON.parse(good.stdout) as f.JsonReport).verdict, "verified");
  assert.equal(good.stderr, "");
  assert.equal(run(join(folder, "a.pdf")).status, 1);
  assert.equal(run().status, 2);
  const help = run("--help");
  assert.equal(help.status, 0);
  assert.match(help.stdout, /--tsa-trust PEM/);
});

test("a document that openssl signed as PAdES is verified", (t) => {
  const signer = opensslSigner();
  t.after(signer.close);
  const contents = (signed: Uint8Array) => Uint8Array.from(signer.sign(Buffer.from(signed)));
  const folder = f.folderWith(t, { "a.pdf": f.proofPdf({ contents }), "trust.pem": signer.certificatePem });
  const { status, stdout } = run(join(folder, "a.pdf"), "--trust", join(folder, "trust.pem"), "--json");
  const { verdict, checks } = JSON.parse(stdout) as f.JsonReport;
  // openssl writes the signing-time attribute, which PAdES forbids. Every other claim holds.
  assert.equal(verdict, "not_verified");
  assert.equal(status, 1);
  assert.deepEqual(
    checks.filter(({ result }) => result === "fails").map(({ claim, detail }) => [claim, detail]),
    [["seal_signature_valid", "The CMS signing-time attribute is forbidden in PAdES."]],
  );
});

test("input from a pipe is read to its end, and a device without an end only up to the limit", (t) => {
  const folder = f.folderWith(t, { "a.pdf": f.proofPdf(), "trust.pem": f.pemOf(f.seal) });
  const command = `cat a.pdf | "${process.execPath}" "${main}" /dev/stdin --trust trust.pem --json`;
  const piped = spawnSync("sh", ["-c", command], { cwd: folder, encoding: "utf8" });
  assert.equal((JSON.parse(piped.stdout) as f.JsonReport).verdict, "verified", piped.stderr);
  const endless = run("/dev/zero");
  assert.equal(endless.status, 2);
  assert.match(endless.stderr, /\/dev\/zero is larger than \d+ bytes/);
});

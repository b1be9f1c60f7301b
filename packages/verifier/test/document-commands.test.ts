import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { OID } from "@signsealship/evidence/asn1";
import { makeZip } from "@signsealship/testing/inputs/zip-maker";
import { needs } from "@signsealship/testing/tools/tools";
import { cmsOver, tokenOver } from "../../evidence/test/signer.ts";
import { sealPartsOf } from "../src/files/seal-parts.ts";
import * as f from "./fixtures.ts";

const document = readFileSync(new URL("../../../docs/evidence-format.md", import.meta.url), "utf8");
const section = document.slice(document.indexOf("\n## 12. "), document.indexOf("\n## 13. "));
const scripts = [...section.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, script]) => script ?? "");
/** The commands in the table of docs/evidence-format.md, row by row. */
const tableCommands = [...section.matchAll(/^\| [^|]+ \| ((?:\\\||[^|])+) \|/gm)].flatMap(([, cell = ""]) =>
  [...cell.matchAll(/`((?:\\\||[^`])+)`/g)]
    .map(([, command = ""]) => command.replaceAll("\\|", "|"))
    .filter((command) => command.includes(" ")),
);

/** A token in the usual form of authorities, with a signing-time attribute of its own. */
const stampWithTime = (signature: Uint8Array): Uint8Array => {
  const plain = tokenOver(signature, f.tsa, f.stampedAt);
  const { content } = contentOf(plain);
  const digest = Uint8Array.from(Buffer.from(f.hex(content), "hex"));
  return cmsOver(digest, f.tsa, { contentType: OID.idCtTSTInfo, content, signingTime: f.stampedAt });
};

function contentOf(token: Uint8Array): { content: Uint8Array } {
  const { stdout } = spawnSync("openssl", ["cms", "-verify", "-inform", "DER", "-noverify", "-binary"], {
    input: Buffer.from(token),
  });
  return { content: Uint8Array.from(stdout) };
}

/** Runs a script in a folder; returns whether it succeeded, and its output. */
function run(cwd: string, script: string): { status: number | null; said: string } {
  const { status, stdout, stderr } = spawnSync("bash", ["-c", `set -e\n${script}`], { cwd, encoding: "latin1" });
  return { status, said: `${stdout}${stderr}` };
}

async function goodFolder(t: TestContext) {
  const pdf = f.proofPdf({ stamp: stampWithTime });
  const parts = await sealPartsOf(pdf);
  assert.ok(parts?.signature && parts.token && parts.originalLength);
  const { manifest, certificate, record } = await f.roomRecord();
  const folder = f.folderWith(t, {
    "sealed.pdf": pdf,
    "timestamp.tst": stampWithTime(await signatureOf(pdf)),
    "evidence.zip": makeZip([{ name: "sealed.pdf", bytes: pdf }]),
    "seal-certificates.pem": f.pemOf(f.seal),
    "trusted.pem": f.pemOf(f.seal),
    "tsa.pem": f.pemOf(f.tsa),
    "manifest.json": manifest,
    "certificate.pdf": certificate,
    "answer.json": JSON.stringify(record),
  });
  const { gapStart: a, gapEnd: b, cmsLength: m, originalLength: n, signature } = parts;
  const values = { a, b, m, n, e: signature.start + 1, l: signature.length, G: f.stampedAt / 1000 };
  const variables = Object.entries(values).map(([name, value]) => `${name}=${value}`);
  return { folder, variables: variables.join(" "), T: `T=${f.stampedAt / 1000}` };
}

async function signatureOf(pdf: Uint8Array): Promise<Uint8Array> {
  const parts = await sealPartsOf(pdf);
  assert.ok(parts?.signature);
  const digits = Buffer.from(pdf).subarray(parts.gapStart + 1, parts.gapStart + 1 + 2 * parts.cmsLength);
  const { start, length } = parts.signature;
  return Uint8Array.from(Buffer.from(digits.toString("latin1"), "hex").subarray(start, start + length));
}

test(
  "runs every command that section 12 of the format prints, on good files",
  needs("openssl", "poppler", "jq", "unzip"),
  async (t) => {
    const { folder, variables, T } = await goodFolder(t);
    const hasQpdf = spawnSync("qpdf", ["--version"]).status === 0;
    assert.ok(tableCommands.length > 20, String(tableCommands.length));
    assert.equal(scripts.length, 2);
    assert.equal(run(folder, `${variables}\n${scripts[0]}`).status, 0);
    for (const command of tableCommands) {
      // Skips the commands that contact OpenTimestamps calendars, because a test must not use the network. Also skips
      // qpdf's commands where qpdf is missing.
      if (/\bots (info|verify|upgrade|-)/.test(command) || (command.startsWith("qpdf ") && !hasQpdf)) continue;
      const { status, said } = run(folder, `${variables} ${T}\n${command}`);
      assert.ok(status === 0 || (status === 3 && command.startsWith("qpdf ")), `${command}: ${status} ${said}`);
    }
    const stamp = run(folder, `${variables}\n${scripts[1]}`);
    assert.match(stamp.said, /Verification: OK/);
  },
);

test("shows no signing-time for a good seal whose time stamp has one", needs("openssl", "poppler"), async (t) => {
  const { folder } = await goodFolder(t);
  const trust = ["--trust", join(folder, "trusted.pem"), "--tsa-trust", join(folder, "tsa.pem")];
  const { json } = await f.verify([join(folder, "sealed.pdf"), ...trust]);
  assert.equal(json.verdict, "verified");
  for (const { claim, command } of json.checks) {
    if (command === undefined || command.startsWith("qpdf ")) continue;
    const { status, said } = run(folder, command);
    assert.equal(status, 0, `${claim}: ${said}`);
  }
});

test("creates every file that the commands of a set of records name", needs("poppler", "jq"), async (t) => {
  const { certificate, record } = await f.roomRecord();
  const files = { "v1.pdf": certificate, "v1.json": JSON.stringify(record), "trust.pem": f.pemOf(f.seal) };
  const folder = f.folderWith(t, files);
  const path = (name: string) => join(folder, name);
  const { json } = await f.verify([path("v1.json"), "--with", path("v1.pdf"), "--trust", path("trust.pem")]);
  assert.equal(json.verdict, "verified");
  const cwd = f.folderWith(t);
  let ran = 0;
  for (const { claim, command } of json.checks) {
    if (command === undefined) continue;
    const { status, said } = run(cwd, command);
    assert.equal(status, 0, `${claim}: ${command}: ${said}`);
    ran++;
  }
  assert.ok(ran >= 6, String(ran));
});

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { readZip } from "@signsealship/evidence/zip";
import { needs } from "@signsealship/testing/tools/tools";
import fc from "fast-check";
import { evidenceReadme } from "../../../src/evidence/proof-passports/evidence/readme.ts";
import { type ZipEntry, zipChunks, zipLength } from "../../../src/evidence/proof-passports/evidence/zip.ts";
import type { Environment } from "../../../src/kernel/identity/identity.ts";

const zipOf = async (entries: readonly ZipEntry[]): Promise<Buffer> =>
  Buffer.concat(await Array.fromAsync(zipChunks(entries)));

const readmeOf = (environment: Environment): string =>
  evidenceReadme({
    environment,
    verifyUrl: "https://example.com/verify/code",
    docSha256: "a".repeat(64),
    sealedSha256: "b".repeat(64),
    parts: null,
    deletedAt: null,
    stampedAt: null,
    anchored: false,
    logged: false,
    rootStamps: 0,
    rootAnchored: false,
  });

test("the README of a test says so, and that of a live passport does not", () => {
  assert.match(readmeOf("test"), /^A TEST: its seal means nothing outside of testing/m);
  assert.doesNotMatch(readmeOf("live"), /test/i);
});

test("the README for a PDF that is not stored tells readers to use their own copy", () => {
  assert.match(readmeOf("live"), /choose this zip and your copy of sealed\.pdf at https:\/\/example\.com\/verify;/);
});

test("extracted files equal the originals byte for byte, by the verifier's own reader", async () => {
  const entry = fc.tuple(
    fc.stringMatching(/^[a-z0-9-]{1,10}(\.[a-z0-9-]{1,10})?$/),
    fc.uint8Array({ maxLength: 2_000 }),
  );
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(entry, { selector: ([name]) => name, maxLength: 8 }), async (entries) => {
      const given = entries.map(([name, bytes]) => ({ name, bytes }));
      const zip = await zipOf(given);
      assert.equal(zip.length, zipLength(given));
      const read = readZip(zip);
      assert.deepEqual(
        [...read].map(([name, bytes]) => [name, Uint8Array.from(bytes)]),
        entries,
      );
    }),
  );
});

test("the same entries give the same bytes on every machine, and unzip finds no fault", needs("unzip"), async (t) => {
  const entries = [
    { name: "sealed.pdf", bytes: Buffer.alloc(1_000_000, "%PDF") },
    { name: "empty", bytes: new Uint8Array() },
  ];
  const zip = await zipOf(entries);
  assert.deepEqual(await zipOf(entries), zip);
  const zone = process.env["TZ"];
  process.env["TZ"] = "Pacific/Apia";
  assert.deepEqual(await zipOf(entries), zip);
  process.env["TZ"] = zone ?? "UTC";
  const folder = mkdtempSync(join(tmpdir(), "zip-"));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "a.zip"), zip);
  const output = execFileSync("unzip", ["-t", "a.zip"], { cwd: folder, encoding: "utf8" });
  assert.match(output, /No errors detected/);
});

test("a large entry is sent in its own pieces, none before it is requested", async () => {
  const bytes = Buffer.alloc(10_000_000);
  let own = 0;
  let pieces = 0;
  for await (const chunk of zipChunks([{ name: "sealed.pdf", bytes }])) {
    pieces++;
    if (chunk.buffer === bytes.buffer) own += chunk.length;
    else assert.ok(chunk.length < 1_000, `${chunk.length} bytes were made`);
  }
  assert.equal(own, bytes.length);
  assert.ok(pieces > 100);
});

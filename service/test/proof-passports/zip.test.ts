import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { needs } from "@signsealship/testing/tools";
import fc from "fast-check";
import { unzipSync } from "fflate";
import { zipPieces } from "../../src/proof-passports/zip.ts";

test("what is put in comes out, byte for byte, with another program's reader", () => {
  const entry = fc.tuple(fc.stringMatching(/^[a-z0-9.-]{1,20}$/), fc.uint8Array({ maxLength: 2_000 }));
  fc.assert(
    fc.property(fc.uniqueArray(entry, { selector: ([name]) => name, maxLength: 8 }), (entries) => {
      const zip = Buffer.concat(zipPieces(entries.map(([name, bytes]) => ({ name, bytes }))));
      const read = unzipSync(new Uint8Array(zip));
      assert.deepEqual(Object.entries(read).sort(), entries.map(([name, bytes]) => [name, bytes] as const).toSorted());
    }),
  );
});

test("the same entries give the same bytes, nothing is copied, and unzip finds no fault", needs("unzip"), () => {
  const entries = [
    { name: "sealed.pdf", bytes: Buffer.alloc(100_000, "%PDF") },
    { name: "empty", bytes: new Uint8Array() },
  ];
  const pieces = zipPieces(entries);
  assert.equal(pieces[1]?.buffer, entries[0]?.bytes.buffer);
  const zip = Buffer.concat(pieces);
  assert.deepEqual(Buffer.concat(zipPieces(entries)), zip);
  const folder = mkdtempSync(join(tmpdir(), "zip-"));
  try {
    writeFileSync(join(folder, "a.zip"), zip);
    const told = execFileSync("unzip", ["-t", "a.zip"], { cwd: folder, encoding: "utf8" });
    assert.match(told, /No errors detected/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

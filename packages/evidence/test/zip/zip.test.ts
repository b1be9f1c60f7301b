import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { needs } from "@signsealship/testing/tools";
import { makeZip } from "@signsealship/testing/zip-maker";
import fc from "fast-check";
import { EvidenceError } from "../../src/errors.ts";
import { readZip } from "../../src/zip/zip.ts";
import { mutate, randomFrom } from "../mutate.ts";

const text = (value: string) => Uint8Array.from(Buffer.from(value));
const refuses = (bytes: Uint8Array, message: RegExp) =>
  assert.throws(
    () => readZip(bytes),
    (error) => error instanceof EvidenceError && message.test(error.message),
  );
const bent = (bend: (zip: Buffer) => void, files = [{ name: "a.txt", bytes: text("hello") }]) => {
  const zip = makeZip(files);
  bend(zip);
  return zip;
};

test("gives back any files, stored and deflated", () => {
  const name = fc.stringMatching(/^[a-z]{1,12}\.[a-z]{3}$/);
  const file = fc.record({ name, bytes: fc.uint8Array({ maxLength: 500 }), deflated: fc.boolean() });
  fc.assert(
    fc.property(fc.uniqueArray(file, { selector: ({ name: key }) => key, maxLength: 8 }), (files) => {
      const read = readZip(makeZip(files));
      assert.equal(read.size, files.length);
      for (const { name: key, bytes } of files) assert.deepEqual(Uint8Array.from(read.get(key) ?? []), bytes);
    }),
  );
});

test("reads what the zip program writes", needs("zip"), (t) => {
  const folder = mkdtempSync(join(tmpdir(), "zip-"));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "a.txt"), "hello".repeat(100));
  writeFileSync(join(folder, "b.bin"), Buffer.from([1, 2, 3]));
  execFileSync("zip", ["-q", "made.zip", "a.txt", "b.bin"], { cwd: folder });
  const read = readZip(readFileSync(join(folder, "made.zip")));
  assert.deepEqual([...read.keys()], ["a.txt", "b.bin"]);
  assert.equal(Buffer.from(read.get("a.txt") ?? []).toString(), "hello".repeat(100));
});

test("refuses what readers could disagree on", () => {
  const twice = [
    { name: "a.txt", bytes: text("one") },
    { name: "a.txt", bytes: text("two") },
  ];
  refuses(makeZip(twice), /two files of one name/);
  refuses(Buffer.concat([text("%PDF-1.7 junk"), makeZip([])]), /directory/);
  refuses(Buffer.concat([makeZip([]), text("junk")]), /after its end/);
  refuses(
    bent((zip) => zip.write("b", 30)),
    /two names/,
  );
  refuses(
    bent((zip) => zip.writeUInt16LE(8, 8)),
    /two methods/,
  );
  refuses(
    bent((zip) => zip.write("J", 35)),
    /not what the directory says/,
  );
  refuses(text("not a zip"), /no end of the directory/);
});

test("refuses zip64, several parts, encryption and other methods by name", () => {
  const central = 40;
  refuses(
    bent((zip) => zip.writeUInt16LE(0xffff, zip.length - 12)),
    /zip64/,
  );
  refuses(
    bent((zip) => zip.writeUInt16LE(1, zip.length - 18)),
    /several parts/,
  );
  refuses(
    bent((zip) => zip.writeUInt16LE(1, central + 8)),
    /encrypted/,
  );
  const lzma = bent((zip) => {
    zip.writeUInt16LE(14, central + 10);
    zip.writeUInt16LE(14, 8);
  });
  refuses(lzma, /method 14/);
});

test("a bomb is refused before it is decompressed past what it states, and too much is not read", () => {
  const bomb = makeZip([{ name: "a.pdf", bytes: new Uint8Array(5_000_000), deflated: true }]);
  const local = bomb.indexOf("PK\x01\x02");
  bomb.writeUInt32LE(10, local + 24);
  refuses(bomb, /stated size/);
  const huge = makeZip([{ name: "a.pdf", bytes: new Uint8Array(10) }]);
  huge.writeUInt32LE(0xfffffff0, huge.indexOf("PK\x01\x02") + 24);
  refuses(huge, /too large/);
  refuses(makeZip(Array.from({ length: 65 }, (_, i) => ({ name: `f${i}`, bytes: text("") }))), /more than 64/);
});

test("a damaged zip is refused with the package's own error or read, never anything else", () => {
  const zip = makeZip([
    { name: "a.txt", bytes: text("hello"), deflated: true },
    { name: "b.txt", bytes: text("world") },
  ]);
  const random = randomFrom(3);
  for (let run = 0; run < 20_000; run++) {
    try {
      readZip(mutate(zip, random));
    } catch (error) {
      assert.ok(error instanceof EvidenceError, String(error));
    }
  }
});

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { DataFileError, dataFile, readDataFile } from "../../../src/orders/pricing/data-file.ts";
import { loadPriceBook, parsePriceBook } from "../../../src/orders/pricing/price-book.ts";
import { parseNotarizationStates } from "../../../src/orders/pricing/us-states.ts";
import {
  asBook,
  asCatalog,
  asStates,
  asZip3,
  bookText,
  catalogText,
  type Parse,
  statesText,
  zip3Text,
} from "./refusals.ts";

test("a shipped file with any part removed or inserted is read, or refused with a line of the file", () => {
  const files: [Parse, string][] = [
    [asBook, bookText],
    [asCatalog, catalogText],
    [asStates, statesText],
    [asZip3, zip3Text.split("\n").slice(0, 40).join("\n")],
  ];
  const junk = fc.constantFrom(
    "",
    ":",
    "- ",
    "{",
    "[",
    "&a ",
    "*a",
    "!!binary ",
    "<<: ",
    "? ",
    "\t",
    "null",
    "\u0000",
    "|\n",
  );
  fc.assert(
    fc.property(fc.constantFrom(...files), fc.nat(), fc.nat(30), junk, ([parse, source], start, length, inserted) => {
      const at = start % source.length;
      const text = source.slice(0, at) + inserted + source.slice(at + length);
      try {
        parse(text);
      } catch (error) {
        assert.ok(error instanceof DataFileError, String(error));
        assert.ok(error.line >= 1 && error.line <= text.split("\n").length, error.message);
      }
    }),
    { numRuns: 400 },
  );
});

test("a file that is missing, a folder or not UTF-8 is named by its full path", () => {
  const folder = mkdtempSync(join(tmpdir(), "pricing-"));
  try {
    assert.throws(() => loadPriceBook(join(folder, "none.yaml")), {
      name: "DataFileError",
      line: 0,
      message: `${join(folder, "none.yaml")}: cannot be read (ENOENT)`,
    });
    assert.throws(() => readDataFile(folder), { message: `${folder}: cannot be read (EISDIR)` });
    writeFileSync(join(folder, "latin.yaml"), Buffer.from([0x61, 0x3a, 0xe9]));
    assert.throws(() => readDataFile(join(folder, "latin.yaml")), {
      message: `${join(folder, "latin.yaml")}: is not UTF-8`,
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("JSON is read like YAML", () => {
  const json = JSON.stringify({ notRecognized: ["SC", "GA"] }, null, "\t");
  assert.deepEqual(parseNotarizationStates(json, "states.json").content, { notRecognized: ["GA", "SC"] });
});

test("the digest follows the content, not comments, key order or spelling", () => {
  const shipped = parsePriceBook(bookText, "a");
  const reordered = bookText
    .replace(/^#.*\n/gm, "")
    .replace("  NotaryFee: 2500\n  TechFee: 2400\n", "  TechFee: 2400\n  NotaryFee: 2500\n")
    .replace("ProOffice: 10", "ProOffice: 10.0");
  assert.equal(parsePriceBook(reordered, "b").sha256, shipped.sha256);
  assert.match(shipped.sha256, /^[0-9a-f]{64}$/);
  assert.notEqual(parsePriceBook(bookText.replace("2500", "2501"), "c").sha256, shipped.sha256);
  assert.deepEqual(JSON.parse(JSON.stringify(shipped.content)), shipped.content);
  assert.equal(dataFile(JSON.parse(JSON.stringify(shipped.content))).sha256, shipped.sha256);
});

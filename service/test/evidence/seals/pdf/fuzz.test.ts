import assert from "node:assert/strict";
import { test } from "node:test";
import { fuzzRuns } from "@signsealship/testing/inputs/fuzz";
import { seededRandom } from "@signsealship/testing/inputs/random";
import { zooBytes, zooFiles } from "@signsealship/testing/inputs/zoo";
import { type PreparedSeal, prepareSeal } from "../../../../src/evidence/seals/pdf/seal-pdf.ts";
import { pageCount } from "../../../../src/kernel/pdf/pages/page-count.ts";
import { PDF_REFUSALS, PdfRefusal } from "../../../../src/kernel/pdf/refusal.ts";
import { lookUpPdf } from "../../../../src/kernel/pdf/xref/lookup.ts";

const at = new Date("2026-03-04T05:06:07Z");
const SMALL = 15_000;
const INPUTS = fuzzRuns(25_000);
/** Pieces of PDF syntax that the fuzzer inserts at wrong positions. */
const PIECES = [
  ..."<< >> [ ] ( ) < > / % null true 0 -1 65536 9999999999 99999999999 1 0 R|3 0 R|4 0 obj|endobj|stream\n|endstream".split(
    " ",
  ),
  ..."/Type /Catalog /Pages /Kids /Count /Annots /AcroForm /Fields /Perms /DocMDP /Prev /XRefStm /Size /Root /W".split(
    " ",
  ),
  ..."/Index /Length /Filter /FlateDecode /N /First /Encrypt /V /R /P /CF /StmF /StrF /Identity /AESV3 xref trailer startxref %%EOF %PDF-1.4 \0 \r \n".split(
    " ",
  ),
].flatMap((piece) => piece.split("|"));

function mutate(input: Buffer, random: (below: number) => number): Buffer {
  let bytes = Buffer.from(input);
  for (let edits = 1 + random(6); edits > 0; edits--) {
    const position = random(bytes.length + 1);
    const piece = Buffer.from(PIECES[random(PIECES.length)] ?? "", "latin1");
    const other = random(bytes.length + 1);
    const span = bytes.subarray(other, other + random(64));
    switch (random(6)) {
      case 0:
        if (position < bytes.length) bytes[position] = random(256);
        break;
      case 1: // replaces a digit: in offsets, lengths and object numbers
        for (let i = position; i < bytes.length; i++) {
          const digit = bytes[i] ?? 0;
          if (digit < 0x30 || digit > 0x39) continue;
          bytes[i] = 0x30 + random(10);
          break;
        }
        break;
      case 2: // keeps the length, so that all offsets stay right
        piece.copy(bytes, position);
        break;
      case 3:
        Buffer.from(span).copy(bytes, position);
        break;
      case 4:
        bytes = Buffer.concat([bytes.subarray(0, position), piece, bytes.subarray(position)]);
        break;
      default:
        bytes = Buffer.concat([bytes.subarray(0, position), bytes.subarray(position + random(32))]);
    }
  }
  return bytes;
}

/** Returns the call's result or its refusal. Any other exception is thrown, with the input. */
function attempt<T>(call: () => T, number: number, input: Buffer): T | PdfRefusal {
  try {
    return call();
  } catch (error) {
    if (error instanceof PdfRefusal) return error;
    throw new Error(`input ${number}: ${input.toString("base64")}`, { cause: error });
  }
}

function assertContinues(original: Buffer, { tail, byteRange, contentsStart, contentsEnd }: PreparedSeal): void {
  const [start, end] = [original.length + contentsStart, original.length + contentsEnd];
  assert.deepEqual(byteRange, [0, start, end, original.length + tail.length - end]);
  assert.ok(tail.length < 2 * original.length + 2000, "a tail repeats each object at most once");
  const before = lookUpPdf(original);
  const after = lookUpPdf(Buffer.concat([original, tail]));
  assert.equal(after.signatures, before.signatures + 1);
  assert.equal(after.xrefKind, before.xrefKind);
  assert.deepEqual(after.firstPage.ref, before.firstPage.ref);
  assert.deepEqual(after.root.ref, before.root.ref);
}

test(`${INPUTS} mutated documents are refused by name, or get a tail to which another can be appended`, () => {
  const random = seededRandom(20260304);
  const seeds = zooFiles()
    .map(({ name }) => zooBytes(name))
    .filter((bytes) => bytes.length > 0 && bytes.length <= SMALL);
  assert.ok(seeds.length > 60);
  const refusals = new Map<string, number>();
  let sealed = 0;
  for (let i = 0; i < INPUTS; i++) {
    const original = mutate(seeds[i % seeds.length] ?? Buffer.alloc(0), random);
    const prepared = attempt(() => prepareSeal({ original, at, reserve: 8 }), i, original);
    if (prepared instanceof PdfRefusal) refusals.set(prepared.reason, (refusals.get(prepared.reason) ?? 0) + 1);
    else {
      sealed++;
      assertContinues(original, prepared);
    }
    const pages = pageCount(original);
    assert.ok(pages === null || pages > 0);
  }
  // Enough mutations must be accepted, and every reason for a refusal except `too_large` must occur. Otherwise the fuzz
  // test proves nothing.
  assert.ok(sealed > INPUTS / 20, `${sealed} sealed`);
  for (const reason of PDF_REFUSALS) {
    if (reason !== "too_large") assert.ok(refusals.has(reason), reason);
  }
});

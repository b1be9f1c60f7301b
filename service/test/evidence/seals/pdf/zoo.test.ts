import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { zooBytes, zooFiles } from "@signsealship/testing/inputs/zoo";
import { type OpensslSigner, opensslSigner } from "@signsealship/testing/tools/openssl-cms";
import { needs } from "@signsealship/testing/tools/tools";
import { completeSeal, prepareSeal } from "../../../../src/evidence/seals/pdf/seal-pdf.ts";
import { PdfRefusal } from "../../../../src/kernel/pdf/refusal.ts";
import { mutoolOpens, mutoolVerdict, pdfsig, qpdfAccepts } from "./oracles.ts";

const at = new Date("2026-03-04T05:06:07.890Z");
let signer: OpensslSigner | undefined;
const folder = mkdtempSync(join(tmpdir(), "zoo-"));
after(() => {
  signer?.close();
  rmSync(folder, { recursive: true });
});

/** Files that qpdf criticizes even before they are sealed. So it can't accept them sealed either. */
const QPDF_WARNS = [
  "broken-offsets.pdf",
  "broken-startxref-zero.pdf",
  "broken-truncated-startxref.pdf",
  "broken-truncated-table.pdf",
  "broken-wrong-startxref.pdf",
  "encrypted-open-no-id.pdf",
  "gs-fast-web-view.pdf",
  "junk-after.pdf",
  "junk-before-absolute.pdf",
  "poppler-pdfunite.pdf",
  "repeated-key.pdf",
  "size-too-small.pdf",
];
/** Files that mutool opens only after a repair. It then verifies signatures against its own repaired offsets. */
const MUTOOL_REPAIRS = [
  "broken-startxref-zero.pdf",
  "broken-truncated-startxref.pdf",
  "broken-truncated-table.pdf",
  "broken-wrong-startxref.pdf",
  "junk-after.pdf",
  "junk-before-absolute.pdf",
  "junk-before-xref-stream.pdf",
  "junk-before.pdf",
  "junk-bom.pdf",
  "prev-zero.pdf",
  "table-21-bytes.pdf",
];

function seal(original: Buffer): Buffer {
  const prepared = prepareSeal({ original, at, reserve: 3000, name: "SignSealShip", reason: "Sealed" });
  const { tail, contentsStart, contentsEnd } = prepared;
  signer ??= opensslSigner();
  const cms = signer.sign(Buffer.concat([original, tail.subarray(0, contentsStart), tail.subarray(contentsEnd)]));
  return Buffer.concat([original, completeSeal(prepared, cms).tail]);
}

/**
 * Seals a file. pdfsig must accept the sealed file, as must every other reader that opens the original without
 * repairing it.
 */
async function assertSealsWell(name: string, original: Buffer): Promise<void> {
  const before = join(folder, `before-${name}`);
  const path = join(folder, name);
  writeFileSync(before, original);
  const sealed = seal(original);
  assert.ok(sealed.subarray(0, original.length).equals(original), "the original is a prefix");
  writeFileSync(path, sealed);
  const [earlier, signatures, qpdfBefore, qpdfAfter, opens, verdict] = await Promise.all([
    pdfsig(before),
    pdfsig(path),
    qpdfAccepts(before),
    qpdfAccepts(path),
    mutoolOpens(before),
    mutoolVerdict(path),
  ]);
  assert.deepEqual(signatures, [
    ...earlier.map(({ valid }) => ({ valid, whole: false })),
    { valid: true, whole: true },
  ]);
  assert.equal(qpdfBefore, !QPDF_WARNS.includes(name), "qpdf on the original");
  if (qpdfBefore) assert.ok(qpdfAfter, "qpdf finds nothing wrong");
  assert.equal(opens, !MUTOOL_REPAIRS.includes(name), "mutool on the original");
  if (opens) {
    assert.match(verdict, /cn=Test signer/);
    assert.match(verdict, /The document is unchanged since signing/);
  }
  // A second seal leaves the first one intact.
  writeFileSync(path, seal(sealed));
  assert.deepEqual(await pdfsig(path), [
    ...signatures.map(({ valid }) => ({ valid, whole: false })),
    { valid: true, whole: true },
  ]);
}

test("the list of expectations names every file of the zoo", () => {
  const files = readdirSync(join(import.meta.dirname, "../../../../../testing/inputs/zoo/pdfs")).sort();
  assert.deepEqual(
    zooFiles()
      .map(({ name }) => name)
      .sort(),
    files,
  );
});

const readers = needs("openssl", "poppler", "mupdf", "qpdf");
describe("foreign readers accept the sealed file and every earlier signature", { concurrency: 4 }, () => {
  for (const { name, expected } of zooFiles()) {
    if (expected === "sealed") test(name, readers, () => assertSealsWell(name, zooBytes(name)));
  }
  test("a document of 1,000 pages", readers, () => assertSealsWell("pages.pdf", makePdf({ pages: 1000 })));
  test("a document of 34 MB", readers, () => assertSealsWell("large.pdf", makePdf({ bytes: 34_000_000 })));
});

describe("refuses by name a document that can't be extended unchanged", () => {
  for (const { name, expected } of zooFiles()) {
    if (expected === "sealed") continue;
    test(`${name}: ${expected}`, () => {
      const original = zooBytes(name);
      assert.throws(
        () => prepareSeal({ original, at, reserve: 3000 }),
        (error) => error instanceof PdfRefusal && error.reason === expected,
      );
    });
  }
  test("a document of more than 35 MiB: too_large", () => {
    const original = makePdf({ bytes: 35 * 1024 * 1024 + 1 });
    assert.throws(
      () => prepareSeal({ original, at, reserve: 3000 }),
      (error) => error instanceof PdfRefusal && error.reason === "too_large",
    );
  });
});

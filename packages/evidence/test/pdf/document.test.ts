import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { makePdf } from "@signsealship/testing/pdf-maker";
import { zooBytes, zooFiles } from "@signsealship/testing/zoo";
import { EvidenceError } from "../../src/errors.ts";
import { dictionaryIn, itemsIn, loadRevisions, openDocument } from "../../src/pdf/document.ts";
import { findSignatures } from "../../src/pdf/signatures.ts";
import { withRanges } from "../../src/pdf/structure.ts";
import { nameOf } from "../../src/pdf/values.ts";
import { mutate, randomFrom } from "../mutate.ts";
import { appendRevision, bytesOf, latin1 } from "../seal/signed-pdf.ts";

const open = (name: string) => openDocument(Uint8Array.from(zooBytes(name)));
const signaturesOf = (name: string) => {
  const document = open(name);
  return withRanges(document, findSignatures(document));
};
const catalogType = (name: string) => {
  const document = open(name);
  const catalog = dictionaryIn(document, document.trailer, "Root");
  return catalog && nameOf(catalog, "Type");
};

test("finds the catalog through tables, streams, hybrid and linearized files, object streams and odd white space", () => {
  for (const name of [
    "gs.pdf",
    "pdftex.pdf",
    "hybrid.pdf",
    "qpdf-linearized.pdf",
    "qpdf-linearized-object-streams.pdf",
    "catalog-in-object-stream.pdf",
    "comments-everywhere.pdf",
    "incremental-mixed.pdf",
    "table-19-bytes.pdf",
    "table-crlf.pdf",
    "generation.pdf",
    "prev-zero.pdf",
    "xref-stream-widths-888.pdf",
    "xref-stream-widths-275.pdf",
    ...[10, 11, 12, 13, 14, 15].map((predictor) => `xref-stream-predictor-${predictor}.pdf`),
  ]) {
    assert.equal(catalogType(name), "Catalog", name);
  }
});

test("counts offsets from the header where the file does, and from the first byte where it does", () => {
  assert.equal(open("junk-before.pdf").base, 19);
  assert.equal(open("junk-before-xref-stream.pdf").base, 11);
  assert.equal(open("junk-before-absolute.pdf").base, 0);
});

test("refuses a file whose startxref leads to a section from the header and to another from the first byte", () => {
  const junk = "% junk that makes the two ways of counting differ\n";
  const pdf = `${junk}${latin1(makePdf())}`;
  const relative = Number(/startxref\n(\d+)/.exec(pdf)?.[1]);
  const decoy = "xref\n0 0\ntrailer\n<< /Root 9 0 R >>\n";
  assert.equal(openDocument(bytesOf(pdf)).base, junk.length);
  const text = `${pdf.slice(0, relative)}${decoy}${pdf.slice(relative + decoy.length)}`;
  assert.ok(decoy.length < junk.length);
  assert.throws(() => openDocument(bytesOf(text)), { code: "pdf", message: /two cross-reference sections/ });
});

test("takes /Prev 0 for none, and refuses it where a section stands at byte 0", () => {
  assert.equal(loadRevisions(open("prev-zero.pdf")).length, 1);
  assert.throws(() => open("broken-prev-zero-section.pdf"), { code: "pdf", message: /Prev 0/ });
});

test("finds every revision, newest first, and the newest version of an object", () => {
  const twenty = open("incremental-twenty.pdf");
  assert.equal(loadRevisions(twenty).length, 21);
  const pdf = openDocument(bytesOf(appendRevision(latin1(makePdf()), [[1, "<< /Type /Newer /Fields [1 2 3] >>"]])));
  const catalog = dictionaryIn(pdf, pdf.trailer, "Root");
  assert.ok(catalog);
  assert.equal(nameOf(catalog, "Type"), "Newer");
  assert.equal(itemsIn(pdf, catalog, "Fields").length, 3);
});

test("finds signatures with their ranges and certification levels", () => {
  assert.deepEqual(signaturesOf("gs.pdf"), []);
  assert.deepEqual(
    signaturesOf("signed-twice.pdf").map(({ byteRange, fieldCount }) => [byteRange.ok, fieldCount]),
    [
      [true, 1],
      [true, 1],
    ],
  );
  assert.equal(signaturesOf("signed-xref-stream.pdf")[0]?.byteRange.ok, true);
  for (const [name, level] of [
    ["certified-p1.pdf", 1],
    ["certified-p2.pdf", 2],
    ["certified-p3.pdf", 3],
    ["certified-default.pdf", 2],
  ] as const) {
    assert.equal(signaturesOf(name)[0]?.docMdp, level, name);
  }
});

test("gives up on cycles, bombs and nesting by name", () => {
  const signaturesIn = (name: string) => () => loadRevisions(open(name)) && signaturesOf(name);
  assert.throws(signaturesIn("cycle-prev-self.pdf"), { code: "pdf", message: /cycle/ });
  assert.throws(signaturesIn("cycle-prev-pair.pdf"), { code: "pdf", message: /cycle/ });
  assert.throws(signaturesIn("bomb-xref-stream.pdf"), { code: "limit" });
  assert.throws(signaturesIn("bomb-object-stream.pdf"), { code: "limit" });
  assert.throws(signaturesIn("deep-arrays.pdf"), { code: "limit" });
  assert.throws(signaturesIn("object-stream-in-itself.pdf"), { code: "pdf" });
  assert.deepEqual(signaturesIn("cycle-fields.pdf")(), []);
});

test("spends no more than its budget on objects that hold one another", () => {
  const count = 3000;
  let body = "%PDF-1.7\n1 0 obj << /AcroForm << /Fields [";
  for (let number = 2; number < count; number++) body += `${number} 0 R `;
  body += "] >> >> endobj\n";
  const offsets = [0, body.indexOf("1 0 obj")];
  for (let number = 2; number < count; number++) {
    offsets.push(body.length);
    body += `${number} 0 obj (`;
  }
  body += " ".repeat(200_000) + ")".repeat(count);
  const rows = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  const pdf = `${body}\nxref\n0 ${count}\n${rows}trailer\n<< /Root 1 0 R >>\nstartxref\n${body.length + 1}\n%%EOF\n`;
  assert.throws(() => findSignatures(openDocument(bytesOf(pdf))), { code: "limit", message: /too much work/ });
});

test("raises nothing but its own error on 20,000 damaged files of every kind", () => {
  const random = randomFrom(99);
  const sources = zooFiles()
    .filter(({ name }) => !name.startsWith("bomb-"))
    .map(({ path }) => Uint8Array.from(readFileSync(path)))
    .filter(({ length }) => length < 20_000);
  assert.ok(sources.length > 50);
  for (let round = 0; round < 20_000; round++) {
    const source = sources[round % sources.length];
    assert.ok(source);
    try {
      const document = openDocument(mutate(source, random));
      withRanges(document, findSignatures(document));
      loadRevisions(document);
    } catch (error) {
      assert.ok(error instanceof EvidenceError, `round ${round}: ${error instanceof Error ? error.stack : error}`);
    }
  }
});

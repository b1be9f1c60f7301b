import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fuzzRuns } from "@signsealship/testing/inputs/fuzz";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { zooBytes, zooFiles } from "@signsealship/testing/inputs/zoo";
import { EvidenceError } from "../../src/errors.ts";
import { dictionaryIn, itemsIn, loadRevisions, openDocument, resolve } from "../../src/pdf/document.ts";
import { findSignatures } from "../../src/pdf/signatures.ts";
import { withRanges } from "../../src/pdf/structure.ts";
import { nameOf } from "../../src/pdf/values.ts";
import { mutate, randomFrom } from "../mutate.ts";
import { appendRevision, bodyOf, bytesOf, latin1 } from "../seal/signed-pdf.ts";

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

test("counts offsets from the header if the file does, and from the first byte if the file does", () => {
  assert.equal(open("junk-before.pdf").base, 19);
  assert.equal(open("junk-before-xref-stream.pdf").base, 11);
  assert.equal(open("junk-before-absolute.pdf").base, 0);
});

test("refuses a file whose startxref leads to one section from the header and to another from the first byte", () => {
  const junk = "% junk that makes the two ways of counting differ\n";
  const pdf = `${junk}${latin1(makePdf())}`;
  const relative = Number(/startxref\n(\d+)/.exec(pdf)?.[1]);
  const decoy = "xref\n0 0\ntrailer\n<< /Root 9 0 R >>\n";
  assert.equal(openDocument(bytesOf(pdf)).base, junk.length);
  const withDecoy = (section: string) =>
    bytesOf(`${pdf.slice(0, relative)}${section}${pdf.slice(relative + section.length)}`);
  assert.ok(decoy.length < junk.length);
  assert.throws(() => openDocument(withDecoy(decoy)), { code: "pdf", message: /two cross-reference sections/ });
  assert.throws(() => openDocument(withDecoy(decoy.replace("0 0", "0 x"))), {
    code: "pdf",
    message: /subsection header/,
  });
  assert.equal(openDocument(withDecoy(decoy.replace("xref", "zref"))).base, junk.length);
});

test("accepts a file as a PDF when all of its header is within the first 1,024 bytes", () => {
  const behind = (length: number) => openDocument(bytesOf(`${" ".repeat(length)}${latin1(makePdf())}`)).base;
  assert.equal(behind(1019), 1019);
  assert.throws(() => behind(1020), { code: "pdf", message: "no PDF header" });
});

test("refuses a reference to an object in an object stream whose generation is not 0", () => {
  const document = open("catalog-in-object-stream.pdf");
  const root = document.trailer.entries.get("Root");
  assert.ok(root?.kind === "reference");
  assert.equal(resolve(document, root)?.kind, "dictionary");
  assert.throws(() => resolve(document, { ...root, generation: 1 }), { code: "pdf", message: /is not where/ });
});

test("treats /Prev 0 as none, and refuses it when a section is at byte 0", () => {
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

const signaturesIn = (text: string) => findSignatures(openDocument(bytesOf(text)));
const plain = latin1(makePdf());

test("reads the whole chain of sections first, and refuses one that is broken further back", () => {
  const later = appendRevision(plain, [[1, bodyOf(plain, 1)]]);
  assert.deepEqual(signaturesIn(later), []);
  const prev = /\/Prev (\d+)/.exec(later)?.[1] ?? "";
  for (const wrong of ["5", "9999", String(later.length), later.lastIndexOf("xref\n", later.length - 20)]) {
    const padded = String(wrong).padStart(prev.length, "0");
    assert.throws(() => signaturesIn(later.replace(`/Prev ${prev}`, `/Prev ${padded}`)), EvidenceError, String(wrong));
  }
});

test("refuses a repeated key in a dictionary that is read, and says where", () => {
  const revised = (objects: readonly (readonly [number, string])[], trailer = "") =>
    appendRevision(plain, objects, trailer);
  const catalog = (entry: string) => bodyOf(plain, 1).replace(/ >>$/, ` ${entry} >>`);
  const field = "<< /FT /Sig /T (a) /V 41 0 R >>";
  const form = catalog("/AcroForm << /Fields [40 0 R] >>");
  const reference = "/TransformMethod /DocMDP /TransformParams << /P 2 >>";
  const signature = (entry: string) => `<< /Type /Sig /Reference [<< ${entry} >>] >>`;
  const at = (signed: string) =>
    revised([
      [40, field],
      [41, signed],
      [1, form],
    ]);
  assert.equal(signaturesIn(at(signature(reference))).length, 1);
  for (const [key, text] of [
    ["Root", revised([[1, catalog("")]], " /Root 2 0 R")],
    ["Prev", revised([[1, catalog("")]], " /Prev 0")],
    ["Names", revised([[1, catalog("/Names 5 0 R /Names 5 0 R")]])],
    ["AcroForm", revised([[1, catalog("/AcroForm << >> /#41croForm << >>")]])],
    ["Fields", revised([[1, catalog("/AcroForm << /Fields [] /Fields [40 0 R] >>")]])],
    [
      "T",
      revised([
        [40, "<< /FT /Sig /T (a) /T (b) >>"],
        [1, form],
      ]),
    ],
    [
      "V",
      revised([
        [40, "<< /FT /Sig /V 41 0 R /V 42 0 R >>"],
        [1, form],
      ]),
    ],
    ["Reference", at("<< /Reference [] /Reference [] >>")],
    ["TransformMethod", at(signature(`${reference} /TransformMethod /FieldMDP`))],
    ["P", at(signature("/TransformMethod /DocMDP /TransformParams << /P 3 /P 1 >>"))],
  ] as const) {
    const message = new RegExp(`^/${key} stands twice in .* at \\d+$`);
    assert.throws(() => signaturesIn(text), { code: "pdf", message }, key);
  }
  assert.deepEqual(signaturesIn(revised([[5, bodyOf(plain, 5).replace(/ >>$/, " /Rotate 0 /Rotate 0 >>")]])), []);
});

test("refuses an object stream that contains an object twice, whichever one the section names", () => {
  const file = (second: number, index: number) => {
    const [one, two] = ["<</Type/Catalog/Pages 2 0 R>> ", "<</Type/Catalog/Pages 9 0 R>> "];
    const head = `1 0 ${second} ${one.length} `;
    const data = head + one + two;
    const start = "%PDF-1.7\n";
    const stream = `3 0 obj\n<</Type/ObjStm/N 2/First ${head.length}/Length ${data.length}>>\nstream\n${data}\nendstream\nendobj\n`;
    const rows = [0, 0, 0, 2, 3, index, 0, 0, 0, 1, start.length, 0, 0, 0, 0]
      .map((byte) => String.fromCharCode(byte))
      .join("");
    const section = `4 0 obj\n<</Type/XRef/Size 5/Root 1 0 R/W[1 1 1]/Length 15>>\nstream\n${rows}\nendstream\nendobj\n`;
    return Buffer.from(`${start}${stream}${section}startxref\n${(start + stream).length}\n%%EOF\n`, "latin1");
  };
  const read = (bytes: Uint8Array) => {
    const document = openDocument(bytes);
    return dictionaryIn(document, document.trailer, "Root");
  };
  assert.ok(read(file(5, 0))?.entries.has("Pages"));
  for (const index of [0, 1]) assert.throws(() => read(file(1, index)), { code: "pdf" });
});

test("refuses a section that names an object twice", () => {
  const row = `${"0".repeat(10)} 00000 n \n`;
  const table = (numbers: readonly number[]) => {
    const rows = numbers.map((number) => `${number} 1\n${row}`).join("");
    return `%PDF-1.7\nxref\n${rows}trailer\n<< /Root 1 0 R >>\nstartxref\n9\n%%EOF\n`;
  };
  assert.equal(openDocument(bytesOf(table([3, 1, 2]))).revisions.length, 1);
  assert.throws(() => openDocument(bytesOf(table([3, 1, 3]))), { code: "pdf", message: /object 3 is named twice/ });
});

test("reads rows of 19, 20 and 21 bytes, and refuses rows of several lengths", () => {
  const withEnds = (end: (row: number) => string) => {
    let count = 0;
    return plain.replace(/^(\d{10} \d{5} [nf]) \n/gm, (_, row: string) => row + end(count++));
  };
  for (const end of ["\n", " \n", "\r\n", " \r\n"]) assert.deepEqual(signaturesIn(withEnds(() => end)), []);
  assert.throws(() => signaturesIn(withEnds((row) => (row % 2 === 0 ? " \n" : "\n"))), { code: "pdf" });
  assert.throws(() => signaturesIn(withEnds(() => "  \r\n")), { code: "pdf", message: /odd length/ });
});

test("stops at cycles, decompression bombs and deep nesting, by name", () => {
  const signaturesIn = (name: string) => () => loadRevisions(open(name)) && signaturesOf(name);
  assert.throws(signaturesIn("cycle-prev-self.pdf"), { code: "pdf", message: /cycle/ });
  assert.throws(signaturesIn("cycle-prev-pair.pdf"), { code: "pdf", message: /cycle/ });
  assert.throws(signaturesIn("bomb-xref-stream.pdf"), { code: "limit" });
  assert.throws(signaturesIn("bomb-object-stream.pdf"), { code: "limit" });
  assert.throws(signaturesIn("deep-arrays.pdf"), { code: "limit" });
  assert.throws(signaturesIn("object-stream-in-itself.pdf"), { code: "pdf" });
  assert.deepEqual(signaturesIn("cycle-fields.pdf")(), []);
});

test("spends no more than its budget on objects that contain one another", () => {
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

const rounds = fuzzRuns(20_000);
test(`throws only its own error on ${rounds.toLocaleString("en")} damaged files of every kind`, () => {
  const random = randomFrom(99);
  const sources = zooFiles()
    .filter(({ name }) => !name.startsWith("bomb-"))
    .map(({ path }) => Uint8Array.from(readFileSync(path)))
    .filter(({ length }) => length < 20_000);
  assert.ok(sources.length > 50);
  for (let round = 0; round < rounds; round++) {
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

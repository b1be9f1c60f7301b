import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deflateSync } from "node:zlib";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { zooBytes } from "@signsealship/testing/inputs/zoo";
import fc from "fast-check";
import { openPdf } from "../../../src/kernel/pdf/open.ts";
import { PdfRefusal, type PdfRefusalReason } from "../../../src/kernel/pdf/refusal.ts";
import { streamData } from "../../../src/kernel/pdf/stream-data.ts";
import { readDict } from "../../../src/kernel/pdf/values.ts";
import { lookUpPdf } from "../../../src/kernel/pdf/xref/lookup.ts";
import { readXrefStream, streamEntry } from "../../../src/kernel/pdf/xref/xref-stream.ts";
import { readXrefTable, tableEntry } from "../../../src/kernel/pdf/xref/xref-table.ts";

const budget = () => ({ lexedBytes: 1e6, inflatedBytes: 1e6, subsections: 1000, compressedObjects: 1000 });
const refusal = (reason: PdfRefusalReason) => (error: unknown) =>
  error instanceof PdfRefusal && error.reason === reason;
const identity = <T>(span: T) => span;

function streamOf(entries: string, data: Buffer) {
  const head = Buffer.from(`<<${entries}/Length ${data.length}>>\nstream\n`, "latin1");
  return readDict(Buffer.concat([head, data, Buffer.from("\nendstream")]), 0);
}

describe("a cross-reference table", () => {
  const table = (text: string) => readXrefTable(Buffer.from(`xref\n${text}trailer <<>>`, "latin1"), 0, budget());

  test("returns each entry, however its lines end", () => {
    const entries = fc.array(fc.tuple(fc.nat(9_999_999), fc.nat(65_535), fc.boolean()), { minLength: 1, maxLength: 9 });
    const ends = fc.oneof(
      fc.constantFrom(" \n", "\r\n", " \r", "\n", " \r\n").map((end) => Array<string>(9).fill(end)),
      fc.array(fc.constantFrom(" \n", "\r\n", "\n", "   \n", " \r\n", "\n\n"), { minLength: 9, maxLength: 9 }),
    );
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 1, max: 5 }), entries), { minLength: 1, maxLength: 5 }),
        ends,
        (parts, eol) => {
          let next = 1;
          let text = "";
          const expected = new Map<number, unknown>();
          for (const [gap, rows] of parts) {
            text += `${next + gap} ${rows.length}\n`;
            next += gap;
            rows.forEach(([offset, gen, used], i) => {
              text += `${String(offset).padStart(10, "0")} ${String(gen).padStart(5, "0")} ${used ? "n" : "f"}${eol[i]}`;
              expected.set(next++, used ? { type: "offset", offset, gen } : { type: "free" });
            });
          }
          const read = table(text);
          assert.equal(read.size, next);
          for (let num = 0; num <= next; num++) assert.deepEqual(tableEntry(read, num), expected.get(num));
        },
      ),
    );
  });

  test("counts from 0 when a table from 1 begins with the head of the free list", () => {
    const rows = "0000000000 65535 f \n0000000010 00000 n \n";
    const read = table(`1 2\n${rows}`);
    assert.equal(read.countsFrom1, true);
    assert.equal(read.size, 2);
    assert.deepEqual(tableEntry(read, 0), { type: "free" });
    assert.deepEqual(tableEntry(read, 1), { type: "offset", offset: 10, gen: 0 });
    assert.equal(tableEntry(read, 2), undefined);
  });

  test("follows the numbers of a table from 1 with another first row, in another subsection or with another number", () => {
    for (const [text, number, entry] of [
      ["1 1\n0000000000 65535 n \n", 1, { type: "offset", offset: 0, gen: 65_535 }],
      ["1 1\n0000000000 65534 f \n", 1, { type: "free" }],
      ["2 1\n0000000000 65535 f \n", 2, { type: "free" }],
      ["3 1\n0000000010 00000 n \n1 1\n0000000000 65535 f \n", 1, { type: "free" }],
    ] as const) {
      const read = table(text);
      assert.equal(read.countsFrom1, false, text);
      assert.deepEqual(tableEntry(read, number), entry, text);
      assert.equal(tableEntry(read, 0), undefined, text);
    }
  });

  test("returns the entries of subsections in any order", () => {
    const read = table("5 1\n0000000050 00000 n \n1 1\n0000000010 00000 n \n");
    assert.deepEqual(tableEntry(read, 5), { type: "offset", offset: 50, gen: 0 });
    assert.deepEqual(tableEntry(read, 1), { type: "offset", offset: 10, gen: 0 });
    assert.equal(tableEntry(read, 3), undefined);
  });

  test("is refused when it is damaged or lists an object twice", () => {
    const row = "0000000050 00000 n \n";
    for (const text of [
      `0 2\n${row}`,
      `0 x\n${row}`,
      "0 1\n50 0 n \n",
      `0 2\n${row}${row}1 1\n${row}`.replace("1 1", "0 1"),
    ]) {
      assert.throws(() => table(text), refusal("needs_repair"), text);
    }
    assert.throws(() => tableEntry(table(`0 3\n${row}00000000x0 00000 n \n${row}`), 1), refusal("needs_repair"));
  });

  test("is refused when it claims more objects or subsections than a document can have", () => {
    assert.throws(() => table("0 9999999\n"), refusal("too_complex"));
    assert.throws(() => table("0 0\n".repeat(1001)), refusal("too_complex"));
  });
});

describe("a cross-reference stream", () => {
  const read = (entries: string, data: Buffer) => {
    const stream = readXrefStream(streamOf(`/Type/XRef${entries}`, data), budget());
    return (num: number) => streamEntry(stream, num, budget());
  };

  test("returns each entry for any widths, and type 1 when the first width is 0", () => {
    const rows = Buffer.from([0, 0, 9, 0, 1, 1, 2, 5, 2, 0, 7, 3, 3, 0, 0, 0]);
    const at = read("/Size 20/W[1 2 1]/Index[4 3 19 1]", rows);
    assert.deepEqual([3, 4, 5, 6, 7, 19].map(at), [
      undefined,
      { type: "free" },
      { type: "offset", offset: 258, gen: 5 },
      { type: "compressed", stream: 7, index: 3 },
      undefined,
      { type: "free" },
    ]);
    assert.deepEqual(read("/Size 2/W[0 1 0]", Buffer.from([4, 9]))(1), { type: "offset", offset: 9, gen: 0 });
  });

  test("returns each entry when all fields are integers of 64 bits", () => {
    const rows = Buffer.alloc(72);
    [0n, 0n, 65535n, 1n, 4000n, 2n, 1n, 2n ** 63n, 0n].forEach((value, i) => {
      rows.writeBigUInt64BE(value, 8 * i);
    });
    const at = read("/Size 3/W[8 8 8]", rows);
    assert.deepEqual(at(0), { type: "free" });
    assert.deepEqual(at(1), { type: "offset", offset: 4000, gen: 2 });
    assert.deepEqual(at(2), { type: "offset", offset: 2 ** 63, gen: 0 });
  });

  test("is refused when it is not well-formed", () => {
    const data = Buffer.alloc(8);
    for (const entries of [
      "",
      "/Size 2",
      "/Size 2/W[1 2]",
      "/Size 2/W[1 0 1]",
      "/Size 2/W[9 1 1]",
      "/Size 2/W[1 9 1]",
      "/Size 2/W[1 2 9]",
      "/W[1 2 1]",
    ]) {
      assert.throws(() => read(entries, data), refusal("needs_repair"), entries);
    }
    for (const index of ["[0]", "[0 1 0 1]", "[/A 1]", "7"]) {
      assert.throws(() => read(`/Size 2/W[1 2 1]/Index${index}`, data), refusal("needs_repair"), index);
    }
    assert.throws(() => read("/Size 3/W[1 2 1]", data)(2), refusal("needs_repair"));
    assert.throws(() => read("/Size 9999999/W[1 2 1]", data), refusal("too_complex"));
  });
});

describe("the data of a stream", () => {
  test("is decoded with every PNG predictor", () => {
    const rows = fc
      .integer({ min: 1, max: 9 })
      .chain((columns) =>
        fc.tuple(
          fc.constant(columns),
          fc.array(fc.tuple(fc.nat(4), fc.uint8Array({ minLength: columns, maxLength: columns })), { maxLength: 6 }),
        ),
      );
    fc.assert(
      fc.property(rows, ([columns, lines]) => {
        let previous = new Uint8Array(columns);
        const filtered = lines.map(([kind, line]) => {
          const out = line.map((byte, i) => {
            const [left, up, corner] = [i ? (line[i - 1] ?? 0) : 0, previous[i] ?? 0, i ? (previous[i - 1] ?? 0) : 0];
            const paeth = [left, up, corner].toSorted(
              (a, b) => Math.abs(left + up - corner - a) - Math.abs(left + up - corner - b),
            )[0];
            return byte - ([0, left, up, (left + up) >> 1, paeth][kind] ?? 0);
          });
          previous = Uint8Array.from(line);
          return Buffer.from([kind, ...out]);
        });
        const entries = `/Filter[/FlateDecode]/DecodeParms[<</Predictor 15/Columns ${columns}>>]`;
        const decoded = streamData(streamOf(entries, deflateSync(Buffer.concat(filtered))), identity, budget());
        assert.deepEqual(
          [...decoded],
          lines.flatMap(([, line]) => [...line]),
        );
      }),
    );
  });

  test("is refused with a wrong length, damaged data, other filters and predictors", () => {
    const packed = deflateSync(Buffer.alloc(100));
    const broken = Buffer.from(packed.fill(0xff, 4, 8));
    assert.throws(
      () => streamData(streamOf("/Filter/FlateDecode", broken), identity, budget()),
      refusal("needs_repair"),
    );
    const short = readDict(Buffer.from("<</Length 3>>stream\n12345endstream"), 0);
    assert.throws(() => streamData(short, identity, budget()), refusal("needs_repair"));
    for (const entries of ["/Filter/LZWDecode", "/Filter[/ASCIIHexDecode/FlateDecode]"]) {
      assert.throws(() => streamData(streamOf(entries, packed), identity, budget()), refusal("too_complex"));
    }
    const tiff = streamOf("/Filter/FlateDecode/DecodeParms<</Predictor 2>>", deflateSync(Buffer.alloc(100)));
    assert.throws(() => streamData(tiff, identity, budget()), refusal("too_complex"));
  });

  test("is refused beyond the budget that all streams share", () => {
    const shared = budget();
    const stream = streamOf("/Filter/FlateDecode", deflateSync(Buffer.alloc(600_000)));
    assert.equal(streamData(stream, identity, shared).length, 600_000);
    assert.throws(() => streamData(stream, identity, shared), refusal("too_complex"));
  });
});

describe("a document", () => {
  test("is opened with its sections newest first", () => {
    const file = openPdf(zooBytes("incremental-mixed.pdf"));
    assert.deepEqual(
      file.sections.map(({ table, stream }) => [table !== null, stream !== null]),
      [
        [false, true],
        [true, false],
      ],
    );
    assert.equal(openPdf(zooBytes("incremental-twenty.pdf")).sections.length, 21);
    const [hybrid] = openPdf(zooBytes("hybrid.pdf")).sections;
    assert.ok(hybrid?.table && hybrid.stream);
  });

  test("with junk before its header is read by offsets from either start", () => {
    assert.equal(openPdf(zooBytes("junk-before.pdf")).base, 19);
    assert.equal(openPdf(zooBytes("junk-before-absolute.pdf")).base, 0);
  });

  test("whose oldest section states /Prev 0 has none before it, unless a section is at byte 0", () => {
    const lines =
      "%PDF-1.4\n1 0 obj <</Pages 2 0 R>> endobj\nxref\n1 1\n0000000009 00000 n \ntrailer <</Size 3/Prev 0>>\n";
    const at = lines.indexOf("xref");
    assert.equal(openPdf(Buffer.from(`${lines}startxref\n${at}\n%%EOF`)).sections.length, 1);
    const first = `%PDF-1.4\nxref\n1 1\n0000000009 00000 n \ntrailer <</Size 3>>\n${lines.slice(9)}`;
    const another = Buffer.from(`${first}startxref\n${first.lastIndexOf("xref")}\n%%EOF`);
    assert.throws(() => openPdf(another), refusal("needs_repair"));
  });

  test("whose only table is numbered from 1 is continued like one numbered from 0, but not with an earlier table", () => {
    const pdf = makePdf().toString("latin1");
    const shifted = (text: string) => Buffer.from(text.replace("xref\n0 ", "xref\n1 "), "latin1");
    assert.deepEqual(lookUpPdf(shifted(pdf)).root.ref, lookUpPdf(Buffer.from(pdf, "latin1")).root.ref);
    assert.equal(lookUpPdf(shifted(pdf)).file.restated, null);
    const earlier = shifted(pdf.replace("trailer\n<<", "trailer\n<< /Prev 0"));
    assert.throws(() => openPdf(earlier), refusal("needs_repair"));
  });

  test("reports the permissions of a certification and the number of signatures", () => {
    const found = (name: string) => {
      const { docMdp, signatures } = lookUpPdf(zooBytes(name));
      return [docMdp, signatures];
    };
    assert.deepEqual(found("gs.pdf"), [null, 0]);
    assert.deepEqual(found("form-hierarchy.pdf"), [null, 0]);
    assert.deepEqual(found("signed-twice.pdf"), [null, 2]);
    assert.deepEqual(found("mutool-signed.pdf"), [null, 1]);
    assert.deepEqual(found("certified-default.pdf"), [2, 1]);
    assert.deepEqual(found("certified-p2.pdf"), [2, 1]);
    assert.deepEqual(found("certified-p3.pdf"), [3, 1]);
  });

  test("gets new object numbers above every listed or covered number", () => {
    assert.equal(lookUpPdf(zooBytes("size-too-small.pdf")).nextObject, 7);
    assert.equal(lookUpPdf(zooBytes("table-hole.pdf")).nextObject, 10);
  });

  test("is refused when the same bytes would have to be read repeatedly", () => {
    // Every node begins inside a string of the previous one. Each entry alone is valid, but together they cost
    // quadratic time.
    const count = 2000;
    const kids = Array.from({ length: count }, (_, i) => `${i + 3} 0 R`).join(" ");
    let text = `%PDF-1.4\n1 0 obj <</Pages 2 0 R>> endobj\n2 0 obj <</Kids[${kids}]>> endobj\n`;
    const offsets = [text.indexOf("1 0 obj"), text.indexOf("2 0 obj")];
    for (let i = 0; i < count; i++) {
      offsets.push(text.length);
      text += `${i + 3} 0 obj<</Kids[]/X(${"x".repeat(20)}`;
    }
    text += ")>>".repeat(count);
    const at = text.length + 1;
    const rows = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
    const tail = `\nxref\n1 ${offsets.length}\n${rows}trailer <</Size ${count + 3}/Root 1 0 R>>\nstartxref\n${at}\n%%EOF`;
    const bytes = Buffer.from(text + tail);
    assert.throws(() => lookUpPdf(bytes), refusal("too_complex"));
  });

  test("is refused when its header or startxref is out of reach", () => {
    const pdf = makePdf();
    assert.equal(openPdf(Buffer.concat([Buffer.alloc(1024), pdf])).base, 1024);
    assert.throws(() => openPdf(Buffer.concat([Buffer.alloc(1025), pdf])), refusal("not_a_pdf"));
    assert.equal(openPdf(Buffer.concat([pdf, Buffer.alloc(1_000_000)])).base, 0);
    assert.throws(() => openPdf(Buffer.concat([pdf, Buffer.alloc(1_100_000)])), refusal("needs_repair"));
  });

  test("is refused above the caller's maximum length", () => {
    const pdf = makePdf({ bytes: 5000 });
    assert.equal(openPdf(pdf, 5000).bytes, pdf);
    assert.throws(() => openPdf(pdf, 4999), refusal("too_large"));
  });
});

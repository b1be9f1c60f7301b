import {
  bodyOf,
  bytesOf,
  endOf,
  latin1,
  type NewObject,
  signPdf,
} from "../../../../packages/evidence/test/seal/signed-pdf.ts";
import { collection, type Expectation, type Made, notVerified, verified } from "./case.ts";
import { document, oddSeal } from "./sealing.ts";
import * as by from "./signers.ts";
import { endingInLine, type Writing, writing } from "./tails.ts";
import { plain } from "./way.ts";
import { streamed } from "./way-streams.ts";

type Options = NonNullable<Parameters<typeof oddSeal>[1]>;
type Row = readonly [
  name: string,
  original: Uint8Array,
  options: Partial<Options>,
  expect: Expectation,
  teaches: string,
];

const SEAL = endOf(plain).size;
const FIELD = SEAL + 1;
const structure = notVerified({ signature_structure: "fails" });
const written = "From its first byte on the file is what the sealer writes, byte by byte (2.3).";

/** Tails that differ in one byte, or one value, of one object. */
function tables(): readonly Row[] {
  const row = (name: string, odd: Writing): Row => [name, document(), { append: writing(odd) }, structure, written];
  const only = (which: number, odd: string, usual: (number: number) => string) => (number: number) =>
    number === which ? odd : usual(number);
  const end = () => "\nendobj\n";
  const header = (number: number) => `${number} 0 obj\n`;
  const objects = (name: string, objectsOf: NonNullable<Options["objects"]>): Row => [
    name,
    document(),
    { objects: objectsOf },
    structure,
    "The object behind the seal is its field: /FT/Sig, and /V the seal.",
  ];
  const second =
    (body: string) =>
    ([seal, ...others]: readonly NewObject[]) =>
      [seal, [40, body], ...others] as readonly NewObject[];
  return [
    row("a carriage return behind the obj of the seal", { header: only(SEAL, `${SEAL} 0 obj\r`, header) }),
    row("a line feed more behind the obj of the seal", { header: only(SEAL, `${SEAL} 0 obj\n\n`, header) }),
    row("a carriage return before the endobj of the seal", { end: only(SEAL, "\rendobj\n", end) }),
    row("a line feed behind the seal", { behind: only(SEAL, "\n", () => "") }),
    row("a line feed behind the field", { behind: only(FIELD, "\n", () => "") }),
    row("a line feed more behind trailer", { trailer: "trailer\n\n" }),
    [
      "a line feed between the numbers of /ByteRange",
      document(),
      { dictionary: (text) => text.replace(/\/ByteRange\[0 /, "/ByteRange[0\n") },
      structure,
      written,
    ],
    objects("an array behind the seal", second("[1]")),
    objects("a signature field without a value behind the seal", second("<< /FT /Sig /T (b) >>")),
    objects("a signature field with another value behind the seal", second("<< /FT /Sig /T (b) /V 5 0 R >>")),
    [
      "an object that can't be read",
      document(),
      { objects: (list) => [...list, [40, "<< /A 7x >>"]] },
      structure,
      "Each object of the tail is a value and endobj.",
    ],
    [
      "a seal whose field the document had",
      bytesOf(withField()),
      { objects: ([seal]) => (seal === undefined ? [] : [seal]) },
      structure,
      "The newest section names 2 to 8 objects.",
    ],
  ];
}

/** A document whose form has a signature field that is signed by an object that is not there yet. */
function withField(): string {
  const catalog = bodyOf(plain, 1).replace(/ >>$/, ` /AcroForm << /SigFlags 3 /Fields [${SEAL} 0 R] >> >>`);
  const field = `<< /FT /Sig /T (Seal) /V ${FIELD} 0 R >>`;
  return writing({})(plain, [
    [1, catalog],
    [SEAL, field],
  ]);
}

type StreamWriting = {
  readonly header?: string;
  readonly before?: string;
  readonly stream?: string;
  readonly end?: string;
  readonly entries?: (text: string) => string;
  readonly width?: (row: Buffer) => Buffer;
};

/** A tail whose section is a stream, as the sealer writes it, but for what is given. */
const streaming =
  (odd: StreamWriting) =>
  (pdf: string, objects: readonly NewObject[]): string => {
    const { startxref } = endOf(pdf);
    let text = endingInLine(pdf);
    const places = new Map<number, number>();
    for (const [number, body] of objects) {
      places.set(number, text.length);
      text += `${number} 0 obj\n${body}\nendobj\n`;
    }
    const own = Math.max(...places.keys()) + 1;
    const at = text.length;
    const sorted = [...places.set(own, at)].toSorted(([one], [other]) => one - other);
    const data = sorted.map(([, offset]) => {
      const bytes = Buffer.alloc(7);
      bytes.writeUInt8(1);
      bytes.writeUInt32BE(offset, 1);
      return (odd.width?.(bytes) ?? bytes).toString("latin1");
    });
    const index = sorted.map(([number]) => `${number} 1`).join(" ");
    const entries = `/Type/XRef/Size ${own + 1}/Root 1 0 R/ID[<00><01>]/Prev ${startxref}/W[1 4 2]/Index[${index}]/Length ${data.join("").length}`;
    text += `${own} 0 obj${odd.header ?? "\n"}${odd.before ?? ""}<<${odd.entries?.(entries) ?? entries}>>`;
    text += `${odd.stream ?? "\nstream\n"}${data.join("")}${odd.end ?? "\nendstream\nendobj\n"}`;
    return `${text}startxref\n${at}\n%%EOF\n`;
  };

/** Tails that end in a cross-reference stream, behind a document that does. */
function streams(): readonly Row[] {
  const original = bytesOf(streamed([[1, bodyOf(plain, 1)]]));
  const row = (name: string, odd: StreamWriting, expect: Expectation = structure): Row => [
    `a stream for a tail: ${name}`,
    original,
    { append: streaming(odd) },
    expect,
    written,
  ];
  const swap = (from: string | RegExp, to: string): StreamWriting => ({ entries: (text) => text.replace(from, to) });
  return [
    row("as it should be", {}, verified()),
    row("a carriage return behind obj", { header: "\r" }),
    row("a line feed more behind obj", { before: "\n" }),
    row("a space before stream", { stream: " stream\n" }),
    row("a carriage return before endstream", { end: "\rendstream\nendobj\n" }),
    row("a carriage return before endobj", { end: "\nendstream\rendobj\n" }),
    row("a key more", swap("/W", "/More 1/W")),
    row("a /Length that goes on behind the rows", {
      entries: (text) => text.replace(/\d+$/, (length) => `${Number(length) + 5}`),
    }),
    row("other widths of as many bytes", {
      width: (bytes) => Buffer.concat([bytes.subarray(0, 1), bytes.subarray(2), Buffer.alloc(1)]),
      entries: (text) => text.replace("/W[1 4 2]", "/W[1 3 3]"),
    }),
    row("its keys in another order", swap(/(\/W\[1 4 2\])(\/Index\[[\d ]*\])/, "$2$1")),
  ];
}

/** The document's own section names what stands behind it: the file is opened by that section. */
const namedBefore = (pdf: string, objects: readonly NewObject[]): string => {
  let text = pdf;
  let before = pdf;
  for (const [number, body] of objects.slice(0, 2)) {
    before = before.replace("0000000000 00000 n", `${String(text.length).padStart(10, "0")} 00000 n`);
    text += `${number} 0 obj\n${body}\nendobj\n`;
  }
  return `${before}${text.slice(pdf.length)}startxref\n${endOf(pdf).startxref}\n%%EOF\n`;
};

/** /SSSOriginalLength: section 2.4. */
function lengths(): readonly Row[] {
  const wrong = notVerified({ original_document_hash: "fails", signature_structure: null, seal_place: null });
  const bare = bytesOf(plain.trimEnd());
  const padding = "/PieceInfo << /Padding << /Private 4 0 R >> >>";
  const waiting = plain
    .replace(padding, `/AcroForm << /SigFlags 3 /Fields [${FIELD} 0 R] >>`.padEnd(padding.length))
    .replace("trailer", `${SEAL} 2\n0000000000 00000 n \n0000000000 00000 n \ntrailer`);
  const revised = writing({})(plain, [[1, bodyOf(plain, 1)]]);
  const unled = plain.replace(/startxref[\s\S]*$/, "");
  const begins = "The seal begins where the document ends, behind one line feed at most (2.4).";
  return [
    [
      "a line feed more before the seal",
      document(),
      { append: writing({ document: (pdf) => `${pdf}\n` }) },
      wrong,
      begins,
    ],
    [
      "a space in place of the line feed before the seal",
      bare,
      { append: writing({ document: (pdf) => `${pdf} ` }) },
      wrong,
      begins,
    ],
    ["a line feed that the sealer adds", bare, { append: writing({}) }, verified(), begins],
    [
      "a seal that the document's own section names",
      bytesOf(waiting),
      { append: namedBefore },
      wrong,
      "The newest section begins after the end of the signature dictionary (2.4).",
    ],
    [
      "a /Prev that leads past the document's newest section",
      bytesOf(revised),
      { append: writing({ more: (entries) => entries.replace(/\/Prev \d+/, `/Prev ${endOf(plain).startxref}`) }) },
      wrong,
      "The newest section's /Prev is the document's last startxref (2.4): else its newest revision is passed over.",
    ],
    [
      "a stream without /Prev behind a document without startxref",
      bytesOf(unled),
      { append: streaming({ entries: (text) => text.replace(/\/Prev \w+/, "") }) },
      { verdict: "not_verified", claims: { original_document_hash: "fails" } },
      "A section without /Prev is a table (2.4).",
    ],
  ];
}

/** An earlier signature whose range ends in the tail. */
function reachingIn(): Uint8Array {
  const signed = latin1(signPdf(document(), { signer: by.stranger, originalLength: "absent", reserve: 900 }));
  return bytesOf(
    signed.replace(/(\/ByteRange \[0 \d+ \d+ )(\d+)( *)\]/, (_, head: string, length: string, padding: string) =>
      `${head}${Number(length) + 100}`.padEnd(head.length + length.length + padding.length).concat("]"),
    ),
  );
}

/** Rules of the last list of section 2.3, and of section 2.4, each broken by itself. */
export function tailRules(): Made {
  const { add, put, made, slug } = collection("tail-rules");
  const rows: readonly Row[] = [
    ...tables(),
    ...streams(),
    ...lengths(),
    [
      "an earlier signature whose range ends in the tail",
      reachingIn(),
      {},
      structure,
      "No other signature's usable /ByteRange ends beyond the seal's first byte.",
    ],
    ...["two spaces before the value", "a space behind the value", "as it should be"].map(
      (what, index): Row => [
        `a seal of before with ${what}`,
        document(),
        {
          unstated: true,
          dictionary: (text) =>
            [text.replace("/Contents <", "/Contents  <"), text.replace("/ByteRange[", " /ByteRange["), text][index] ??
            text,
        },
        index === 2 ? verified() : notVerified({ signature_structure: "fails", seal_place: "fails" }),
        "A seal that does not sign its place stands where /Contents /ByteRange[ stands (2.9).",
      ],
    ),
  ];
  for (const [name, original, options, expect, teaches] of rows) {
    const bytes = oddSeal(original, options);
    add({ name, kind: "sealed_pdf", files: { sealed: put(`${slug(name)}.pdf`, bytes) }, expect, teaches });
  }
  return made();
}

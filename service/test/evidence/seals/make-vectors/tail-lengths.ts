import { bodyOf, bytesOf, endOf, type NewObject } from "../../../../../packages/evidence/test/seal/signed-pdf.ts";
import { type Expectation, notVerified, verified } from "./case.ts";
import { document, type SealOptions } from "./sealing.ts";
import { endingInLine, writing } from "./tails.ts";
import { plain } from "./way.ts";

export type TailRow = readonly [
  name: string,
  original: Uint8Array,
  options: Partial<SealOptions>,
  expect: Expectation,
  teaches: string,
];

export const SEAL = endOf(plain).size;
export const FIELD = SEAL + 1;

export type StreamWriting = {
  readonly header?: string;
  readonly before?: string;
  readonly stream?: string;
  readonly end?: string;
  readonly entries?: (text: string) => string;
  readonly width?: (row: Buffer) => Buffer;
};

/** A tail that ends in a cross-reference stream, as the sealer writes it, with the given deviations. */
export const streaming =
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

/** A document whose own section already lists the objects that the seal adds after that section. */
const namedBefore = (pdf: string, objects: readonly NewObject[]): string => {
  let text = pdf;
  let before = pdf;
  for (const [number, body] of objects.slice(0, 2)) {
    before = before.replace("0000000000 00000 n", `${String(text.length).padStart(10, "0")} 00000 n`);
    text += `${number} 0 obj\n${body}\nendobj\n`;
  }
  return `${before}${text.slice(pdf.length)}startxref\n${endOf(pdf).startxref}\n%%EOF\n`;
};

/** Vectors for /SSSOriginalLength (docs/evidence-format.md, section 2.4). */
export function tailLengths(): readonly TailRow[] {
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

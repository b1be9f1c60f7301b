import {
  bodyOf,
  bytesOf,
  latin1,
  type NewObject,
  signPdf,
} from "../../../../../packages/evidence/test/seal/signed-pdf.ts";
import { collection, type Expectation, type Made, notCovered, notVerified, verified } from "./case.ts";
import { document, oddSeal, type SealOptions } from "./sealing.ts";
import * as by from "./signers.ts";
import { FIELD, SEAL, type StreamWriting, streaming, type TailRow, tailLengths } from "./tail-lengths.ts";
import { type Writing, writing } from "./tails.ts";
import { plain } from "./way.ts";
import { streamed } from "./way-streams.ts";

const structure = notVerified({ signature_structure: "fails" });
const written = "From its first byte on the file is what the sealer writes, byte by byte (2.3).";

/** Tails with one different byte, or one different value, in one object. */
function tables(): readonly TailRow[] {
  const row = (name: string, odd: Writing): TailRow => [name, document(), { append: writing(odd) }, structure, written];
  const only = (which: number, odd: string, usual: (number: number) => string) => (number: number) =>
    number === which ? odd : usual(number);
  const end = () => "\nendobj\n";
  const header = (number: number) => `${number} 0 obj\n`;
  const objects = (name: string, objectsOf: NonNullable<SealOptions["objects"]>): TailRow => [
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
    row("a carriage return behind the obj of the field", { header: only(SEAL + 1, `${SEAL + 1} 0 obj\r`, header) }),
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

/** A document with a signature field whose value is an object that only the seal will add. */
function withField(): string {
  const catalog = bodyOf(plain, 1).replace(/ >>$/, ` /AcroForm << /SigFlags 3 /Fields [${SEAL} 0 R] >> >>`);
  const field = `<< /FT /Sig /T (Seal) /V ${FIELD} 0 R >>`;
  return writing({})(plain, [
    [1, catalog],
    [SEAL, field],
  ]);
}

/** Tails that end in a cross-reference stream, after documents that also end in one. */
function streams(): readonly TailRow[] {
  const original = bytesOf(streamed([[1, bodyOf(plain, 1)]]));
  const row = (name: string, odd: StreamWriting, expect: Expectation = structure): TailRow => [
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

/** An earlier signature whose signed range ends in the tail. */
function reachingIn(): Uint8Array {
  const signed = latin1(signPdf(document(), { signer: by.stranger, originalLength: "absent", reserve: 900 }));
  return bytesOf(
    signed.replace(/(\/ByteRange \[0 \d+ \d+ )(\d+)( *)\]/, (_, head: string, length: string, padding: string) =>
      `${head}${Number(length) + 100}`.padEnd(head.length + length.length + padding.length).concat("]"),
    ),
  );
}

/**
 * Seals that each break one rule from the last list of section 2.3, or from section 2.4, of docs/evidence-format.md.
 */
export function tailRules(): Made {
  const { add, put, made, slug } = collection("tail-rules");
  const rows: readonly TailRow[] = [
    ...tables(),
    ...streams(),
    ...tailLengths(),
    [
      "an earlier signature whose range ends in the tail",
      reachingIn(),
      {},
      structure,
      "No other signature's usable /ByteRange ends beyond the seal's first byte.",
    ],
    [
      "the seal's field listed twice",
      document(),
      {
        objects: (list) =>
          list.map(([number, body]) => [number, body.replace("/Fields [", `/Fields [${FIELD} 0 R `)] as const),
      },
      verified(),
      "A field that is listed twice is looked at once (2.6).",
    ],
    [
      "a value of odd digits",
      document(),
      { reserve: 900.5 },
      notCovered,
      "A /ByteRange that breaks a rule of section 2.3 is of no use (contents-not-hexadecimal).",
    ],
    ...["two spaces before the value", "a space behind the value", "as it should be"].map(
      (what, index): TailRow => [
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
  const good = latin1(oddSeal(document()));
  add({
    name: "a digit of the value that is none",
    kind: "sealed_pdf",
    files: {
      sealed: put(
        "a-digit-of-the-value-that-is-none.pdf",
        bytesOf(good.replace(/(\/Contents <[0-9a-f]{100})./, "$1g")),
      ),
    },
    expect: notCovered,
    teaches: "Its hexadecimal digits are that (contents-not-hexadecimal).",
  });
  for (const [name, original, options, expect, teaches] of rows) {
    const bytes = oddSeal(original, options);
    add({ name, kind: "sealed_pdf", files: { sealed: put(`${slug(name)}.pdf`, bytes) }, expect, teaches });
  }
  return made();
}

import { openDocument } from "@signsealship/evidence/pdf";
import { type PdfObject, withStream, withTable } from "./writer.ts";

/**
 * The service that seals the forger's documents. A forger needs no key of the service: with a partner's test key, a
 * forger can have any number of documents sealed. Rejects when the sealer refuses the document.
 */
export type SealForStrangers = (original: Buffer) => Promise<Buffer>;

/**
 * The sealed document as the service returned it, and the same signed bytes with the signature value in another place.
 */
export type MovedGap = { readonly genuine: Buffer; readonly forged: Buffer };

/** How the forger writes the signature dictionary around the new position of the value. */
export type Spelling = {
  /**
   * @param at where the dictionary begins; @param length the stated length of the original document, or null to state
   * none
   */
  readonly before: (at: number, length: number | null) => string;
  readonly behind: (range: readonly number[]) => string;
  /**
   * The number of zeros added to the padding after the signature value. No signature covers the length of this padding.
   */
  readonly padding?: number;
};

const HEAD = "9 0 obj\n<</Type/Sig/Filter/Adobe.PPKLite/SubFilter/ETSI.CAdES.detached/M(D:20260304050607Z)";
const numbers = (range: readonly number[]) => range.join(" ").padEnd(40);

/** Written exactly like the sealer's dictionary. Always states that the seal is a live passport. */
export const asTheSealer: Spelling = {
  before: (_, length) =>
    `${HEAD}/Reason(Proof passport)${length === null ? "" : `/SSSOriginalLength ${length}`}/Contents `,
  behind: (range) => `/ByteRange[${numbers(range)}]>>\nendobj\n`,
};

/** Other ways to write the dictionary, all of which readers accept. */
export const SPELLINGS: Readonly<Record<string, Spelling>> = {
  "with a space before the brackets": {
    ...asTheSealer,
    behind: (range) => `/ByteRange [ ${numbers(range)}] >>\nendobj\n`,
  },
  "with a comment between": {
    ...asTheSealer,
    behind: (range) => `/ByteRange%\n[%\n0 ${numbers(range.slice(1))}]>>\nendobj\n`,
  },
  "with escaped names": {
    before: (at, length) => asTheSealer.before(at, length).replace("/Contents", "/C#6fntents"),
    behind: (range) => asTheSealer.behind(range).replace("/ByteRange", "/#42yteRange"),
  },
  "with a line for each": {
    before: (at, length) => asTheSealer.before(at, length).replace("/Contents ", "/Contents\n"),
    behind: (range) => asTheSealer.behind(range).replace("/ByteRange", "\n/ByteRange\n"),
  },
  "with other padding": { ...asTheSealer, padding: 640 },
};

const MARK = "@@@ cargo @@@";
const SEAL_FIELD = "@field";
const PAGE = (contents: number, more = "") =>
  `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents ${contents} 0 R${more} >>`;
const text = (shown: string) => {
  const data = `BT /F1 18 Tf 72 720 Td (${shown}) Tj ET`;
  return `<< /Length ${data.length} >>\nstream\n${data}\nendstream`;
};
const BASE: readonly PdfObject[] = [
  [2, "<< /Type /Pages /Count 1 /Kids [4 0 R] >>"],
  [3, "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"],
  [5, text("Nothing to see here")],
  [8, text("I owe the bearer a million")],
];
const STANDARD = {
  1: "<< /Type /Catalog /Pages 2 0 R /AcroForm 6 0 R >>",
  4: PAGE(5),
  6: "<< /Fields 7 0 R /SigFlags 3 >>",
  7: "[]",
};
const FAKE_PAGE = PAGE(8).replaceAll(" /", "/");
const FAKE_CATALOG = `<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[ ${SEAL_FIELD} 0 R]>>>>`;
const FAKE_FIELDS = `[ ${SEAL_FIELD} 0 R]`;

/** A place from which the sealer copies the forger's text into its tail, after the signature value. */
type Carrier = {
  /**
   * The document with the forger's text. Object 4 is the page that the forger will replace, and object 9 is a signature
   * dictionary that does not exist yet.
   */
  readonly document: (cargo: string, decoyAt: number) => string;
  /**
   * The forger's own objects, keyed by object number. Once the signature value has moved, the newest section's offsets
   * point at them.
   */
  readonly fakes: Readonly<Record<number, string>>;
};

function carrier(changed: (cargo: string) => Readonly<Record<number, string>>, fakes: Carrier["fakes"]): Carrier {
  return {
    fakes,
    document: (cargo, decoyAt) => {
      const own = Object.entries({ ...STANDARD, ...changed(cargo) });
      const objects = [...BASE, ...own.map(([number, body]) => [Number(number), body] as const)];
      return withTable({ objects, elsewhere: { 9: decoyAt } });
    },
  };
}

/** Every place from which the sealer copies text into its tail. */
const CARRIERS: Readonly<Record<string, Carrier>> = {
  "a string in the page": carrier((cargo) => ({ 4: PAGE(5, ` /Note (${cargo})`) }), { 4: FAKE_PAGE }),
  "a string far below the page": carrier(
    (cargo) => ({ 4: PAGE(5, ` /PieceInfo << /A << /Private [[(${cargo})]] >> >>`) }),
    { 4: FAKE_PAGE },
  ),
  "an indirect /Annots": carrier((cargo) => ({ 4: PAGE(5, " /Annots 11 0 R"), 11: `[(${cargo})]` }), {
    11: FAKE_FIELDS,
  }),
  "an indirect /Fields": carrier((cargo) => ({ 4: PAGE(5, " /Annots 11 0 R"), 11: "[]", 7: `[(${cargo})]` }), {
    7: FAKE_FIELDS,
    11: FAKE_FIELDS,
  }),
  "the form's /DA": carrier((cargo) => ({ 6: `<< /Fields [] /DA (${cargo}) /SigFlags 3 >>` }), {
    4: FAKE_PAGE,
    6: `<</Fields[ ${SEAL_FIELD} 0 R]/SigFlags 3>>`,
  }),
  "a form in the catalog": carrier(
    (cargo) => ({ 1: `<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [] /DA (${cargo}) >> >>` }),
    { 1: FAKE_CATALOG, 4: FAKE_PAGE },
  ),
  "a string in the catalog": carrier((cargo) => ({ 1: `<< /Type /Catalog /Pages 2 0 R /Note (${cargo}) >>` }), {
    1: FAKE_CATALOG,
    4: FAKE_PAGE,
  }),
  "a page in an object stream": {
    fakes: { 4: FAKE_PAGE },
    document: (cargo, decoyAt) => {
      const own = Object.entries({ ...STANDARD, 4: PAGE(5, ` /Note (${cargo})`) });
      const objects = [...BASE, ...own.map(([number, body]) => [Number(number), body] as const)];
      return withStream({ objects, elsewhere: { 9: decoyAt } }, [4]);
    },
  },
};

type Measures = {
  readonly text: string;
  readonly gapStart: number;
  readonly gapEnd: number;
  readonly section: number;
  /** The objects that the newest section lists, with their offsets. */
  readonly entries: readonly { readonly number: number; readonly offset: number }[];
};

/** The values that anyone can measure in a given file. */
function measure(sealed: Buffer): Measures {
  const latin1 = sealed.toString("latin1");
  const ranges = [...latin1.matchAll(/\/ByteRange\[0 (\d+) (\d+) (\d+)/g)];
  // Finds the signature whose dictionary directly follows its value: the sealer's own. The forger's dictionary has no
  // value yet.
  const [, gapStart = 0, gapEnd = 0] = ranges.find(({ index, 2: end }) => index === Number(end))?.map(Number) ?? [];
  const { main } = openDocument(sealed).revisions[0] ?? {};
  const entries: { number: number; offset: number }[] = [];
  for (const subsection of main?.subsections ?? []) {
    for (let index = 0; index < subsection.count; index++) {
      const entry = main?.entryAt(subsection, index);
      if (entry?.type === "offset") entries.push({ number: subsection.first + index, offset: entry.offset });
    }
  }
  entries.sort((one, other) => one.offset - other.offset);
  return { text: latin1, gapStart, gapEnd, entries, section: main?.offset ?? 0 };
}

/**
 * The same signed bytes with the signature value at another position. `to` is an offset in the bytes without the value.
 */
function moved(sealed: Buffer, to: number, padding: number): Buffer {
  const { gapStart, gapEnd } = measure(sealed);
  const value = sealed.toString("latin1", gapStart, gapEnd - 1).padEnd(gapEnd - gapStart - 1 + padding, "0");
  const signed = Buffer.concat([sealed.subarray(0, gapStart), sealed.subarray(gapEnd)]);
  return Buffer.concat([signed.subarray(0, to), Buffer.from(`${value}>`, "latin1"), signed.subarray(to)]);
}

type Piece = { readonly at: number; readonly text: string };

/** A text of this length with each piece at its offset `at`, and spaces elsewhere. */
function stamped(length: number, pieces: readonly Piece[]): string {
  let made = "";
  for (const { at, text: piece } of pieces.toSorted((one, other) => one.at - other.at)) {
    if (at < made.length) throw new Error(`no room for ${piece.slice(0, 20)} at ${at}`);
    made = made.padEnd(at) + piece;
  }
  if (made.length > length) throw new Error("the cargo is too long");
  return made.padEnd(length);
}

const CARGO = 8000;
/**
 * The maximum number of documents that the service seals for the forger. After each one, the forger corrects the
 * numbers in the text to match the seal.
 */
const DRAFTS = 4;

/**
 * The forger's dictionary for offset `at` of the forged file, with the correct /ByteRange for that file. `place` is the
 * offset of the signature value.
 */
function decoy(sealed: Buffer, at: number, length: number | null, spelling: Spelling) {
  const { gapStart, gapEnd } = measure(sealed);
  const before = spelling.before(at, length);
  const place = at + before.length;
  const gap = gapEnd - gapStart;
  const range = [0, place, place + gap + (spelling.padding ?? 0), sealed.length - gap - place];
  return { place, text: before + spelling.behind(range) };
}

/**
 * Moves the value into the forger's text. The bytes between its old and new position then move toward the start of the
 * file. So the newest section's offsets point into the text, where the forger has placed other objects.
 */
async function moveIntoCopy(
  carried: Carrier,
  seal: SealForStrangers,
  spelling: Spelling = asTheSealer,
): Promise<MovedGap> {
  let cargo = MARK.padEnd(CARGO);
  let decoyAt = 1_000_000;
  let place = 0;
  let genuine: Buffer = Buffer.alloc(0);
  for (let draft = 0; draft < DRAFTS; draft++) {
    genuine = await seal(Buffer.from(carried.document(cargo, decoyAt), "latin1"));
    const { text: file, gapStart, gapEnd, entries } = measure(genuine);
    const cargoAt = file.indexOf(MARK, gapEnd);
    // The signature value moves toward the end of the file. The bytes that it jumps over move toward the start, by the
    // gap's length.
    const gap = gapEnd - gapStart;
    const field = entries[1]?.number;
    const pieces: Piece[] = [{ at: 0, text: MARK }];
    for (const { number, offset } of entries.slice(1)) {
      if (offset > cargoAt) continue;
      const body = number === field ? "<</FT/Sig/T(x)/V 9 0 R>>" : (carried.fakes[number] ?? "null");
      const own = body.replaceAll(SEAL_FIELD, String(field));
      pieces.push({ at: offset + gap - cargoAt, text: `${number} 0 obj${own}endobj ` });
    }
    const last = pieces.reduce((one, other) => (other.at > one.at ? other : one));
    const start = last.at + last.text.length + 1;
    decoyAt = cargoAt + start - gap;
    const { place: found, text: dictionary } = decoy(genuine, decoyAt, decoyAt, spelling);
    place = found;
    pieces.push({ at: start - 1, text: `\n${dictionary}` });
    cargo = stamped(CARGO, pieces);
  }
  return { genuine, forged: moved(genuine, place, spelling.padding ?? 0) };
}

/** Moves the value into the first string of the trailer's /ID. Readers then find another newest section. */
export async function moveIntoId(seal: SealForStrangers, spelling: Spelling = asTheSealer): Promise<MovedGap> {
  const own = Object.entries(STANDARD).map(([number, body]) => [Number(number), body] as const);
  let cargo = MARK.padEnd(CARGO);
  let place = 0;
  let genuine: Buffer = Buffer.alloc(0);
  for (let draft = 0; draft < DRAFTS; draft++) {
    const original = withTable({ objects: [...BASE, ...own], trailer: ` /ID [(${cargo}) (b)]` });
    genuine = await seal(Buffer.from(original, "latin1"));
    const { text: file, gapStart, gapEnd, section, entries } = measure(genuine);
    const field = entries[1]?.number ?? 0;
    const cargoAt = file.indexOf(MARK, gapEnd);
    // A negative position means that the sealer did not copy the forger's text into its tail.
    if (cargoAt < 0) break;
    const gap = gapEnd - gapStart;
    const at = section + gap - cargoAt;
    const offsets = new Map<number, number>();
    const first = section + 600;
    let fakes = "";
    for (const [number, body] of [
      [field, "<</FT/Sig/T(x)/V 9 0 R>>"] as const,
      [7, `[${field} 0 R]`] as const,
      [4, FAKE_PAGE] as const,
    ]) {
      offsets.set(number, first + fakes.length);
      fakes += `${number} 0 obj${body}endobj\n`;
    }
    offsets.set(9, first + fakes.length);
    const rows = [...offsets].map(([number, offset]) => `${number} 1\n${String(offset).padStart(10, "0")} 00000 n \n`);
    const previous = /startxref\n(\d+)/.exec(original)?.[1];
    // If a dictionary states the original's length, a section must follow the dictionary. So this dictionary states no
    // length.
    const { place: found, text: dictionary } = decoy(genuine, first + fakes.length, null, spelling);
    place = found;
    cargo = stamped(CARGO, [
      { at: 0, text: MARK },
      { at, text: `xref\n${rows.join("")}trailer\n<</Size ${field + 1}/Root 1 0 R/Prev ${previous}>>\n` },
      { at: at + 600, text: fakes + dictionary },
    ]);
  }
  return { genuine, forged: moved(genuine, place, spelling.padding ?? 0) };
}

/**
 * Moves the value into the text after the document's own last `startxref`. Everything after that text then moves toward
 * the end of the file.
 */
async function moveBehindStartxref(seal: SealForStrangers, spelling: Spelling = asTheSealer): Promise<MovedGap> {
  const own = Object.entries({ ...STANDARD, 7: "[10 0 R]" }).map(([number, body]) => [Number(number), body] as const);
  const objects = [...BASE, ...own];
  const start = withTable({ objects, elsewhere: { 9: 0, 10: 0 } }).length;
  // A harmless text field in the sealed file. Once the bytes before it grow by the gap's length, the field's offset
  // points to other text.
  const harmless: Piece = { at: CARGO - 200, text: "10 0 obj<</FT/Tx/T(x)>> " };
  let pieces = [harmless];
  let place = 0;
  let genuine: Buffer = Buffer.alloc(0);
  for (let draft = 0; draft < DRAFTS; draft++) {
    const behind = `${stamped(CARGO - 1, pieces)}\n`;
    const elsewhere = { 9: start + 1, 10: start + harmless.at };
    genuine = await seal(Buffer.from(withTable({ objects, elsewhere, behind }), "latin1"));
    const { gapStart, gapEnd, entries } = measure(genuine);
    const gap = gapEnd - gapStart + (spelling.padding ?? 0);
    const { place: found, text: dictionary } = decoy(genuine, start + 1, start + 1, spelling);
    place = found;
    pieces = [
      harmless,
      // Without "endobj", because the sealer would otherwise take the text for a lost revision.
      { at: 0, text: `\n${dictionary.replace("endobj", "")}` },
      { at: harmless.at - gap, text: "10 0 obj<</FT/Sig/T(x)/V 9 0 R>> " },
      { at: CARGO - gap, text: `${entries[0]?.number} 0 obj null ` },
    ];
  }
  return { genuine, forged: moved(genuine, place, spelling.padding ?? 0) };
}

/**
 * All forgers that find a position for the value. A forger that needs a long /ID finds none, because the sealer no
 * longer copies a long /ID.
 */
export const FORGERS: Readonly<Record<string, (seal: SealForStrangers, spelling?: Spelling) => Promise<MovedGap>>> = {
  ...Object.fromEntries(
    Object.entries(CARRIERS).map(([name, carried]) => [
      name,
      (seal: SealForStrangers, spelling?: Spelling) => moveIntoCopy(carried, seal, spelling),
    ]),
  ),
  "behind the last startxref": moveBehindStartxref,
};

import fc from "fast-check";

/** A change near a keyword of the structure. Random positions would mostly hit text that no reader parses. */
export type Edit = {
  readonly word: string;
  /** The change is `offset` characters after the start of the word's occurrence number `nth`. */
  readonly nth: number;
  readonly offset: number;
  readonly kind: "replace" | "insert" | "remove" | "repeat" | "cut";
  readonly text: string;
  readonly length: number;
};

const WORDS =
  "xref trailer startxref endobj obj stream /Kids /Fields /V /P /Prev /Size /Length /W /Index /Root /Encrypt /Type /FT /Reference /Lock /N /First /XRefStm /T /DecodeParms /Perms /ByteRange".split(
    " ",
  );
const TEXTS = [
  "0",
  "1",
  "2",
  "9",
  "-",
  ".",
  " ",
  "\n",
  "/",
  "(",
  ")",
  "<",
  ">",
  "[",
  "]",
  "R",
  "%",
  "#",
  "null",
  "<<",
  ">>",
  "/P 1 ",
  "/FT /Sig ",
  "4 0 R ",
  "65535",
  "\\",
];

const edit: fc.Arbitrary<Edit> = fc.record({
  word: fc.constantFrom(...WORDS),
  nth: fc.nat(99),
  offset: fc.nat(40),
  kind: fc.constantFrom("replace", "replace", "insert", "insert", "remove", "repeat", "cut"),
  text: fc.constantFrom(...TEXTS),
  length: fc.integer({ min: 1, max: 12 }),
});

export const edits: fc.Arbitrary<readonly Edit[]> = fc.array(edit, { minLength: 1, maxLength: 3 });

function placesOf(text: string, word: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) places.push(at);
  return places;
}

function editedOnce(text: string, { word, nth, offset, kind, text: added, length }: Edit): string {
  const places = placesOf(text, word);
  const place = places[nth % Math.max(1, places.length)];
  if (place === undefined) return text;
  const at = place + offset;
  const [before, behind] = [text.slice(0, at), text.slice(at)];
  if (kind === "replace") return before + added + behind.slice(added.length);
  if (kind === "insert") return before + added + behind;
  if (kind === "remove") return before + behind.slice(length);
  if (kind === "repeat") return before + behind.slice(0, length) + behind;
  // Truncates the file at this position, like an interrupted copy. Used for only one edit in eight, because readers
  // parse little of such files.
  return nth % 8 === 0 ? before : text;
}

/** The file after all of these changes, in order. */
export function edited(bytes: Uint8Array, list: readonly Edit[]): Uint8Array {
  const text = list.reduce(editedOnce, Buffer.from(bytes).toString("latin1"));
  return Uint8Array.from(Buffer.from(text, "latin1"));
}

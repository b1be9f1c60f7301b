import { type Blank, endOf } from "./blanks.ts";
import { isSentence } from "./execution.ts";
import { type Found, isExplicit, type PageWords } from "./labels.ts";
import { kindOfLabel, measures, subjects } from "./patterns.ts";
import type { Run } from "./runs.ts";

/** The feature by which a place was recognized. */
export const reasons = [
  "own_field",
  "label_in_box",
  "label_left",
  "label_below",
  "label_right",
  "label_above",
  "column_heading",
  "initials_list",
  "signer_block",
  "like_others",
  "label_alone",
] as const;
export type Reason = (typeof reasons)[number];

/** A blank, or a part of one, and the words that ask for it. */
export type Piece = { readonly blank: Blank; readonly found: Found; readonly reason: Reason };

const isMark = ({ found: { kind } }: Piece): boolean => kind === "signature" || kind === "initials";

/**
 * Drops blanks that look like those of signers, but are for other people or for other entries.
 *
 * For example, empty cells of a ledger have headings too. So a cell for a date or a name stays only if a signature or
 * initials are near it. A date below a column's heading stays only if a signature or initials are on the date's own
 * row.
 */
export function ofSigners(pieces: readonly Piece[], page: PageWords): Piece[] {
  const signed = pieces.filter((piece) => !isNameOf(piece, pieces) && !isRowOfOthers(piece.blank, page));
  const marks = signed.filter(isMark);
  const sentences = page.words.filter(isSentence);
  const isOfSigner = (piece: Piece, mark: Piece) =>
    piece.found.kind === "name" || !isApart(mark.blank, piece.blank, sentences);
  return signed.filter((piece) => {
    const { blank, found, reason } = piece;
    if (found.kind !== "date" && found.kind !== "name") return true;
    if (isOthers(blank, pieces)) return false;
    if (!blank.box && (found.kind === "name" || marks.length === 0)) return true;
    if (found.kind === "date" && reason === "column_heading")
      return marks.some((mark) => isOnRow(mark.blank, blank) && isOfRow(mark, blank, page));
    const max = blank.box ? measures.cellsOfSigner : measures.dateOfSigner;
    return marks.some((mark) => Math.abs(mark.blank.y - blank.y) < max && isOfSigner(piece, mark));
  });
}

/** True if an earlier cell of this cell's row names a witness or an office. */
const isRowOfOthers = ({ box }: Blank, { words }: PageWords): boolean =>
  box !== null &&
  words.some(
    (run) =>
      run.y > box.y && run.y <= box.y + box.height && endOf(run) <= box.x + 2 && kindOfLabel(run.text) === "notary",
  );

const isOnRow = (a: Blank, b: Blank): boolean => Math.abs(a.y - b.y) < 10;

/**
 * True if a blank with a party's name as its label asks for that name, because the party signs elsewhere. The party
 * signs in another cell of the same row or, if the form is about this party, anywhere on the page.
 */
function isNameOf({ blank, found }: Piece, pieces: readonly Piece[]): boolean {
  if (found.kind !== "signature" || isExplicit(found.label)) return false;
  const others = pieces.filter((other) => other.found.kind === "signature" && isExplicit(other.found.label));
  if (!blank.box) return subjects.test(found.label) && others.some(({ found: { label } }) => /\bsign/i.test(label));
  return others.some((other) => other.blank.box && isOnRow(other.blank, blank));
}

/**
 * True if a sentence is between a date and a signature. Then the date is an entry in the text, not the date of signing.
 */
const isApart = (mark: Blank, date: Blank, sentences: readonly Run[]): boolean =>
  sentences.some(({ y }) => y > Math.min(mark.y, date.y) + 3 && y < Math.max(mark.y, date.y) - 3);

/**
 * True if a date on the row of a signature or initials is the date of signing. In a table, a date on a row of initials
 * is an entry that the initials confirm.
 */
const isOfRow = ({ blank, found }: Piece, date: Blank, { content }: PageWords): boolean => {
  const [left, right] = blank.x < date.x ? [blank, date] : [date, blank];
  const between = content.boxes.filter(
    (box) => box.x >= endOf(left) - 2 && endOf(box) <= right.x + 2 && date.y > box.y && date.y < box.y + box.height,
  );
  return found.kind === "signature" || between.length < 2;
};

/** True if a blank is for the date or name of a witness or an office. */
const isOthers = (other: Blank, pieces: readonly Piece[]): boolean => signerOf(other, pieces)?.found.kind === "notary";

/**
 * For a blank for a date or name: the place where the same person signs. It is the nearest place to sign on the left
 * or, if there is none, above.
 */
export function signerOf(other: Blank, pieces: readonly Piece[]): Piece | undefined {
  const { x, y } = other;
  const signed = pieces.filter(({ found: { kind } }) => kind === "signature" || kind === "notary");
  const onRow = signed
    .filter(({ blank }) => isOnRow(blank, other) && endOf(blank) <= x + 2)
    .sort((a, b) => endOf(b.blank) - endOf(a.blank));
  const above = signed
    .filter(({ blank }) => blank.y < y - 4 && y - blank.y < 60 && Math.abs(blank.x - x) < 40)
    .sort((a, b) => b.blank.y - a.blank.y);
  return onRow[0] ?? above[0];
}

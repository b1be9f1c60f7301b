import type { Blank } from "./blanks.ts";
import { hasWords } from "./captions.ts";
import type { OwnField } from "./content.ts";
import { isInPart, type Part } from "./execution.ts";
import { ofBlank } from "./label-of-blank.ts";
import { type Found, isExplicit, type PageWords } from "./labels.ts";
import { kindOfLabel, measures, witnessWords } from "./patterns.ts";
import { type Piece, signerOf } from "./pieces.ts";

/** The role of people who sign as witnesses. */
export const witness = "Witness";

/**
 * The blanks of witnesses: blanks whose labels name a witness, dates and names next to those, and all blanks below a
 * heading such as "Witnesses:".
 * @param parts the parts of the page below such headings
 */
export function piecesOfWitnesses(blanks: readonly Blank[], page: PageWords, parts: readonly Part[]): Piece[] {
  const pieces = blanks.flatMap((blank): Piece[] => {
    const own = ofBlank(blank, page);
    if (own.length > 0 || !isLineToSign(blank, page) || !isInPart(blank, parts)) return own;
    return [{ blank, found: { label: witness, kind: "notary" }, reason: "like_others" }];
  });
  const named = (piece: Piece | undefined) => piece?.found.kind === "notary" && asWitness(piece.found) !== null;
  return pieces.flatMap((piece): Piece[] => {
    const { blank, found } = piece;
    if (found.kind === "notary") {
      const own = asWitness(found);
      return own ? [{ ...piece, found: own }] : [];
    }
    if (isInPart(blank, parts)) return [piece];
    return (found.kind === "date" || found.kind === "name") && named(signerOf(blank, pieces)) ? [piece] : [];
  });
}

const isLineToSign = (blank: Blank, page: PageWords): boolean =>
  blank.box === null && blank.width >= measures.minSignature && !hasWords(blank, page);

/** The field that a witness's label asks for; null if the label names no witness, or if no kind of field fits. */
function asWitness({ label }: Found): Found | null {
  const rest = withoutWitness(label);
  if (rest === null) return null;
  const kind = rest === "" || isExplicit(rest) ? "signature" : kindOfLabel(rest);
  return kind === null || kind === "notary" || kind === "other" ? null : { label, kind };
}

/** The label without its words for a witness: "Signature" for "Signature of Witness"; null without such words. */
function withoutWitness(label: string): string | null {
  if (!witnessWords.test(label)) return null;
  return label
    .replace(witnessWords, " ")
    .replace(/[()#:_]+/g, " ")
    .trim()
    .replace(/\s+(?:of|by|del?)$/i, "");
}

/**
 * The document's own field for a witness, with the name of a signer's field: "Signature" for "Signature of Witness".
 * Empty for any other field.
 */
export function ofWitness(field: OwnField): OwnField[] {
  const label = field.name.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/[._\-[\]#]+/g, " ");
  const rest = withoutWitness(label);
  return rest === null ? [] : [{ ...field, name: rest === "" ? "Name" : rest }];
}

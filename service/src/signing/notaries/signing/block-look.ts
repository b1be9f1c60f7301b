import type { Typeset } from "@signsealship/certificate";
import type { Size } from "../../../kernel/pdf/blank-place.ts";
import { PdfRefusal } from "../../../kernel/pdf/refusal.ts";
import { maxSignature } from "../uploads/visible-place.ts";

/** The usual width of a notary's block, and the margin within it, in points. */
export const blockLook = { width: 290, inset: 5 } as const;
/**
 * The width and height, in points, of the square for a seal's picture. The square is to the right of the block's words.
 */
export const sealSide = 84;
const size = 8;
const leading = 11;
const minPoints = 4;
const { width, inset } = blockLook;

const linesOf = (typeset: Typeset, lines: readonly string[], across: number, points: number) =>
  lines.flatMap((text) => typeset(text, (1000 * (across - 2 * inset)) / points).lines);

const acrossOf = (hasSeal: boolean, whole: number): number => (hasSeal ? whole - sealSide - inset : whole);

/**
 * The height that a block needs for its words at their normal size. Never more than the height that the check of a
 * notary's additions to the document accepts.
 */
export function heightOf(typeset: Typeset, lines: readonly string[], hasSeal: boolean): number {
  const words = linesOf(typeset, lines, acrossOf(hasSeal, width), size).length * leading;
  return Math.min(Math.max(words, hasSeal ? sealSide : 0) + 2 * inset, maxSignature.height);
}

/**
 * Fits the words into a reserved block. Reduces the font size if the words became too long after the block was
 * reserved.
 * @throws PdfRefusal when the words don't fit even at the smallest size
 */
export function fitted(typeset: Typeset, lines: readonly string[], { width: whole, height }: Size, hasSeal: boolean) {
  const across = acrossOf(hasSeal, whole);
  for (let points = size; ; points -= 0.5) {
    const step = (leading / size) * points;
    const rows = linesOf(typeset, lines, across, points);
    if (rows.length * step + 2 * inset <= height) return { rows, points, step };
    if (points <= minPoints)
      throw new PdfRefusal("too_complex", "the text of the act does not fit into the block that was reserved for it");
  }
}

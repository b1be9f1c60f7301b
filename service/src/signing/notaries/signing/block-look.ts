import type { Typeset } from "@signsealship/certificate";
import { PdfRefusal } from "../../../kernel/pdf/refusal.ts";
import { mostSignature } from "../uploads/visible-place.ts";

/** In points. */
export const blockLook = { width: 290, inset: 5 } as const;
/** The side of the square that a seal's picture is drawn in, to the right of the words. */
export const sealSide = 84;
const size = 8;
const leading = 11;
const leastPoints = 4;
const { width, inset } = blockLook;

export type Size = { readonly width: number; readonly height: number };

const linesOf = (typeset: Typeset, lines: readonly string[], across: number, points: number) =>
  lines.flatMap((text) => typeset(text, (1000 * (across - 2 * inset)) / points).lines);

const acrossOf = (hasSeal: boolean, whole: number): number => (hasSeal ? whole - sealSide - inset : whole);

/** The words as large as they are meant to be, if the check of what is added lets the block be so high. */
export function heightOf(typeset: Typeset, lines: readonly string[], hasSeal: boolean): number {
  const words = linesOf(typeset, lines, acrossOf(hasSeal, width), size).length * leading;
  return Math.min(Math.max(words, hasSeal ? sealSide : 0) + 2 * inset, mostSignature.height);
}

/** A block that was reserved may be too small for what was written since: smaller letters then. @throws PdfRefusal when the smallest do not fit */
export function fitted(typeset: Typeset, lines: readonly string[], { width: whole, height }: Size, hasSeal: boolean) {
  const across = acrossOf(hasSeal, whole);
  for (let points = size; ; points -= 0.5) {
    const step = (leading / size) * points;
    const rows = linesOf(typeset, lines, across, points);
    if (rows.length * step + 2 * inset <= height) return { rows, points, step };
    if (points <= leastPoints)
      throw new PdfRefusal("too_complex", "what the act says has no room in the block that was reserved for it");
  }
}

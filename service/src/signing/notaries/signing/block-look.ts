import type { Typeset } from "@signsealship/certificate";
import { PdfRefusal } from "../../../kernel/pdf/refusal.ts";

/** In points. */
export const blockLook = { width: 290, inset: 5 } as const;
const size = 8;
const leading = 11;
const leastPoints = 4;
const { width, inset } = blockLook;

export type Size = { readonly width: number; readonly height: number };

const linesOf = (typeset: Typeset, lines: readonly string[], across: number, points: number) =>
  lines.flatMap((text) => typeset(text, (1000 * (across - 2 * inset)) / points).lines);

export const heightOf = (typeset: Typeset, lines: readonly string[]): number =>
  linesOf(typeset, lines, width, size).length * leading + 2 * inset;

/** A block that was reserved may be too small for what was written since: smaller letters then. @throws PdfRefusal when the smallest do not fit */
export function fitted(typeset: Typeset, lines: readonly string[], { width: across, height }: Size) {
  for (let points = size; ; points -= 0.5) {
    const step = (leading / size) * points;
    const rows = linesOf(typeset, lines, across, points);
    if (rows.length * step + 2 * inset <= height) return { rows, points, step };
    if (points <= leastPoints)
      throw new PdfRefusal("too_complex", "what the act says has no room in the block that was reserved for it");
  }
}

import type { SvgPathCommand } from "harfbuzzjs";
import type { Cluster } from "../typeset.ts";
import type { Glyph, Point } from "./true-type.ts";

/**
 * How a document draws a cluster (characters that are shaped together): the number of the font, the cluster's code in
 * that font, and its width.
 */
type GlyphCode = { font: number; code: number; width: number };

/**
 * One font of a document. Each glyph is the outline of a whole cluster (the characters that are shaped together). The
 * index of a glyph is its code. At the same index, `toUnicode` has the cluster's characters. Code 0 is unused.
 */
export type GlyphFont = { name: string; glyphs: Glyph[]; toUnicode: string[] };

/**
 * Collects the clusters (characters that are shaped together) in a document's text, and assigns each a code in a font.
 */
export type GlyphFonts = { codeOf: (cluster: Cluster) => GlyphCode; fonts: readonly GlyphFont[] };

const styles = { regular: "Regular", semibold: "SemiBold" } as const;

export function createGlyphFonts(): GlyphFonts {
  const fonts: GlyphFont[] = [];
  const codes = new Map<string, GlyphCode>();
  const fontOf = (name: string): number => {
    const existing = fonts.findIndex((font) => font.name === name);
    if (existing >= 0) return existing;
    return fonts.push({ name, glyphs: [{ advance: 0, contours: [] }], toUnicode: [""] }) - 1;
  };
  return {
    fonts,
    codeOf(cluster) {
      const { face, weight, parts, text } = cluster;
      const shapes = parts.map(({ id, x, y }) => `${id},${Math.round(x)},${Math.round(y)}`).join(";");
      // The text is part of the key. Two characters with the same shape therefore get two codes, and searching and
      // copying return the right character.
      const key = `${face.id}/${weight}/${shapes}/${text}`;
      const existing = codes.get(key);
      if (existing) return existing;
      const number = fontOf(`${face.name}-${styles[weight]}`);
      const { glyphs, toUnicode } = fonts[number] as GlyphFont;
      const width = Math.round(cluster.advance);
      const code = { font: number, code: glyphs.length, width };
      glyphs.push({ advance: width, contours: contoursOf(cluster) });
      toUnicode.push(text);
      codes.set(key, code);
      return code;
    },
  };
}

function contoursOf({ face, weight, parts }: Cluster): Point[][] {
  const scale = 1000 / face.upem;
  return parts.flatMap(({ id, x, y }) => contours(face.fonts[weight].glyphToJson(id), { scale, x, y }));
}

/** The contours of an outline of quadratic curves. All fonts of this package use only quadratic curves. */
function contours(commands: SvgPathCommand[], at: { scale: number; x: number; y: number }): Point[][] {
  const found: Point[][] = [];
  const point = (x: number, y: number, on: boolean): Point => ({
    x: Math.round(at.x + x * at.scale),
    y: Math.round(at.y + y * at.scale),
    on,
  });
  for (const { type, values } of commands) {
    const [a = 0, b = 0, c = 0, d = 0] = values;
    const contour = found.at(-1);
    if (type === "M") found.push([point(a, b, true)]);
    else if (type === "L") contour?.push(point(a, b, true));
    else if (type === "Q") contour?.push(point(a, b, false), point(c, d, true));
    else if (type === "C") throw new Error("an outline has cubic curves: it is not of a TrueType font");
    else if (contour && contour.length > 1) closeUp(contour);
  }
  return found;
}

function closeUp(contour: Point[]): void {
  const [first, last] = [contour[0], contour.at(-1)];
  if (first && last?.on && first.x === last.x && first.y === last.y) contour.pop();
}

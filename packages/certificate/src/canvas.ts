import { type GlyphFont, type GlyphFonts, toUnicodeMap } from "./glyph-fonts.ts";
import type { ObjectWriter } from "./pdf-file.ts";
import type { Line } from "./typeset.ts";

/** Red, green and blue as `#rrggbb`. */
export type Colour = `#${string}`;

/** Collects what is drawn as operators of a content stream (ISO 32000-2 section 8.2). Lengths are in points, y goes up. */
export type Canvas = {
  text: (line: Line, x: number, baseline: number, size: number, colour: Colour) => void;
  rectangle: (x: number, y: number, width: number, height: number, colour: Colour) => void;
  /** Path operators in a coordinate system of its own, with its origin at x, y. */
  drawing: (x: number, y: number, scale: number, operators: string) => void;
  operators: () => string;
};

const short = (value: number): string => String(Math.round(value * 100) / 100);

export function colourOperands(colour: Colour): string {
  const part = (at: number) => short(Number.parseInt(colour.slice(at, at + 2), 16) / 255);
  return `${part(1)} ${part(3)} ${part(5)}`;
}

/** @param glyphs the fonts that its text is drawn with, which other canvases may share */
export function createCanvas(glyphs: GlyphFonts): Canvas {
  const operators: string[] = [];
  const put = (text: string) => operators.push(text);
  return {
    text(line, x, baseline, size, colour) {
      const at = `1 0 0 1 ${short(x)} ${short(baseline)} Tm`;
      put(`BT ${colourOperands(colour)} rg ${at}\n${showing(glyphs, line, size)} ET`);
    },
    rectangle(x, y, width, height, colour) {
      put(`${colourOperands(colour)} rg ${short(x)} ${short(y)} ${short(width)} ${short(height)} re f`);
    },
    drawing(x, y, scale, path) {
      put(`q ${short(scale)} 0 0 ${short(scale)} ${short(x)} ${short(y)} cm ${path} Q`);
    },
    operators: () => operators.join("\n"),
  };
}

function showing(glyphs: GlyphFonts, { clusters }: Line, size: number): string {
  const out: string[] = [];
  let font = -1;
  let ahead = 0;
  let shown = "";
  const flush = () => {
    if (shown !== "") out.push(`[${shown}]TJ`);
    shown = "";
  };
  for (const cluster of clusters) {
    const code = glyphs.codeOf(cluster);
    if (code.font !== font) {
      flush();
      out.push(`/F${code.font} ${size} Tf`);
      font = code.font;
    }
    const back = Math.round(ahead);
    if (back !== 0) shown += back;
    shown += `<${code.code.toString(16).padStart(2, "0")}>`;
    ahead += code.width - cluster.advance - back;
  }
  flush();
  return out.join(" ");
}

/**
 * Writes the fonts of canvases.
 * @param more further entries of the dictionary, as they are written
 * @returns the reference of their resource dictionary
 */
export function addResources(to: ObjectWriter, { fonts }: GlyphFonts, more = ""): string {
  const named = fonts.map((font, index) => `/F${index} ${addFont(to, font)}`).join("");
  return to.add(`<</Font<<${named}>>${more}>>`);
}

function addFont(to: ObjectWriter, font: GlyphFont): string {
  const names = font.procedures.map((_, code) => `/g${code}`).join("");
  const procedures = font.procedures.map((procedure, code) => `/g${code} ${to.stream("", procedure)}`).join("");
  const map = to.stream("", toUnicodeMap(font));
  return to.add(
    `<</Type/Font/Subtype/Type3/FontBBox[0 0 0 0]/FontMatrix[.001 0 0 .001 0 0]/FirstChar 0` +
      `/LastChar ${font.widths.length - 1}/Widths[${font.widths.join(" ")}]/CharProcs<<${procedures}>>` +
      `/Encoding<</Type/Encoding/Differences[0${names}]>>/Resources<<>>/ToUnicode ${map}>>`,
  );
}

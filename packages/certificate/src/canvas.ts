import type { GlyphFonts } from "./fonts/glyph-fonts.ts";
import { codeHex } from "./fonts/objects.ts";
import type { Line } from "./typeset.ts";

/** Red, green and blue as `#rrggbb`. */
export type Color = `#${string}`;

/**
 * Records drawing as operators of a content stream (ISO 32000-2 section 8.2). Lengths are in points; y grows upward.
 */
export type Canvas = {
  text: (line: Line, x: number, baseline: number, size: number, color: Color) => void;
  rectangle: (x: number, y: number, width: number, height: number, color: Color) => void;
  /** Draws path operators in a scaled coordinate system whose origin is at x, y. */
  drawing: (x: number, y: number, scale: number, operators: string) => void;
  operators: () => string;
};

const short = (value: number): string => String(Math.round(value * 100) / 100);

export function colorOperands(color: Color): string {
  const part = (at: number) => short(Number.parseInt(color.slice(at, at + 2), 16) / 255);
  return `${part(1)} ${part(3)} ${part(5)}`;
}

/**
 * Creates an empty canvas.
 * @param glyphs the fonts to draw text with; several canvases may share them
 */
export function createCanvas(glyphs: GlyphFonts): Canvas {
  const operators: string[] = [];
  const put = (text: string) => operators.push(text);
  return {
    text(line, x, baseline, size, color) {
      const at = `1 0 0 1 ${short(x)} ${short(baseline)} Tm`;
      put(`BT ${colorOperands(color)} rg ${at}\n${showing(glyphs, line, size)} ET`);
    },
    rectangle(x, y, width, height, color) {
      put(`${colorOperands(color)} rg ${short(x)} ${short(y)} ${short(width)} ${short(height)} re f`);
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
  let [shown, codes] = ["", ""];
  const flush = () => {
    if (codes !== "") out.push(`[${shown}<${codes}>]TJ`);
    [shown, codes] = ["", ""];
  };
  for (const cluster of clusters) {
    const code = glyphs.codeOf(cluster);
    if (code.font !== font) {
      flush();
      out.push(`/F${code.font} ${size} Tf`);
      font = code.font;
    }
    const back = Math.round(ahead);
    if (back !== 0) {
      shown += codes === "" ? back : `<${codes}>${back}`;
      codes = "";
    }
    codes += codeHex(code.code);
    ahead += code.width - cluster.advance - back;
  }
  flush();
  return out.join(" ");
}

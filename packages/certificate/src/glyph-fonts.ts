import type { SvgPathCommand } from "harfbuzzjs";
import type { Cluster } from "./typeset.ts";

/** A cluster's place in the fonts of a document: the number of the font, the code in it, the width there. */
type GlyphCode = { font: number; code: number; width: number };

/**
 * One Type 3 font (ISO 32000-2 section 9.6.4). Each of its glyphs is the outline of a cluster, however many glyphs that was:
 * so text of any script is drawn as it was shaped, and every code has the characters that it stands for.
 */
export type GlyphFont = { widths: number[]; procedures: string[]; toUnicode: string[] };

/** Collects what a document's text consists of. */
export type GlyphFonts = { codeOf: (cluster: Cluster) => GlyphCode; fonts: readonly GlyphFont[] };

const perFont = 256;

export function createGlyphFonts(): GlyphFonts {
  const fonts: GlyphFont[] = [];
  const codes = new Map<string, GlyphCode>();
  return {
    fonts,
    codeOf(cluster) {
      const { face, weight, parts, text } = cluster;
      const shapes = parts.map(({ id, x, y }) => `${id},${Math.round(x)},${Math.round(y)}`).join(";");
      // The text is part of the key: a shape that two characters share is two codes, so that each is found and copied.
      const key = `${face.id}/${weight}/${shapes}/${text}`;
      const known = codes.get(key);
      if (known) return known;
      let font = fonts.at(-1);
      if (!font || font.widths.length === perFont) {
        font = { widths: [], procedures: [], toUnicode: [] };
        fonts.push(font);
      }
      const width = Math.round(cluster.advance);
      const code = { font: fonts.length - 1, code: font.widths.length, width };
      font.widths.push(width);
      font.procedures.push(procedureOf(cluster, width));
      font.toUnicode.push(text);
      codes.set(key, code);
      return code;
    },
  };
}

type Box = { left: number; bottom: number; right: number; top: number };

function procedureOf({ face, weight, parts }: Cluster, width: number): string {
  const box = { left: 0, bottom: 0, right: 0, top: 0 };
  const scale = 1000 / face.upem;
  const path = parts.flatMap(({ id, x, y }) => outline(face.fonts[weight].glyphToJson(id), { scale, x, y }, box));
  const { left, bottom, right, top } = box;
  const paint = path.length > 0 ? ` ${path.join(" ")} f` : "";
  return `${width} 0 ${left} ${bottom} ${right} ${top} d1${paint}`;
}

/** Path operators of an outline; quadratic curves become cubic ones. Widens the box. */
function outline(commands: SvgPathCommand[], at: { scale: number; x: number; y: number }, box: Box): string[] {
  const path: string[] = [];
  let [x0, y0] = [0, 0];
  const point = (x: number, y: number): string => {
    const [px, py] = [Math.round(at.x + x * at.scale), Math.round(at.y + y * at.scale)];
    box.left = Math.min(box.left, px);
    box.bottom = Math.min(box.bottom, py);
    box.right = Math.max(box.right, px);
    box.top = Math.max(box.top, py);
    return `${px} ${py}`;
  };
  for (const { type, values } of commands) {
    const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = values;
    if (type === "M") path.push(`${point(a, b)} m`);
    else if (type === "L") path.push(`${point(a, b)} l`);
    else if (type === "C") path.push(`${point(a, b)} ${point(c, d)} ${point(e, f)} c`);
    else if (type === "Q") {
      const first = point(x0 + (2 / 3) * (a - x0), y0 + (2 / 3) * (b - y0));
      const second = point(c + (2 / 3) * (a - c), d + (2 / 3) * (b - d));
      path.push(`${first} ${second} ${point(c, d)} c`);
    } else path.push("h");
    if (type === "C") [x0, y0] = [e, f];
    else if (type === "Q") [x0, y0] = [c, d];
    else if (type !== "Z") [x0, y0] = [a, b];
  }
  return path;
}

/** The CMap that gives the glyphs of a font back their characters (section 9.10.3). */
export function toUnicodeMap({ toUnicode }: GlyphFont): string {
  const entries = toUnicode.map((text, code) => `<${code.toString(16).padStart(2, "0")}> <${utf16Hex(text)}>`);
  const blocks: string[] = [];
  for (let at = 0; at < entries.length; at += 100) {
    const block = entries.slice(at, at + 100);
    blocks.push(`${block.length} beginbfchar\n${block.join("\n")}\nendbfchar`);
  }
  return `/CIDInit /ProcSet findresource begin
12 dict begin
begincmap
/CIDSystemInfo <</Registry (Adobe) /Ordering (UCS) /Supplement 0>> def
/CMapName /Adobe-Identity-UCS def
/CMapType 2 def
1 begincodespacerange
<00> <ff>
endcodespacerange
${blocks.join("\n")}
endcmap
CMapName currentdict /CMap defineresource pop
end
end`;
}

/** UTF-16BE as hexadecimal digits. */
function utf16Hex(text: string): string {
  let hex = "";
  for (let at = 0; at < text.length; at++) hex += text.charCodeAt(at).toString(16).padStart(4, "0");
  return hex;
}

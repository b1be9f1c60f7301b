import { createHash } from "node:crypto";
import type { ObjectWriter } from "../pdf-file.ts";
import type { GlyphFont, GlyphFonts } from "./glyph-fonts.ts";
import { boxOf, joined, lineHeights, trueTypeFont } from "./true-type.ts";

/**
 * Writes the fonts that canvases use, and a resource dictionary that names these fonts.
 * @param more additional entries of the dictionary, in PDF syntax
 * @returns the reference of the dictionary
 */
export function addResources(to: ObjectWriter, { fonts }: GlyphFonts, more = ""): string {
  const named = fonts.map((font, index) => `/F${index} ${addFont(to, font)}`).join("");
  return to.add(`<</Font<<${named}>>${more}>>`);
}

/**
 * Writes a composite font whose codes are the numbers of its glyphs (ISO 32000-2, section 9.7).
 * @returns the reference of the font
 */
function addFont(to: ObjectWriter, font: GlyphFont): string {
  const { glyphs } = font;
  const program = trueTypeFont(glyphs);
  const name = `${subsetTag(program)}+${font.name}`;
  const { left, bottom, right, top } = joined(glyphs.map(boxOf));
  const { ascent, descent } = lineHeights;
  const descriptor = to.add(
    `<</Type/FontDescriptor/FontName/${name}/Flags 4/FontBBox[${left} ${bottom} ${right} ${top}]/ItalicAngle 0` +
      `/Ascent ${ascent}/Descent ${descent}/CapHeight 714/StemV ${font.name.endsWith("SemiBold") ? 110 : 80}` +
      `/FontFile2 ${to.stream(`/Length1 ${program.length}`, program)}>>`,
  );
  const descendant = to.add(
    `<</Type/Font/Subtype/CIDFontType2/BaseFont/${name}/FontDescriptor ${descriptor}/CIDToGIDMap/Identity` +
      `/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>` +
      `/W[0[${glyphs.map(({ advance }) => advance).join(" ")}]]>>`,
  );
  return to.add(
    `<</Type/Font/Subtype/Type0/BaseFont/${name}/Encoding/Identity-H/DescendantFonts[${descendant}]` +
      `/ToUnicode ${to.stream("", toUnicodeMap(font))}>>`,
  );
}

/** Six letters that distinguish subsets of one font (ISO 32000-2, section 9.9.2). */
const subsetTag = (program: Buffer): string =>
  [...createHash("sha256").update(program).digest().subarray(0, 6)]
    .map((byte) => String.fromCharCode(65 + (byte % 26)))
    .join("");

/** Four hexadecimal digits for a code in a content stream. */
export const codeHex = (code: number): string => code.toString(16).padStart(4, "0");

/** The ToUnicode CMap, which maps glyphs back to characters (ISO 32000-2, section 9.10.3). */
function toUnicodeMap({ toUnicode }: GlyphFont): string {
  const entries = toUnicode.map((text, code) => `<${codeHex(code)}> <${utf16Hex(text)}>`).slice(1);
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
<0000> <ffff>
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
  for (let at = 0; at < text.length; at++) hex += codeHex(text.charCodeAt(at));
  return hex;
}

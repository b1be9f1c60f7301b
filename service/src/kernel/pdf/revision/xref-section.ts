import type { Span } from "../lexer.ts";
import type { PdfLookup } from "../xref/lookup.ts";
import { consecutive, type ObjectOffset, subsectionText } from "../xref/xref-table.ts";

/** The longest ID that is copied from an unencrypted document: 64 bytes in hexadecimal, with delimiters. */
const MAX_ID = 130;

/**
 * The cross-reference section and trailer of an appended revision, as latin1 text up to and including %%EOF. The new
 * section is a table if the document's newest section is one, otherwise a stream.
 * @param at the offset of the new section, counted like the offsets in the document's own cross-references
 */
export function xrefSection(
  look: PdfLookup,
  objectOffsets: readonly ObjectOffset[],
  at: number,
  docSha256: string,
): string {
  const objects = withRestated(look, objectOffsets).toSorted((a, b) => a.ref.num - b.ref.num);
  const section = look.xrefKind === "table" ? table(look, objects, docSha256) : stream(look, objects, at, docSha256);
  return `${section}startxref\n${at}\n%%EOF\n`;
}

/** If the document's own cross-reference can't be read, adds all objects of the document to the new section. */
function withRestated(
  { file: { restated } }: PdfLookup,
  objectOffsets: readonly ObjectOffset[],
): readonly ObjectOffset[] {
  if (restated === null) return objectOffsets;
  const numbers = new Set(objectOffsets.map(({ ref }) => ref.num));
  return [...restated.filter(({ ref }) => !numbers.has(ref.num)), ...objectOffsets];
}

function trailerEntries(look: PdfLookup, size: number, docSha256: string): string {
  const { info, root, firstId, encrypt, file } = look;
  const second = `<${docSha256.slice(0, 32)}>`;
  const written = ({ bytes, start, end }: Span) => bytes.toString("latin1", start, end);
  // The key of an encrypted document is derived from the first identifier. So that identifier is copied unchanged, even
  // if it is empty. In other documents a long identifier is replaced, because data could be hidden in it.
  const isFirstIdCopied = firstId && (encrypt || firstId.end - firstId.start <= MAX_ID);
  const first = isFirstIdCopied ? written(firstId) : encrypt ? "<>" : second;
  return (
    `/Size ${size}/Root ${root.ref.num} ${root.ref.gen} R` +
    (info ? `/Info ${info.num} ${info.gen} R` : "") +
    (encrypt ? `/Encrypt ${written(encrypt)}` : "") +
    `/ID[${first}${second}]` +
    (file.restated === null ? `/Prev ${file.startxref}` : "")
  );
}

function table(look: PdfLookup, objects: readonly ObjectOffset[], docSha256: string): string {
  // If /Prev leads to no earlier section, this section must begin with the head of the free list.
  const head = look.file.restated === null ? "" : "0 1\n0000000000 65535 f \n";
  const text = `xref\n${head}${consecutive(objects).map(subsectionText).join("")}`;
  return `${text}trailer\n<<${trailerEntries(look, sizeAfter(objects), docSha256)}>>\n`;
}

function stream(look: PdfLookup, objects: readonly ObjectOffset[], at: number, docSha256: string): string {
  const self: ObjectOffset = { ref: { num: sizeAfter(objects), gen: 0 }, offset: at };
  const all = [...objects, self];
  const index = consecutive(all).map((group) => `${group[0]?.ref.num} ${group.length}`);
  const rows = Buffer.alloc(7 * all.length);
  all.forEach(({ ref, offset }, i) => {
    rows[7 * i] = 1;
    rows.writeUInt32BE(offset, 7 * i + 1);
    rows.writeUInt16BE(ref.gen, 7 * i + 5);
  });
  const size = self.ref.num + 1;
  return (
    `${self.ref.num} 0 obj\n<</Type/XRef${trailerEntries(look, size, docSha256)}` +
    `/W[1 4 2]/Index[${index.join(" ")}]/Length ${rows.length}>>\nstream\n${rows.toString("latin1")}\nendstream\nendobj\n`
  );
}

function sizeAfter(objects: readonly ObjectOffset[]): number {
  return (objects.at(-1)?.ref.num ?? 0) + 1;
}

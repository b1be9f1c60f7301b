import type { Ref, Span } from "../lexer.ts";
import type { PdfLookup } from "../xref/lookup.ts";

/** An object and its offset as a cross-reference writes it. */
export type Placed = { readonly ref: Ref; readonly offset: number };

/** 64 octets as hexadecimal digits. */
const MAX_ID = 130;

/**
 * The cross-reference section of an appended revision with its trailer, of the kind that the newest one has.
 * Latin1 text, up to and with %%EOF.
 * @param at the section's own offset as a cross-reference writes it
 */
export function xrefSection(look: PdfLookup, placed: readonly Placed[], at: number, docSha256: string): string {
  const objects = placed.toSorted((a, b) => a.ref.num - b.ref.num);
  const section = look.xrefKind === "table" ? table(look, objects, docSha256) : stream(look, objects, at, docSha256);
  return `${section}startxref\n${at}\n%%EOF\n`;
}

function trailerEntries(look: PdfLookup, size: number, docSha256: string): string {
  const { info, root, firstId, encrypt, file } = look;
  const second = `<${docSha256.slice(0, 32)}>`;
  const written = ({ bytes, start, end }: Span) => bytes.toString("latin1", start, end);
  // The key of an encrypted document is made from the first element: where there was none it has to stay nothing.
  // Elsewhere an identifier is a digest, and a long one would be room for something else.
  const kept = firstId && (encrypt || firstId.end - firstId.start <= MAX_ID);
  const first = kept ? written(firstId) : encrypt ? "<>" : second;
  return (
    `/Size ${size}/Root ${root.ref.num} ${root.ref.gen} R` +
    (info ? `/Info ${info.num} ${info.gen} R` : "") +
    (encrypt ? `/Encrypt ${written(encrypt)}` : "") +
    `/ID[${first}${second}]/Prev ${file.startxref}`
  );
}

function table(look: PdfLookup, objects: readonly Placed[], docSha256: string): string {
  let text = "xref\n";
  for (const group of consecutive(objects)) {
    text += `${group[0]?.ref.num} ${group.length}\n`;
    for (const { ref, offset } of group) {
      text += `${String(offset).padStart(10, "0")} ${String(ref.gen).padStart(5, "0")} n \n`;
    }
  }
  return `${text}trailer\n<<${trailerEntries(look, sizeAfter(objects), docSha256)}>>\n`;
}

function stream(look: PdfLookup, objects: readonly Placed[], at: number, docSha256: string): string {
  const self: Placed = { ref: { num: sizeAfter(objects), gen: 0 }, offset: at };
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

function sizeAfter(objects: readonly Placed[]): number {
  return (objects.at(-1)?.ref.num ?? 0) + 1;
}

function consecutive(objects: readonly Placed[]): Placed[][] {
  const groups: Placed[][] = [];
  let next = -1;
  for (const object of objects) {
    if (object.ref.num === next) groups.at(-1)?.push(object);
    else groups.push([object]);
    next = object.ref.num + 1;
  }
  return groups;
}

import type { Ref } from "../lexer.ts";
import type { PdfLookup } from "../xref/lookup.ts";
import type { ObjectOffset } from "../xref/xref-table.ts";
import type { NewObject } from "./new-object.ts";
import { stringEncryption } from "./string-encryption.ts";
import { xrefSection } from "./xref-section.ts";

/**
 * The bytes that a signature covers: two pairs of offset and length (ISO 32000-1 12.8.1), from the start of the file.
 */
export type ByteRange = readonly [0, number, number, number];

/**
 * The revision to append. `tail[contentsStart]` is `<` and `tail[contentsEnd - 1]` is `>`; all bytes between them are
 * `0`, the placeholder of the signature.
 */
export type Tail = {
  readonly tail: Buffer;
  readonly byteRange: ByteRange;
  readonly contentsStart: number;
  readonly contentsEnd: number;
};

/** A signature dictionary that still lacks /ByteRange and the signature itself. */
export type OpenSignature = {
  readonly ref: Ref;
  /**
   * The latin1 text of the dictionary without /ByteRange and the signature. `head` goes up to the `<` of /Contents.
   * `end` follows /ByteRange.
   */
  readonly head: string;
  readonly end: string;
  /** The most bytes that the signature may have. The placeholder has two hexadecimal digits for each of them. */
  readonly reserve: number;
  /** The number of spaces after /ByteRange. It is random, so that nobody can predict the revision's length. */
  readonly padding?: number;
};

/** The width of the space for the four numbers of /ByteRange, with up to ten digits each. */
const NUMBERS_WIDTH = 40;

/**
 * The bytes of a revision without a signature, to append to a document.
 * @param docSha256 hex SHA-256 of the document; the new file identifier and the initialization vectors are derived from
 * it
 */
export function buildRevision(look: PdfLookup, objects: readonly NewObject[], docSha256: string): Buffer {
  const lead = leadOf(look);
  return Buffer.from(lead + written(look, objects, look.file.bytes.length + lead.length, [], docSha256), "latin1");
}

/** The bytes that append a revision with a signature. The signature dictionary comes first. */
export function buildSignedRevision(
  look: PdfLookup,
  signature: OpenSignature,
  objects: readonly NewObject[],
  docSha256: string,
): Tail {
  const { bytes, base } = look.file;
  const { ref, reserve, padding = 0 } = signature;
  const lead = leadOf(look);
  const head = `${lead}${ref.num} ${ref.gen} obj\n${stringEncryption(look, docSha256)(signature.head, ref)}`;
  const contentsStart = head.length;
  const contentsEnd = contentsStart + 2 * reserve + 2;
  const rangeWidth = NUMBERS_WIDTH + padding;
  const restStart = bytes.length + contentsEnd + "/ByteRange[]".length + rangeWidth;
  const objectOffsets: ObjectOffset[] = [{ ref, offset: bytes.length + lead.length - base }];
  const end = `${signature.end}\nendobj\n`;
  const rest = end + written(look, objects, restStart + end.length, objectOffsets, docSha256);

  const after = bytes.length + contentsEnd;
  const byteRange: ByteRange = [0, bytes.length + contentsStart, after, restStart + rest.length - after];
  const tail = Buffer.allocUnsafe(restStart + rest.length - bytes.length);
  tail.write(head, 0, "latin1");
  tail.fill(0x30, contentsStart, contentsEnd);
  tail[contentsStart] = 0x3c;
  tail[contentsEnd - 1] = 0x3e;
  tail.write(`/ByteRange[${byteRange.join(" ").padEnd(rangeWidth)}]${rest}`, contentsEnd, "latin1");
  return { tail, byteRange, contentsStart, contentsEnd };
}

function leadOf({ file: { bytes } }: PdfLookup): string {
  const last = bytes[bytes.length - 1];
  return last === 10 || last === 13 ? "" : "\n";
}

/**
 * The text of new objects, followed by a cross-reference section. The section lists the new objects and the objects in
 * `objectOffsets`, which the caller has written.
 * @param start the offset in the file where the text begins
 */
function written(
  look: PdfLookup,
  objects: readonly NewObject[],
  start: number,
  objectOffsets: readonly ObjectOffset[],
  docSha256: string,
): string {
  const { base } = look.file;
  const encrypt = stringEncryption(look, docSha256);
  const all = [...objectOffsets];
  let text = "";
  for (const { ref, body, clear, stream } of objects) {
    all.push({ ref, offset: start + text.length - base });
    const data = stream === undefined ? "" : `\nstream\n${stream}\nendstream`;
    text += `${ref.num} ${ref.gen} obj\n${clear ? encrypt(body, ref) : body}${data}\nendobj\n`;
  }
  return text + xrefSection(look, all, start + text.length - base, docSha256);
}

import type { PdfLookup } from "../../pdf/lookup.ts";
import { changedObjects, fieldObject, type SealDescription, signatureParts } from "./objects.ts";
import { stringEncryption } from "./string-encryption.ts";
import { type Placed, xrefSection } from "./xref-section.ts";

/** Offset and length, twice: what the signature covers (ISO 32000-1 12.8.1), from the start of the file. */
export type ByteRange = readonly [0, number, number, number];

/** The revision to append. `tail[contentsStart]` is `<`, `tail[contentsEnd - 1]` is `>`; between them are zeros. */
export type Tail = {
  readonly tail: Buffer;
  readonly byteRange: ByteRange;
  readonly contentsStart: number;
  readonly contentsEnd: number;
};

/** Room for four numbers of up to ten digits. */
const NUMBERS_WIDTH = 40;

/**
 * Builds the revision that adds one signature field with an empty signature: only what follows the original.
 * @param docSha256 hex SHA-256 of the original, for the names that must be unique
 * @throws PdfRefusal `needs_repair`
 */
export function buildTail(look: PdfLookup, description: SealDescription, docSha256: string): Tail {
  const { bytes, base } = look.file;
  const signature = { num: look.nextObject, gen: 0 };
  const field = { num: look.nextObject + 1, gen: 0 };
  const last = bytes[bytes.length - 1];
  const lead = last === 10 || last === 13 ? "" : "\n";
  const parts = signatureParts(description, bytes.length);
  const encrypt = stringEncryption(look, docSha256);
  const head = `${lead}${signature.num} 0 obj\n${encrypt(parts.head, signature)}`;
  const contentsStart = head.length;
  const contentsEnd = contentsStart + 2 * description.reserve + 2;

  let rest = `${parts.end}\nendobj\n`;
  const rangeWidth = NUMBERS_WIDTH + (description.padding ?? 0);
  const restStart = bytes.length + contentsEnd + "/ByteRange[]".length + rangeWidth;
  const placed: Placed[] = [{ ref: signature, offset: bytes.length + lead.length - base }];
  for (const { ref, body, clear } of [fieldObject(look, field, signature, docSha256), ...changedObjects(look, field)]) {
    placed.push({ ref, offset: restStart + rest.length - base });
    rest += `${ref.num} ${ref.gen} obj\n${clear ? encrypt(body, ref) : body}\nendobj\n`;
  }
  rest += xrefSection(look, placed, restStart + rest.length - base, docSha256);

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

import { PdfRefusal } from "../../kernel/pdf/refusal.ts";
import { lookUpPdf } from "../../kernel/pdf/xref/lookup.ts";
import { holdsDecoy } from "./pdf/decoys.ts";
import type { SealLock } from "./pdf/objects.ts";
import { buildTail } from "./pdf/tail.ts";

/** The epoch, because a trial seal must not claim a real time. */
const at = new Date(0);
const lengths = [
  { reserve: 8192, padding: 1 },
  { reserve: 8200, padding: 2 },
] as const;

/**
 * Tries to seal a document without the key. This function has a file of its own, because worker threads import it.
 * @param docSha256 hex SHA-256, for unique names
 * @param locks the lock that the seal would set; none by default
 * @returns the revision of a seal, without its signature
 * @throws PdfRefusal when the document can't be sealed
 */
export function trySeal(document: Buffer, docSha256: string, locks?: SealLock): Buffer {
  for (const each of lengths) {
    const tail = buildTail(lookUpPdf(document), { at, ...each, ...(locks && { locks }) }, docSha256);
    if (!holdsDecoy(document, tail)) return tail.tail;
  }
  throw new PdfRefusal("needs_repair", "it holds numbers that name another place for a seal");
}

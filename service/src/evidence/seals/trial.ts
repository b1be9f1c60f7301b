import { PdfRefusal } from "../pdf/refusal.ts";
import { lookUpPdf } from "../pdf/xref/lookup.ts";
import { holdsDecoy } from "./pdf/decoys.ts";
import type { SealLock } from "./pdf/objects.ts";
import { buildTail } from "./pdf/tail.ts";

/** The epoch: a trial seal says nothing of the hour. */
const at = new Date(0);
const lengths = [
  { reserve: 8192, padding: 1 },
  { reserve: 8200, padding: 2 },
] as const;

/**
 * Whether a document can be sealed, as far as that can be known without the key. A door of its own, for it is worker threads that ask.
 * @param docSha256 hex SHA-256, for names that are to be unique
 * @param locks what the seal will lock; nothing by default
 * @returns the revision of a seal, without its signature
 * @throws PdfRefusal when it can't
 */
export function trySeal(document: Buffer, docSha256: string, locks?: SealLock): Buffer {
  for (const each of lengths) {
    const tail = buildTail(lookUpPdf(document), { at, ...each, ...(locks && { locks }) }, docSha256);
    if (!holdsDecoy(document, tail)) return tail.tail;
  }
  throw new PdfRefusal("needs_repair", "it holds numbers that name another place for a seal");
}

import { type Document, type DocumentDeps, type EnvelopeOf, findRevisions, readDocument } from "./revisions.ts";

/** Three of the largest. */
const mostBytes = 3 * 36 * 1024 * 1024;

/** The newest revision of an envelope. The caller holds memory for it. @throws what `readDocument` throws */
export type ReadDocument = (deps: DocumentDeps, envelope: EnvelopeOf) => Promise<Document>;

/**
 * Reads documents that acts are added to: each is put together and compared once, and then kept for a while. An older revision is never given for the newest.
 */
export function keptDocuments(): ReadDocument {
  // The one that was asked for last is the last. Who asks while it is read waits for the same reading.
  const kept = new Map<number, { sha256: string; bytes: number; document: Promise<Document> }>();
  let bytes = 0;
  function drop(id: number): void {
    bytes -= kept.get(id)?.bytes ?? 0;
    kept.delete(id);
  }
  return async (deps, envelope) => {
    const head = (await findRevisions(deps.db, envelope.id)).at(-1);
    if (!head) return readDocument(deps, envelope);
    const known = kept.get(envelope.id);
    const document = known?.sha256 === head.sha256 ? known.document : readDocument(deps, envelope);
    drop(envelope.id);
    kept.set(envelope.id, { sha256: head.sha256, bytes: head.bytes, document });
    bytes += head.bytes;
    for (const id of kept.keys()) {
      if (bytes <= mostBytes) break;
      drop(id);
    }
    document.catch(() => {
      if (kept.get(envelope.id)?.document === document) drop(envelope.id);
    });
    return document;
  };
}

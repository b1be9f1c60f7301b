import type { Sql } from "../../platform/database/database.ts";
import { type Document, type DocumentDeps, findRevisions, readDocument } from "./revisions.ts";

const mostBytes = 64 * 1024 * 1024;

type Envelope = { id: number; orderId: number; orderCode: string };

/**
 * Reads documents that readers ask for part by part: each is put together and compared once, and then kept for a while. An
 * older revision is never given for the newest.
 */
export function keptDocuments(): (deps: DocumentDeps & { db: Sql }, envelope: Envelope) => Promise<Document> {
  // The one that was asked for last is the last.
  const kept = new Map<number, Document>();
  let bytes = 0;
  function drop(id: number): void {
    bytes -= kept.get(id)?.bytes.length ?? 0;
    kept.delete(id);
  }
  return async (deps, envelope) => {
    const head = (await findRevisions(deps.db, envelope.id)).at(-1);
    const known = kept.get(envelope.id);
    const document = known && known.sha256 === head?.sha256 ? known : await readDocument(deps, envelope);
    drop(envelope.id);
    kept.set(envelope.id, document);
    bytes += document.bytes.length;
    for (const id of kept.keys()) {
      if (bytes <= mostBytes) break;
      drop(id);
    }
    return document;
  };
}

import { auditLine } from "../../../kernel/audit/audit.ts";
import { withBytesOr } from "../../../kernel/platform/blobs/blobs.ts";
import { type StoredFile, withReadErrors } from "../../../kernel/platform/blobs/stored-file.ts";
import { memoryHolder } from "../../../kernel/platform/bounds/memory-budget.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { AlteredDocumentError, ServiceError } from "../../../kernel/platform/errors.ts";
import { maskCode } from "../../../kernel/platform/ids.ts";
import { fromTasks, lockTasks, openTask } from "../../../kernel/tasks/tasks.ts";
import { type DocumentFacts, documentUse, fromOrders, hasOrderCode } from "../../../orders/order/order.ts";
import type { EnvelopeDeps } from "./deps.ts";

/** `DocumentDeps`, and the parts of the service that record an altered document. */
export type StoredDeps = Pick<EnvelopeDeps, "db" | "blobs" | "rowMac" | "clock" | "log">;

/**
 * Opens a stored document for sending; null when the store doesn't have it. The caller has verified its row.
 * @throws ServiceError `unavailable` when the store doesn't respond
 * @throws AlteredDocumentError when the bytes were altered; a later read of the opened file can throw it too
 */
export async function openStored(deps: StoredDeps, document: DocumentFacts): Promise<StoredFile | null> {
  const { sha256, blobKey } = document;
  const holder = memoryHolder(document);
  const altered = (error: unknown) => readError(deps, document, error);
  const file = await deps.blobs.open(blobKey, documentUse(sha256), holder).catch(async (error: unknown) => {
    throw await altered(error);
  });
  if (file === null) return null;
  // This process compares the whole document with its hash only at the first opening. If bytes are altered later, the
  // read of these bytes fails.
  return withReadErrors({ memory: deps.blobs.memory, holder }, file, altered);
}

/**
 * Runs work on the bytes of a stored document, or on null when the store doesn't have it. The caller has verified its
 * row.
 * @param times how many copies of the bytes the work has in memory
 * @throws as `openStored`, and the errors of the work
 */
export async function withStored<T>(
  deps: StoredDeps,
  document: DocumentFacts,
  work: (bytes: Buffer | null) => Promise<T>,
  times = 1,
): Promise<T> {
  const at = { key: document.blobKey, use: documentUse(document.sha256), holder: memoryHolder(document), times };
  return withBytesOr(deps.blobs, at, work, async (error) => {
    throw await readError(deps, document, error);
  });
}

/**
 * The error for the reader of a document. A store that doesn't respond and a missing key prove nothing about the
 * document. Every other error of a read is about its bytes, and is reported to the operators.
 */
async function readError(deps: StoredDeps, document: DocumentFacts, cause: unknown): Promise<unknown> {
  if (cause instanceof ServiceError) return cause;
  const what = `the stored document (${kindWords(document)}) of order ${document.orderCode}`;
  const error = new AlteredDocumentError(what, { cause });
  deps.log.error({ err: error, kind: document.kind, sha256: document.sha256 }, "a document was altered in the store");
  await report(deps, document);
  return error;
}

const kindWords = ({ kind }: DocumentFacts): string => kind.replaceAll("_", " ");

/** Writes an audit line and opens a task about an altered document, unless a task about it is open. */
async function report({ db, clock }: StoredDeps, document: DocumentFacts): Promise<void> {
  const { orderCode, partnerId, environment, kind, sha256 } = document;
  const subject = `${kind}-${sha256}`;
  await db.transaction(async (tx) => {
    // The lock lets readers of the same altered document check one after another for an open task. So only the first of
    // them opens one.
    await lockTasks(tx, "document_altered");
    const [order] = await tx.query<{ id: number; isReported: boolean }>(sql`
      SELECT o.id, EXISTS (SELECT ${fromTasks} WHERE t.kind = 'document_altered' AND t.order_id = o.id
        AND t.subject = ${subject} AND t.state IN ('open', 'claimed')) AS "isReported"
      ${fromOrders} WHERE ${hasOrderCode(orderCode)}`);
    if (!order || order.isReported) return;
    const [at, orderId] = [clock(), order.id];
    const reason = `The stored bytes of the document (${kindWords(document)}) of order ${maskCode(orderCode)} no longer match the recorded SHA-256 ${sha256}, so nobody gets it. Find out who altered them, and restore the file from a backup.`;
    await openTask(tx, { kind: "document_altered", at, environment, orderId, subject, reason });
    const line = { at, action: "document.altered", actor: "system", partnerId, orderId };
    await tx.query(auditLine({ ...line, detail: { document: subject } }));
  });
}

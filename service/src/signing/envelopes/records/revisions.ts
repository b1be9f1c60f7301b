import { createHash, type Hash, hash } from "node:crypto";
import { type BlobAt, type Blobs, withBytesOr } from "../../../kernel/platform/blobs/blobs.ts";
import { withReadErrors } from "../../../kernel/platform/blobs/stored-file.ts";
import { memoryHolder } from "../../../kernel/platform/bounds/memory-budget.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { AlteredDocumentError, ServiceError } from "../../../kernel/platform/errors.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import {
  type DocumentOwner,
  documentMembers,
  documentUse,
  fromDocuments,
  insertDocument,
} from "../../../orders/order/order.ts";

export type DocumentDeps = { db: Sql; blobs: Blobs; rowMac: RowMac };

/**
 * One revision of an envelope's document. `bytes` and `sha256` (hex) are the length and the hash of the whole file up
 * to this revision. `signer` is the number of the signer whose act created it; null for the prepared file.
 */
export type Revision = { number: number; signer: number | null; bytes: number; sha256: string; createdAt: Date };

/** The whole file up to a revision. Concurrent requests may share it, so nobody may write to it. */
export type Document = {
  bytes: Buffer;
  revision: number;
  sha256: string;
  /** The state of the hash after `bytes`. Each act copies it, and then hashes only its own tail. */
  hash: Hash;
  /** The original document from which the envelope was opened. */
  original: { bytes: number; sha256: string };
  /** The length of the prepared file in bytes. */
  preparedBytes: number;
};

/** A tail (the bytes of one revision) that is stored as a blob, but has no row yet. */
export type StoredTail = { sha256: string; bytes: number; blobKey: string; rowMac: Buffer };

const kind = "revision";

export async function storeTail(
  { blobs, rowMac }: DocumentDeps,
  owner: DocumentOwner,
  tail: Buffer,
): Promise<StoredTail> {
  const sha256 = hash("sha256", tail);
  const blobKey = await blobs.put(tail, documentUse(sha256));
  const { orderCode, partnerId, environment } = owner;
  const mac = rowMac.of("documents", documentMembers({ orderCode, partnerId, environment, kind, sha256, blobKey }));
  return { sha256, bytes: tail.length, blobKey, rowMac: mac };
}

/**
 * Appends a revision.
 * @throws Error of PostgreSQL (unique violation) when another request appended the same revision first; the transaction
 * must then be rolled back
 */
export async function insertRevision(
  tx: Tx,
  envelope: { id: number; orderId: number },
  { number, signer, bytes, sha256, createdAt }: Revision,
  tail: StoredTail,
): Promise<void> {
  await tx.query(sql`
    WITH tail AS (${insertDocument(envelope.orderId, { ...tail, kind }, createdAt)})
    INSERT INTO envelope_revisions (envelope_id, number, document_id, signer, bytes, sha256, created_at)
    SELECT ${envelope.id}, ${number}, tail.id, ${signer}, ${bytes}, ${sha256}, ${createdAt} FROM tail`);
}

export const findRevisions = (db: Sql, envelopeId: number) =>
  db.query<Revision>(sql`
    SELECT number, signer, bytes, sha256, created_at AS "createdAt" FROM envelope_revisions
    WHERE envelope_id = ${envelopeId} ORDER BY number`);

type Part = { kind: string; sha256: string; blobKey: string; mac: Buffer | null };

const partsStatement = (envelopeId: number) => sql`
  SELECT d.kind, d.sha256, d.blob_key AS "blobKey", d.row_mac AS mac
  ${fromDocuments} JOIN envelope_revisions r ON r.document_id = d.id
  WHERE r.envelope_id = ${envelopeId} ORDER BY r.number`;

const originalStatement = (orderId: number) => sql`
  SELECT kind, sha256, blob_key AS "blobKey", row_mac AS mac ${fromDocuments}
  WHERE order_id = ${orderId} AND kind = 'original'`;

/**
 * The original document from which an envelope was opened: the last one before the envelope's first revision. The order
 * may have another original by now.
 */
const originalOfEnvelope = (orderId: number, envelopeId: number) => sql`
  SELECT kind, sha256, blob_key AS "blobKey", row_mac AS mac ${fromDocuments}
  WHERE order_id = ${orderId} AND kind IN ('original', 'original_replaced')
    AND id < (SELECT min(document_id) FROM envelope_revisions WHERE envelope_id = ${envelopeId})
  ORDER BY id DESC LIMIT 1`;

/**
 * Runs work on the order's current original document.
 * @throws AlteredDocumentError when the document or its row was altered; ServiceError `unavailable` when the store does
 * not have it; the errors of the work
 */
export async function withOriginal<T>(
  deps: DocumentDeps,
  order: Omit<EnvelopeOf, "id">,
  work: (original: { bytes: Buffer; sha256: string }) => Promise<T>,
): Promise<T> {
  const original = await findOriginal(deps, order, originalStatement(order.orderId));
  const onBytes = async (bytes: Buffer | null) => {
    if (!bytes) throw unreadable();
    return work({ bytes, sha256: original.use.sha256 });
  };
  return withBytesOr(deps.blobs, { ...original, holder: memoryHolder(order) }, onBytes, (error) => {
    throw asAltered(`the original document of order ${order.orderCode}`, error);
  });
}

/** The envelope of a document, its order, and their owner. */
export type EnvelopeOf = DocumentOwner & { id: number; orderId: number };

/**
 * Opens the newest revision of an envelope's document for sending. Its parts are the original and the bytes that each
 * revision appended.
 * @throws ServiceError `unavailable` when the store does not have a part
 * @throws AlteredDocumentError when a part, its row, or the whole file was altered; a later read of the opened file can
 * throw it too
 */
export async function openDocument(deps: DocumentDeps, envelope: EnvelopeOf) {
  const { parts, head } = await partsOf(deps, envelope);
  const what = revisionName(envelope, head);
  const holder = memoryHolder(envelope);
  const joined = await deps.blobs.openJoined(parts, head.sha256, holder).catch((error: unknown) => {
    throw asAltered(what, error);
  });
  if (!joined) throw unreadable();
  const file = withReadErrors({ memory: deps.blobs.memory, holder }, joined.file, async (error) =>
    asAltered(what, error),
  );
  return { file, revision: head.number, sha256: head.sha256 };
}

/**
 * Reads the file with all its revisions into memory. The caller must have reserved memory for it.
 * @throws as `openDocument`
 */
export async function readDocument(deps: DocumentDeps, envelope: EnvelopeOf): Promise<Document> {
  const parts = await partsOf(deps, envelope);
  const what = revisionName(envelope, parts.head);
  return readParts(deps, envelope, parts, what).catch((error: unknown) => {
    throw asAltered(what, error);
  });
}

const revisionName = ({ orderCode }: EnvelopeOf, { number }: Revision): string =>
  `revision ${number} of the document of order ${orderCode}`;

/**
 * Turns an error of a read into an AlteredDocumentError. Leaves a ServiceError unchanged, because a store that does not
 * answer proves nothing about the document.
 */
const asAltered = (what: string, cause: unknown): unknown =>
  cause instanceof ServiceError ? cause : new AlteredDocumentError(what, { cause });

async function readParts(
  deps: DocumentDeps,
  envelope: EnvelopeOf,
  { parts, head, prepared, original }: Awaited<ReturnType<typeof partsOf>>,
  what: string,
): Promise<Document> {
  const joined = await deps.blobs.openJoined(parts, null, memoryHolder(envelope));
  if (!joined) throw unreadable();
  const { file, lengths } = joined;
  const bytes = Buffer.allocUnsafeSlow(file.length);
  const state = createHash("sha256");
  let at = 0;
  for await (const stretch of file.stretches()) {
    state.update(stretch);
    at += stretch.copy(bytes, at);
  }
  const sha256 = state.copy().digest("hex");
  if (sha256 !== head.sha256) throw new AlteredDocumentError(what);
  return {
    bytes,
    revision: head.number,
    sha256,
    hash: state,
    original: { bytes: lengths[0] ?? 0, sha256: original.use.sha256 },
    preparedBytes: prepared.bytes,
  };
}

const unreadable = () => new ServiceError("unavailable", "The document can't be read now. Try again later.");

/**
 * The blobs that together are the newest revision: the original, and the bytes that each revision appended.
 * @throws AlteredDocumentError when a row was altered
 */
async function partsOf(deps: DocumentDeps, envelope: EnvelopeOf) {
  const { id, orderCode } = envelope;
  const original = await findOriginal(deps, envelope, originalOfEnvelope(envelope.orderId, id));
  const [tails, revisions] = [
    await deps.db.query<Part>(partsStatement(id)),
    (await findRevisions(deps.db, id)) as readonly Revision[],
  ];
  const head = revisions[tails.length - 1];
  const [prepared] = revisions;
  if (!head || !prepared) throw new Error(`the envelope of order ${orderCode} has no revision`);
  const parts = [original, ...tails.map((tail) => blobOf(deps, envelope, tail))];
  return { parts, head, prepared, original };
}

async function findOriginal(deps: DocumentDeps, order: Omit<EnvelopeOf, "id">, which: Statement): Promise<BlobAt> {
  const [row] = await deps.db.query<Part>(which);
  if (!row) throw new Error(`order ${order.orderCode} has no document`);
  return blobOf(deps, order, row);
}

function blobOf({ rowMac }: DocumentDeps, owner: DocumentOwner, { kind, sha256, blobKey, mac }: Part): BlobAt {
  const { orderCode, partnerId, environment } = owner;
  const altered = () => new AlteredDocumentError(`the ${kind} document of order ${orderCode}`);
  const members = documentMembers({ orderCode, partnerId, environment, kind, sha256, blobKey });
  rowMac.verify("documents", members, mac, { altered });
  return { key: blobKey, use: documentUse(sha256) };
}

/** The most bytes in the cache: three of the largest documents. */
const maxBytes = 3 * 36 * 1024 * 1024;

/**
 * Reads the newest revision of an envelope. The caller must have reserved memory for it.
 * @throws the errors of `readDocument`
 */
type ReadDocument = (deps: DocumentDeps, envelope: EnvelopeOf) => Promise<Document>;

/**
 * Caches the documents to which acts are added, so that a revision is assembled and checked only once while it is
 * cached. Every read makes sure that the cached revision is the newest.
 */
export function cachedDocuments(): ReadDocument {
  // Sorted by last use; the most recently used comes last. Concurrent callers share one read.
  const cache = new Map<number, { sha256: string; bytes: number; document: Promise<Document> }>();
  let bytes = 0;
  function drop(id: number): void {
    bytes -= cache.get(id)?.bytes ?? 0;
    cache.delete(id);
  }
  return async (deps, envelope) => {
    const head = (await findRevisions(deps.db, envelope.id)).at(-1);
    if (!head) return readDocument(deps, envelope);
    const cached = cache.get(envelope.id);
    const document = cached?.sha256 === head.sha256 ? cached.document : readDocument(deps, envelope);
    drop(envelope.id);
    cache.set(envelope.id, { sha256: head.sha256, bytes: head.bytes, document });
    bytes += head.bytes;
    for (const id of cache.keys()) {
      if (bytes <= maxBytes) break;
      drop(id);
    }
    document.catch(() => {
      if (cache.get(envelope.id)?.document === document) drop(envelope.id);
    });
    return document;
  };
}

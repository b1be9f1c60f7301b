import {
  existingProofs,
  logProof,
  type ProofForm,
  requireComposedOts,
  requireLogProof,
} from "../../../evidence/transparency-log/transparency-log.ts";
import { lastActor } from "../../../kernel/audit/audit.ts";
import type { Owner } from "../../../kernel/identity/identity.ts";
import type { StoredFile } from "../../../kernel/platform/blobs/stored-file.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { isSealed, nothing, type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import { deletedAt, deletedMessage, markedAt, marksOf, type StoredMark } from "../../../kernel/retention/retention.ts";
import {
  type DocumentFacts,
  type DocumentOwner,
  documentMembers,
  documentOwnerColumns,
  fromDocuments,
  fromOrders,
  isHandedIn,
  joinDocuments,
  verifiedOrder,
} from "../../../orders/order/order.ts";
import type { DocumentDeps } from "./revisions.ts";
import { openStored, type StoredDeps, withStored } from "./stored.ts";

export const documentKinds = [
  "original",
  "original_replaced",
  "sealed",
  "notarized",
  "custody_certificate",
  "fax_report",
  "delivery_receipt",
  "mail_receipt",
  "fax_certificate",
] as const;
type DocumentKind = (typeof documentKinds)[number];

/** A document of an order, as the order's firm sees it. */
export type OrderDocument = {
  /** Identifies the document within its order. It consists of the document's kind and hash. */
  documentId: string;
  kind: DocumentKind;
  sha256: string;
  bytes: number;
  /**
   * `operator`: an operator uploaded the document after it was signed or notarized elsewhere. Null for any other
   * document, for example one that this service created, or a notary's scan.
   */
  origin: "operator" | null;
  /** True for a notarized document of a test order whose notarization the sandbox simulated. */
  isSimulated: boolean;
  createdAt: Date;
  /** The time when the retention plan deleted the document's file; null while the file exists. */
  deletedAt: Date | null;
};

type Row = Omit<OrderDocument, "documentId"> & DocumentOwner & { blobKey: string; mac: Buffer | null };

const hasCode = (orderCode: string): Statement => isSealed(sql`o.code`, "order", orderCode);

/**
 * Queries the documents of orders, oldest first. Leaves out the kinds that only the firm may download, unless an owner
 * is given.
 * @param owner the order's firm; null for a holder of the link that is mailed to the order's client
 */
function rowsOf(db: Sql, orders: Statement, owner: Owner | null): Promise<Row[]> {
  const kinds = documentKinds.filter((kind) => owner !== null || !firmsOwn.includes(kind));
  const isOwn = owner && sql`AND o.partner_id = ${owner.partnerId} AND o.environment = ${owner.environment}`;
  return db.query<Row>(sql`
    SELECT d.kind, d.sha256, d.bytes, CASE WHEN ${isHandedIn(sql`d.kind`)} THEN 'operator' END AS origin,
      d.kind = 'notarized' AND ${lastActor(sql`o.id`, "NotarizationComplete")} IS NOT DISTINCT FROM 'sandbox' AS "isSimulated",
      d.created_at AS "createdAt", ${deletedAt(sql`d.blob_key`)},
      d.blob_key AS "blobKey", d.row_mac AS mac, ${documentOwnerColumns}, ${verifiedOrder}
    ${fromOrders} ${joinDocuments(sql`o.id`)}
    WHERE ${orders} ${isOwn ?? nothing} AND d.kind = ANY(${kinds}) ORDER BY d.id`);
}

/**
 * Kinds that only the firm may download. A replaced document may have been uploaded by mistake and show another
 * client's data.
 */
const firmsOwn: readonly DocumentKind[] = ["original_replaced"];

const documentIdOf = ({ kind, sha256 }: Pick<Row, "kind" | "sha256">): string => `${kind}-${sha256}`;

/**
 * The documents of an order, oldest first. Revisions between two signatures are not listed.
 * @param owner the order's firm; null for a holder of the link that is mailed to the order's client
 * @throws ServiceError `unavailable` when a row's MAC is invalid
 */
export const orderDocuments = async (
  { db, rowMac }: Pick<DocumentDeps, "db" | "rowMac">,
  orderCode: string,
  owner: Owner | null,
): Promise<OrderDocument[]> => (await rowsOf(db, hasCode(orderCode), owner)).map((row) => documentOf(rowMac, row));

/** A document, and the forms of proof that the transparency log has for it now. */
export type ProvenDocument = OrderDocument & { proofs: readonly ProofForm[] };

/** The documents of an order with their proofs. @throws as `orderDocuments` */
export async function provenDocuments(
  { db, rowMac }: Pick<DocumentDeps, "db" | "rowMac">,
  orderCode: string,
  owner: Owner | null,
): Promise<ProvenDocument[]> {
  const rows = await rowsOf(db, hasCode(orderCode), owner);
  const sealed = rows.filter(({ kind }) => !uploadedKinds.includes(kind)).map(({ sha256 }) => sha256);
  const proofs = await existingProofs(db, rows[0]?.environment ?? "live", sealed);
  return rows.map((row) => ({ ...documentOf(rowMac, row), proofs: proofs.get(row.sha256) ?? [] }));
}

/** A document in the JSON of `documentsOfOrder`, with its MAC in hex. */
export type StoredOrderDocument = Pick<Row, "kind" | "sha256" | "blobKey"> & {
  mac: string | null;
  marks: StoredMark[] | null;
};

/**
 * SQL for a JSON array: the documents of the order `o`, oldest first, including those that only the firm may download.
 * `readDocuments` verifies them.
 */
export const documentsOfOrder: Statement = sql`(
  SELECT coalesce(json_agg(json_build_object('kind', d.kind, 'sha256', d.sha256, 'blobKey', d.blob_key,
    'mac', encode(d.row_mac, 'hex'), 'marks', ${marksOf(sql`d.blob_key`)}) ORDER BY d.id), '[]')
  ${fromDocuments} WHERE d.order_id = o.id AND d.kind = ANY (${documentKinds}))`;

/**
 * Verifies documents that a query read by `documentsOfOrder`.
 * @throws ServiceError `unavailable` when a document's MAC is invalid
 */
export const readDocuments = (
  rowMac: RowMac,
  owner: DocumentOwner,
  documents: readonly StoredOrderDocument[],
): Pick<OrderDocument, "kind" | "sha256" | "deletedAt">[] =>
  documents.map(({ mac, marks, ...document }) => {
    requireWritten(rowMac, { ...owner, ...document, mac: mac === null ? null : Buffer.from(mac, "hex") });
    return { kind: document.kind, sha256: document.sha256, deletedAt: markedAt(rowMac, marks) };
  });

function documentOf(rowMac: RowMac, row: Row): OrderDocument {
  requireWritten(rowMac, row);
  const { kind, sha256, bytes, origin, isSimulated, createdAt, deletedAt } = row;
  return { documentId: documentIdOf(row), kind, sha256, bytes, origin, isSimulated, createdAt, deletedAt };
}

export type WantedDocument = { orderCode: string; owner: Owner | null; documentId: string };

/**
 * Finds one of an order's documents, and verifies the MAC of its row.
 * @throws ServiceError as `openOrderDocument`
 */
async function findDocument(
  { db, rowMac }: DocumentDeps,
  { orderCode, owner, documentId }: WantedDocument,
): Promise<Row> {
  const row = (await rowsOf(db, hasCode(orderCode), owner)).findLast((each) => documentIdOf(each) === documentId);
  if (!row) throw new ServiceError("not_found", "Document not found.");
  if (row.deletedAt) throw new ServiceError("not_found", deletedMessage("The document", row.deletedAt));
  requireWritten(rowMac, row);
  return row;
}

function requireWritten(rowMac: RowMac, row: DocumentFacts & Pick<Row, "mac">): void {
  rowMac.verify("documents", documentMembers(row), row.mac);
}

const unreadable = () => new ServiceError("unavailable", "The document can't be read now. Try again later.");

/**
 * Opens one of an order's documents for sending.
 * @throws ServiceError `not_found` for an unknown or deleted document; `unavailable` when the store does not have it,
 * or its row's MAC is invalid
 * @throws AlteredDocumentError when the bytes were altered; a later read of the opened file can throw it too
 */
export async function openOrderDocument(
  deps: StoredDeps,
  wanted: WantedDocument,
): Promise<Pick<OrderDocument, "kind" | "isSimulated"> & { file: StoredFile }> {
  const row = await findDocument(deps, wanted);
  const { kind, isSimulated } = row;
  const file = await openStored(deps, row);
  if (!file) throw unreadable();
  return { kind, isSimulated, file };
}

/** Kinds that people upload. The service does not seal them, so the transparency log has no entry for them. */
const uploadedKinds: readonly DocumentKind[] = ["original", "original_replaced"];

/**
 * Returns the transparency log's proof for one of an order's documents. The form is the tlog-proof, or an
 * OpenTimestamps proof that leads from the document through the log's root.
 * @throws ServiceError `not_found` for an unknown or deleted document and for one that was not sealed here;
 * `unavailable` (tlog-proof) or `conflict` (ots) while the log can't prove it yet
 */
export async function orderDocumentProof(deps: DocumentDeps, wanted: WantedDocument, form: ProofForm): Promise<Buffer> {
  const { kind, sha256, environment } = await findDocument(deps, wanted);
  const entry = { kind: "seal/v1", sealedSha256: sha256 } as const;
  // The statement that inserts a document also queues its log entry. So a document without an entry by now will never
  // get one.
  if (uploadedKinds.includes(kind) || (await logProof(deps.db, environment, entry)).state === "unknown")
    throw new ServiceError("not_found", notSealedHere);
  return (form === "ots" ? requireComposedOts : requireLogProof)(deps.db, environment, entry);
}

const notSealedHere = "This document was not sealed here, so the transparency log has no line of it.";

/**
 * Runs work on the bytes of one of an order's documents, within the memory budget.
 * @throws as `openOrderDocument`, and the errors of the work
 */
export async function withOrderDocument<T>(
  deps: StoredDeps,
  wanted: WantedDocument,
  work: (bytes: Buffer) => Promise<T>,
): Promise<T> {
  const row = await findDocument(deps, wanted);
  return withStored(deps, row, async (bytes) => {
    if (!bytes) throw unreadable();
    return work(bytes);
  });
}

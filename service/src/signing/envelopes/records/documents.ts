import type { Owner } from "../../identity/identity.ts";
import { type DocumentOwner, documentMembers, documentOwnerColumns, documentUse } from "../../orders/orders.ts";
import type { StoredFile } from "../../platform/blobs/stored-file.ts";
import type { Sql } from "../../platform/database/database.ts";
import { nothing, sql } from "../../platform/database/sql.ts";
import { ServiceError } from "../../platform/errors.ts";
import { deletedAt, deletedMessage } from "../../retention/retention.ts";
import type { DocumentDeps } from "./revisions.ts";

export const documentKinds = [
  "original",
  "sealed",
  "notarized",
  "custody_certificate",
  "fax_report",
  "delivery_receipt",
  "mail_receipt",
  "fax_certificate",
] as const;
export type DocumentKind = (typeof documentKinds)[number];

/** A document of an order, as its firm sees it. */
export type OrderDocument = {
  /** Of the order's documents, this one: its kind and its hash. */
  documentId: string;
  kind: DocumentKind;
  sha256: string;
  bytes: number;
  /** `operator`: it was signed or notarized elsewhere, and an operator took it in; null where it was made here, or came with the order. */
  origin: "operator" | null;
  createdAt: Date;
  /** When the retention plan deleted its file; null while it is there. */
  deletedAt: Date | null;
};

type Row = Omit<OrderDocument, "documentId"> & DocumentOwner & { blobKey: string; mac: Buffer | null };

/** @param owner null for whoever has a link to them */
function rowsOf(db: Sql, orderCode: string, owner: Owner | null): Promise<Row[]> {
  const isOwn = owner && sql`AND o.partner_id = ${owner.partnerId} AND o.environment = ${owner.environment}`;
  return db.query<Row>(sql`
    SELECT d.kind, d.sha256, d.bytes, d.origin, d.created_at AS "createdAt", ${deletedAt(sql`d.blob_key`)},
      d.blob_key AS "blobKey", d.row_mac AS mac, ${documentOwnerColumns}
    FROM orders o JOIN documents d ON d.order_id = o.id
    WHERE o.code = ${orderCode} ${isOwn ?? nothing} AND d.kind = ANY(${[...documentKinds]}) ORDER BY d.id`);
}

const documentIdOf = ({ kind, sha256 }: Pick<Row, "kind" | "sha256">): string => `${kind}-${sha256}`;

/**
 * The documents of an order, oldest first. The revisions that make them are none of their own.
 * @param owner null for whoever has a link to them
 */
export const orderDocuments = async (db: Sql, orderCode: string, owner: Owner | null): Promise<OrderDocument[]> =>
  (await rowsOf(db, orderCode, owner)).map((row) => {
    const { kind, sha256, bytes, origin, createdAt, deletedAt } = row;
    return { documentId: documentIdOf(row), kind, sha256, bytes, origin, createdAt, deletedAt };
  });

type Wanted = { orderCode: string; owner: Owner | null; documentId: string };

/** @throws ServiceError and Error as `openOrderDocument` does */
async function findDocument({ db, rowMac }: DocumentDeps, { orderCode, owner, documentId }: Wanted): Promise<Row> {
  const row = (await rowsOf(db, orderCode, owner)).findLast((each) => documentIdOf(each) === documentId);
  if (!row) throw new ServiceError("not_found", "Document not found.");
  const { kind } = row;
  if (row.deletedAt) throw new ServiceError("not_found", deletedMessage("The document", row.deletedAt));
  if (!rowMac.holds("documents", documentMembers(row), row.mac))
    throw new Error(`the ${kind} of order ${orderCode} is not what was written`);
  return row;
}

const unreadable = () => new ServiceError("unavailable", "The document can't be read now. Try again later.");

/**
 * One of them, to be sent.
 * @throws ServiceError `not_found` for one that there is not, and for one that was deleted; `unavailable` when the store does
 * not have it
 * @throws Error when row or bytes are not what was written
 */
export async function openOrderDocument(
  deps: DocumentDeps,
  wanted: Wanted,
): Promise<{ kind: DocumentKind; file: StoredFile }> {
  const { kind, sha256, blobKey, partnerId } = await findDocument(deps, wanted);
  const file = await deps.blobs.open(blobKey, documentUse(sha256), partnerId);
  if (!file) throw unreadable();
  return { kind, file };
}

/** Works on the bytes of one of them, within the budget of memory. @throws as `openOrderDocument` does, and what the work throws */
export async function withOrderDocument<T>(
  deps: DocumentDeps,
  wanted: Wanted,
  work: (bytes: Buffer) => Promise<T>,
): Promise<T> {
  const { sha256, blobKey: key, partnerId: holder } = await findDocument(deps, wanted);
  return deps.blobs.withBytes({ key, use: documentUse(sha256), holder }, async (bytes) => {
    if (!bytes) throw unreadable();
    return work(bytes);
  });
}

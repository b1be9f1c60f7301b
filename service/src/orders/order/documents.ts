import { timingSafeEqual } from "node:crypto";
import { type LoggedRows, queueEntry } from "../../evidence/transparency-log/transparency-log.ts";
import type { StoredBlobs } from "../../firms/partners/partners.ts";
import type { Environment, Owner } from "../../kernel/identity/identity.ts";
import type { BlobUse } from "../../kernel/platform/blobs/cipher.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { nothing, type Statement, sql } from "../../kernel/platform/database/sql.ts";
import type { BlobRows, MacRow, MacTable } from "../../kernel/platform/protected-data.ts";
import type { Members, RowMac } from "../../kernel/platform/row-mac.ts";
import { derivedToken, deriveKey, keysOf, type SecretBytes } from "../../kernel/platform/secrets.ts";
import { isCode } from "../../kernel/platform/text.ts";
import { emailChanges } from "./corrections.ts";

/** A document in the blob store; `sha256` in hex. */
export type StoredDocument = { sha256: string; bytes: number; blobKey: string };

export type DocumentOwner = Owner & { orderCode: string };

/** Columns of `orders o` that identify the order and the firm that own a document. */
export const documentOwnerColumns: Statement = sql`o.code AS "orderCode@order", o.partner_id AS "partnerId", o.environment`;

/** The facts in the row of an order's document; `sha256` in hex. */
export type DocumentFacts = DocumentOwner & { kind: string; sha256: string; blobKey: string };

/**
 * The fields that the row MAC covers. They include the firm, so moving an order to another firm in the database doesn't
 * move its documents.
 */
export const documentMembers = (document: DocumentFacts): Members => {
  const { partnerId, environment } = document;
  return { ...earlierDocumentMembers(document), partnerId, environment };
};

/** The fields that the MACs of earlier releases covered. */
export const earlierDocumentMembers = ({ orderCode, kind, sha256, blobKey }: DocumentFacts): Members => ({
  orderCode,
  kind,
  sha256,
  blobKey,
});

/** Verifies a document's MAC as earlier releases computed it. */
export const earlierDocumentHolds = (rowMac: RowMac, row: MacRow<DocumentFacts>): boolean =>
  rowMac.holds("documents", earlierDocumentMembers(row), row.mac);

/** Selects the `order_id` of each order with a document of this hash. */
export const ordersWithDocument = (sha256: string): Statement =>
  sql`SELECT order_id FROM documents WHERE sha256 = ${sha256}`;

/**
 * Identifies the use of a document's blob. It names no order, because a document that was filled in online is stored
 * before its order exists.
 */
export const documentUse = (sha256: string): BlobUse => ({ kind: "document", owner: "", sha256 });

/** A document to add to an order; its blob is already stored. */
export type NewDocument = StoredDocument & {
  kind: string;
  rowMac: Buffer;
  /** `operator` when an operator handed the document in; absent for other documents. */
  origin?: "operator";
};

/**
 * Builds the INSERT of an order's document, which returns the row's id. The statement can run alone, or as a part
 * (`WITH ... AS (...)`) of another statement.
 * @param unlessStored inserts nothing and returns no row when the order has a document of the same kind and hash
 */
export const insertDocument = (
  orderId: number,
  { kind, sha256, bytes, blobKey, rowMac, origin }: NewDocument,
  at: Date,
  unlessStored = false,
): Statement => sql`
  INSERT INTO documents (order_id, kind, sha256, bytes, blob_key, created_at, row_mac, origin)
  SELECT ${orderId}, ${kind}, ${sha256}, ${bytes}, ${blobKey}, ${at}, ${rowMac}, ${origin ?? null}
  ${unlessStored ? sql`WHERE NOT EXISTS (SELECT FROM documents WHERE order_id = ${orderId} AND kind = ${kind} AND sha256 = ${sha256})` : nothing}
  RETURNING id`;

/**
 * The INSERT of a document that the service sealed. The statement also queues the document's entry in the transparency
 * log.
 */
export const insertSealedDocument = (
  orderId: number,
  document: NewDocument,
  environment: Environment,
  at: Date,
): Statement => sql`
  WITH logged AS (${queueEntry(environment, { kind: "seal/v1", sealedSha256: document.sha256 }, at)})
  ${insertDocument(orderId, document, at)}`;

export const storedDocuments: StoredBlobs = (partnerId) => sql`
  SELECT d.blob_key, d.bytes FROM orders o JOIN documents d ON d.order_id = o.id WHERE o.partner_id = ${partnerId}`;

const sealedKinds = [
  "sealed",
  "notarized",
  "custody_certificate",
  "delivery_receipt",
  "mail_receipt",
  "fax_certificate",
];

/** The transparency log's lines for the documents that the service sealed. */
export const loggedDocuments: LoggedRows = (environment) => sql`
  SELECT 'seal/v1 ' || d.sha256 AS line, d.kind || ' document ' || d.id AS row, d.created_at AS at
  FROM documents d JOIN orders o ON o.id = d.order_id
  WHERE d.kind = ANY (${sealedKinds}::text[]) AND o.environment = ${environment}`;

/** The FROM clause with which other features read documents; their alias is `d`. */
export const fromDocuments: Statement = sql`FROM documents d`;

export const joinDocuments = (orderId: Statement): Statement => sql`JOIN documents d ON d.order_id = ${orderId}`;

/** SQL condition: true if an order has a document of one of these kinds. */
export const hasDocument = (orderId: Statement, ...kinds: string[]): Statement =>
  sql`EXISTS (SELECT FROM documents d WHERE d.order_id = ${orderId} AND d.kind = ANY (${kinds}::text[]))`;

/** The rows that refer to documents' blobs, with the hash of each blob. */
export const documentBlobs: BlobRows<{ sha256: string }> = {
  columns: sql`sha256`,
  useOf: ({ sha256 }) => documentUse(sha256),
};

export const documentRows: MacTable<DocumentFacts> = {
  table: sql`documents`,
  key: sql`id`,
  keyInRows: sql`d.id`,
  mac: sql`d.row_mac`,
  rows: sql`
SELECT d.id AS key, ${documentOwnerColumns}, d.kind, d.sha256, d.blob_key AS "blobKey", d.row_mac AS mac
FROM documents d JOIN orders o ON o.id = d.order_id`,
  members: documentMembers,
  blobs: documentBlobs,
};

type Linked = "order-documents" | "client-closing";

/**
 * The token of a link. The key is a parameter, because links mailed before a key rotation work as long as the earlier
 * key is configured.
 */
const tokenUnder = (key: SecretBytes, use: Linked, orderCode: string, changes: number): string =>
  derivedToken(deriveKey(key, use), changes === 0 ? orderCode : `${orderCode}/${changes}`);

const isTokenOf = (secrets: SecretBytes, use: Linked, orderCode: string, changes: number, token: string): boolean =>
  isCode(token) &&
  keysOf(secrets).some((key) =>
    timingSafeEqual(Buffer.from(tokenUnder(key, use, orderCode, changes)), Buffer.from(token)),
  );

/**
 * The path of the page with an order's documents. Only the client gets it, by mail. The order's code alone doesn't
 * grant access to that page.
 * @param changes how many times the client's email address was changed, so that paths mailed to earlier addresses stop
 * working
 */
export const documentsPath = (secrets: SecretBytes, orderCode: string, changes: number): string =>
  `/orders/${orderCode}/documents/${tokenUnder(secrets, "order-documents", orderCode, changes)}`;

/**
 * The path of the page on which a client sees and pays all of the client's orders of a closing. Only the client
 * receives the path, in a mail about one of these orders.
 * @param changes as in `documentsPath`
 */
export const clientClosingPath = (secrets: SecretBytes, orderCode: string, changes: number): string =>
  `/orders/${orderCode}/closing/${tokenUnder(secrets, "client-closing", orderCode, changes)}`;

const isClientClosingToken = (secrets: SecretBytes, orderCode: string, changes: number, token: string): boolean =>
  isTokenOf(secrets, "client-closing", orderCode, changes, token);

const isDocumentsToken = (secrets: SecretBytes, orderCode: string, changes: number, token: string): boolean =>
  isTokenOf(secrets, "order-documents", orderCode, changes, token);

/** Verifies the tokens in the links that are mailed to an order's client. */
export const clientLinks = ({ db, secrets }: { db: Sql; secrets: SecretBytes }) => ({
  isToken: async (code: string, token: string) => isDocumentsToken(secrets, code, await emailChanges(db, code), token),
  isClosingToken: async (code: string, token: string) =>
    isClientClosingToken(secrets, code, await emailChanges(db, code), token),
});

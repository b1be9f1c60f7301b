import { canonicalJson } from "@signsealship/evidence/manifest";
import type { Owner } from "../../kernel/identity/identity.ts";
import type { Sql, Tx } from "../../kernel/platform/database/database.ts";
import { isSealed, type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { AlteredRecordError } from "../../kernel/platform/errors.ts";
import type { MacTable } from "../../kernel/platform/protected-data.ts";
import type { Members, RowMac } from "../../kernel/platform/row-mac.ts";
import type { BoughtServices } from "../pricing/pricing.ts";
import { documentMembers } from "./documents.ts";
import type { RequestedField } from "./form/requested-field.ts";
import { type OrderSigner, signersOf } from "./form/signers.ts";
import { orderNotFound } from "./own-order.ts";

/** An order's signing facts: the people who sign, and the fields where each of them signs. */
export type SigningFacts = {
  orderCode: string;
  /** The signers. Null for the client alone, who is identified by the mailed link. */
  signers: readonly OrderSigner[] | null;
  customerName: string | null;
  customerEmail: string;
  /** The requested fields. Null to use the fields and tags in the document itself or, without any, an added page. */
  fields: readonly RequestedField[] | null;
};

/**
 * The data that the row MAC covers. Because of the MAC, access to the database alone is not enough to change who signs.
 */
export const signingMembers = ({ orderCode, fields, ...order }: SigningFacts): Members => ({
  orderCode,
  signers: canonicalJson(signersOf(order)),
  fields: canonicalJson(fields?.map(withExactMeasures) ?? null),
});

/**
 * Canonical JSON has no fractions, so the MAC covers a fractional measure as the text that JavaScript writes for it.
 */
const withExactMeasures = ({ options, ...field }: RequestedField) => ({
  ...exact(field),
  ...(options && { options: options.map(({ label, place }) => ({ label, ...(place && { place: exact(place) }) })) }),
});

const exact = <Measured extends object>(measured: Measured) =>
  Object.fromEntries(
    Object.entries(measured).map(([name, value]) => [
      name,
      typeof value === "number" && !Number.isInteger(value) ? `${value}` : value,
    ]),
  );

/**
 * The members that the MAC of a stored row covers. A value without a canonical form was not written by the service. A
 * row with such a value gets members that match no MAC.
 */
function storedMembers(row: SigningFacts): Members {
  try {
    return signingMembers(row);
  } catch {
    return { orderCode: row.orderCode };
  }
}

export const signingColumns: Statement = sql`o.code AS "orderCode@order", o.signers, o.customer_name AS "customerName",
  o.customer_email AS "customerEmail", o.signature_fields AS fields, o.row_mac AS mac`;

export const signingRows: MacTable<SigningFacts> = {
  table: sql`orders`,
  key: sql`id`,
  keyInRows: sql`o.id`,
  mac: sql`o.row_mac`,
  rows: sql`SELECT o.id AS key, ${signingColumns} FROM orders o`,
  members: storedMembers,
  backfill: { set: "signers of orders" },
};

type WithMac = SigningFacts & { mac: Buffer | null };

export const signersHold = (rowMac: RowMac, row: WithMac): boolean =>
  rowMac.holds("orders", storedMembers(row), row.mac);

/**
 * Checks the MAC of an order's stored signers and fields.
 * @throws AlteredRecordError
 */
export function requireSigners(rowMac: RowMac, row: WithMac): void {
  const altered = () => new AlteredRecordError(`the list of signers of order ${row.orderCode}`);
  rowMac.verify("orders", storedMembers(row), row.mac, { altered });
}

/** The signing facts of a locked order. @throws as `requireSigners` */
export async function readSigning(tx: Tx, rowMac: RowMac, orderId: number): Promise<SigningFacts> {
  const [order] = await tx.query<WithMac>(sql`SELECT ${signingColumns} FROM orders o WHERE o.id = ${orderId}`);
  if (!order) throw orderNotFound();
  requireSigners(rowMac, order);
  return order;
}

/**
 * Replaces signer `n` of the order, or parts of that person's data. A later envelope is then sent to the new person.
 * @param orderId of a locked order
 * @throws as `requireSigners`
 */
export async function replaceSigner(
  tx: Tx,
  rowMac: RowMac,
  orderId: number,
  n: number,
  person: Partial<Omit<OrderSigner, "routing">>,
): Promise<void> {
  const order = await readSigning(tx, rowMac, orderId);
  const signers = signersOf(order).map((each, index) => (index + 1 === n ? { ...each, ...person } : each));
  const mac = rowMac.of("orders", signingMembers({ ...order, signers }));
  await tx.query(sql`
    UPDATE orders SET signers = ${JSON.stringify(signers)}::jsonb, row_mac = ${mac} WHERE id = ${orderId}`);
}

/** The parts of an order that are copied into another order for the same type of document. */
export type CopiedParts = Omit<BoughtServices, "fax"> & {
  docSlug: string | null;
  shipMethod: string | null;
  signers: readonly OrderSigner[];
  fields: readonly RequestedField[] | null;
  /** The original document; null for a row whose MAC is invalid. */
  document: { sha256: string; blobKey: string } | null;
};

type CopiedRow = Omit<CopiedParts, "signers" | "document"> &
  SigningFacts & { mac: Buffer | null; sha256: string; blobKey: string; documentMac: Buffer | null };

/**
 * Reads the parts to copy from the owner's order; undefined for an unknown order, or another owner's.
 * @throws as `requireSigners`, when the order includes signing
 */
export async function readCopiedParts(
  { db, rowMac }: { db: Sql; rowMac: RowMac },
  { partnerId, environment }: Owner,
  code: string,
): Promise<CopiedParts | undefined> {
  const [row] = await db.query<CopiedRow>(sql`
    SELECT ${signingColumns}, o.sign, o.notarize, o.ship, o.doc_slug AS "docSlug", o.ship_method AS "shipMethod", d.sha256,
      d.blob_key AS "blobKey", d.row_mac AS "documentMac"
    FROM orders o JOIN documents d ON d.order_id = o.id AND d.kind = 'original'
    WHERE ${isSealed(sql`o.code`, "order", code)} AND o.partner_id = ${partnerId} AND o.environment = ${environment}`);
  if (!row) return undefined;
  if (row.sign) requireSigners(rowMac, row);
  const { sha256, blobKey, documentMac } = row;
  const owned = { orderCode: row.orderCode, partnerId, environment, kind: "original", sha256, blobKey };
  const holds = rowMac.holds("documents", documentMembers(owned), documentMac);
  return { ...row, signers: signersOf(row), document: holds ? { sha256, blobKey } : null };
}

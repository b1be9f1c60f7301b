import type { Owner } from "../../identity/identity.ts";
import {
  type OrderSigner,
  type RequestedField,
  type SigningFacts,
  signersOf,
  signingColumns,
  signingMembers,
  verifiedOrder,
} from "../../orders/orders.ts";
import type { Sql } from "../../platform/database/database.ts";
import { sql } from "../../platform/database/sql.ts";
import type { RowMac } from "../../platform/row-mac.ts";

/** An order that waits for its signatures. */
export type SigningOrder = Owner & {
  code: string;
  pages: number;
  /** Whether a notary signs after the signers. */
  isNotarized: boolean;
  signers: readonly OrderSigner[];
  /** Where the partner wants them to sign; null where the document says it. */
  fields: readonly RequestedField[] | null;
};

type Row = SigningFacts & Owner & { pages: number; isNotarized: boolean; mac: Buffer | null };

/** Undefined for one that does not wait for signatures. @throws Error when who signs is not what was written */
export async function readSigningOrder(
  { db, rowMac }: { db: Sql; rowMac: RowMac },
  orderId: number,
): Promise<SigningOrder | undefined> {
  const [row] = await db.query<Row>(sql`
    SELECT ${signingColumns}, o.partner_id AS "partnerId", o.environment, d.pages, o.notarize AS "isNotarized", ${verifiedOrder}
    FROM orders o JOIN documents d ON d.order_id = o.id AND d.kind = 'original'
    WHERE o.id = ${orderId} AND o.status = 'EsignPending'`);
  if (!row) return undefined;
  requireSigners(rowMac, row);
  const { orderCode: code, partnerId, environment, pages, isNotarized, fields } = row;
  return { code, partnerId, environment, pages, isNotarized, fields, signers: signersOf(row) };
}

/** @throws Error when the signers of an order are not those that were written */
export function requireSigners(rowMac: RowMac, row: SigningFacts & { mac: Buffer | null }): void {
  if (!rowMac.holds("orders", signingMembers(row), row.mac))
    throw new Error(`the signers of order ${row.orderCode} are not what was written`);
}

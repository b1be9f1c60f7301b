import type { Owner } from "../../../kernel/identity/identity.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import {
  fromOrders,
  joinDocuments,
  type OrderSigner,
  type RequestedField,
  replacementsOf,
  requireSigners,
  type SigningFacts,
  signersOf,
  signingColumns,
  verifiedOrder,
} from "../../../orders/order/order.ts";

/** An order that waits for its signers, who sign alone or in a notary's presence. */
export type SigningOrder = Owner & {
  code: string;
  pages: number;
  /** True if a notary signs after the signers. */
  isNotarized: boolean;
  signers: readonly OrderSigner[];
  /** How many times the order's document was replaced. */
  replacements: number;
  /**
   * The places that the partner's order names for the signers' fields. Null to use the document's own fields or tags.
   */
  fields: readonly RequestedField[] | null;
};

type Row = SigningFacts & Owner & { pages: number; isNotarized: boolean; replacements: number; mac: Buffer | null };

/** Reads an order; undefined when it doesn't have this status. @throws Error when its signers were altered */
export async function readSigningOrder(
  { db, rowMac }: { db: Sql; rowMac: RowMac },
  orderId: number,
  status: "EsignPending" | "NotarizationPending" = "EsignPending",
): Promise<SigningOrder | undefined> {
  const [row] = await db.query<Row>(sql`
    SELECT ${signingColumns}, o.partner_id AS "partnerId", o.environment, d.pages, o.notarize AS "isNotarized",
      ${replacementsOf(sql`o.id`)} AS replacements,
      ${verifiedOrder}
    ${fromOrders} ${joinDocuments(sql`o.id`)} AND d.kind = 'original'
    WHERE o.id = ${orderId} AND o.status = ${status}`);
  if (!row) return undefined;
  requireSigners(rowMac, row);
  const { orderCode: code, partnerId, environment, pages, isNotarized, replacements, fields } = row;
  return { code, partnerId, environment, pages, isNotarized, replacements, fields, signers: signersOf(row) };
}

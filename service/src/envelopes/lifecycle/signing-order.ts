import { type OrderSigner, type RequestedField, signersOf } from "../../orders/orders.ts";
import type { Sql } from "../../platform/database/database.ts";
import { sql } from "../../platform/database/sql.ts";

/** An order that waits for its signatures. */
export type SigningOrder = {
  code: string;
  partnerId: string;
  pages: number;
  signers: readonly OrderSigner[];
  /** Where the partner wants them to sign; null where the document says it. */
  fields: readonly RequestedField[] | null;
};

type Row = Omit<SigningOrder, "signers"> & {
  signers: readonly OrderSigner[] | null;
  customerName: string | null;
  customerEmail: string;
};

/** Undefined for one that does not wait for signatures. */
export async function readSigningOrder(db: Sql, orderId: number): Promise<SigningOrder | undefined> {
  const [row] = await db.query<Row>(sql`
    SELECT o.code, o.partner_id AS "partnerId", d.pages, o.signers, o.signature_fields AS fields,
      o.customer_name AS "customerName", o.customer_email AS "customerEmail"
    FROM orders o JOIN documents d ON d.order_id = o.id AND d.kind = 'original'
    WHERE o.id = ${orderId} AND o.status = 'EsignPending'`);
  return row && { ...row, signers: signersOf(row) };
}

import type { Operator } from "../operators/operators.ts";
import type { LockedOrder } from "../orders/orders.ts";
import type { Database, Sql } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";
import { type Held, heldFor, lockShown, refusalOf } from "./rules.ts";
import { selectOpenOfOrder } from "./store.ts";

/** What a refund of an order would be. */
export type RefundPreview = {
  orderCode: string;
  status: string;
  payments: readonly Held[];
  /** Why it cannot be asked for; null when it can. */
  refusal: string | null;
  /** Of the request that is open already. */
  openRequest: string | null;
  /** What was done already, and what a refund ends. */
  warnings: string[];
};

const openEnvelopes: ReadonlySet<string> = new Set(["Sent", "Viewed", "PartiallySigned"]);

/** @throws ServiceError for an order that is unknown, or of the other environment */
export const previewRefund = ({ db }: { db: Database }, operator: Operator, code: string): Promise<RefundPreview> =>
  db.transaction(async (tx) => {
    const order = await lockShown(tx, operator, code);
    const payments = await heldFor(tx, order.id);
    return {
      orderCode: order.code,
      status: order.status,
      payments,
      refusal: refusalOf(order, payments),
      openRequest: (await selectOpenOfOrder(tx, order.id)) ?? null,
      warnings: await warningsOf(tx, order),
    };
  });

async function warningsOf(db: Sql, { id, sign, envelopeStatus }: LockedOrder): Promise<string[]> {
  const [done] = await db.query<{ notarized: boolean; shipped: boolean; faxed: boolean }>(sql`
    SELECT EXISTS (SELECT FROM documents WHERE order_id = ${id} AND kind = 'notarized') AS notarized,
      EXISTS (SELECT FROM shipments WHERE order_id = ${id}) AS shipped,
      EXISTS (SELECT FROM faxes WHERE order_id = ${id}) AS faxed`);
  return [
    ...(sign && envelopeStatus !== null && openEnvelopes.has(envelopeStatus)
      ? ["An envelope is open. It will be voided, and its signers are told."]
      : []),
    ...(done?.notarized ? ["The notarization was done. The notary has earned the fee."] : []),
    ...(done?.shipped ? ["A label was used. Postage is not refunded by itself."] : []),
    ...(done?.faxed ? ["A fax was sent."] : []),
  ];
}

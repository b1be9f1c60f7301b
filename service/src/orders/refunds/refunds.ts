import type { Operator } from "../../firms/operators/operators.ts";
import type { Database, Sql, Tx } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { openTasksOf } from "../../kernel/tasks/tasks.ts";
import { hasFax, hasShipment } from "../fulfilment/fulfilment.ts";
import { correctionsOf, type EnvelopeStatus, hasDocument, type LockedOrder } from "../order/order.ts";
import { supplementsPaid } from "../payments/payments.ts";
import { assignmentRows } from "./by-hand.ts";
import { type Held, heldFor, lockShown, refusalOf } from "./rules.ts";
import { requestRows, selectOpenOfOrder } from "./store.ts";
import { dollarsOf } from "./write-request.ts";

export {
  approveAssignment,
  askAssignment,
  dropAssignment,
  type WaitingRefund,
  waitingRefunds,
} from "./by-hand.ts";
export { bookLossPaid, finishFailedRefund, undoLossPaid, undoPaidBack } from "./failed.ts";
export { partRefundJobs, requestPartRefund, technologyFeeOf } from "./part.ts";
/**
 * Refunds by two people, or by one where the installation allows it: one requests, and another approves. Only then does
 * the order enter RefundPending; a refund of a part doesn't move it.
 */
export {
  approveRefund,
  listRefunds,
  type RefundRequest,
  refundOf,
  refuseRefund,
  requestRefund,
  requestUnappliedRefund,
  withdrawRefund,
} from "./request.ts";
export { bookerNeeded, type Held, namesNeeded, type RefundDeps } from "./rules.ts";
export { hasPartRefund, partnerOfRequest } from "./store.ts";

export const protectedTables = [...requestRows, assignmentRows];

/** The facts that an operator sees before requesting a refund of an order. */
export type RefundPreview = {
  orderCode: string;
  status: string;
  payments: readonly Held[];
  /** The reason why the order can't be refunded; null when it can. Says nothing about an open request. */
  refusal: string | null;
  /** The id of an open request; null without one. */
  openRequest: string | null;
  /** The refund that the firm asked for, while its task is open. `amountCents`: null for all. */
  asked: { amountCents: number | null; reason: string } | null;
  /** Warnings about work that is already done, and about work in progress that the refund would end. */
  warnings: string[];
};

const openEnvelopes: ReadonlySet<EnvelopeStatus> = new Set(["Sent", "Viewed", "PartiallySigned"]);

/**
 * The preview of an order's refund: the payments that it would return and, if the order can't be refunded, the reason.
 * @throws ServiceError for an order that is unknown, or in the other environment
 */
export const previewRefund = ({ db }: { db: Database }, operator: Operator, code: string): Promise<RefundPreview> =>
  db.transaction(async (tx) => {
    const order = await lockShown(tx, operator, code);
    const payments = await heldFor(tx, order.id);
    return {
      orderCode: order.code,
      status: order.status,
      payments,
      refusal: await refusalOf(tx, order, payments),
      openRequest: (await selectOpenOfOrder(tx, order.id)) ?? null,
      asked: await askedFor(tx, order, dollarsOf(payments)),
      warnings: await warningsOf(tx, order),
    };
  });

async function askedFor(
  tx: Tx,
  { id: orderId, totalCents }: LockedOrder,
  heldCents: number | null,
): Promise<RefundPreview["asked"]> {
  if ((await openTasksOf(tx, { orderId, kinds: ["refund_asked"] })).length === 0) return null;
  const last = (await correctionsOf(tx, orderId)).findLast(({ kind }) => kind === "refund");
  if (!last) return null;
  const { amountCents, reason } = last.after;
  // A sum below the price is a part, even if no more is held by now: the firm wants its order to continue. The whole
  // price is a part while more than that is held, such as a price that was paid twice.
  const wholeCents = heldCents === null ? null : Math.max(heldCents, totalCents + (await supplementsPaid(tx, orderId)));
  const isPart = typeof amountCents === "number" && (wholeCents === null || amountCents < wholeCents);
  return { amountCents: isPart ? amountCents : null, reason: String(reason ?? "") };
}

async function warningsOf(db: Sql, { id, sign, envelopeStatus }: LockedOrder): Promise<string[]> {
  const [done] = await db.query<{ notarized: boolean; shipped: boolean; faxed: boolean }>(sql`
    SELECT ${hasDocument(sql`${id}::bigint`, "notarized")} AS notarized,
      ${hasShipment(id)} AS shipped,
      ${hasFax(id)} AS faxed`);
  return [
    ...(sign && envelopeStatus !== null && openEnvelopes.has(envelopeStatus)
      ? ["An envelope is open. It will be voided, and its signers are told."]
      : []),
    ...(done?.notarized ? ["The notarization was done. The notary has earned the fee."] : []),
    ...(done?.shipped ? ["A label was used. Postage is not refunded by itself."] : []),
    ...(done?.faxed ? ["A fax was sent."] : []),
  ];
}

import { newOrderLines } from "../../kernel/audit/audit.ts";
import { eventRow } from "../../kernel/events/events.ts";
import { actorOf, type Principal } from "../../kernel/identity/identity.ts";
import type { DocumentNotice } from "../../kernel/pdf/unseen/notice.ts";
import type { Sql, Tx } from "../../kernel/platform/database/database.ts";
import { nothing, type Statement, sealed, sql } from "../../kernel/platform/database/sql.ts";
import { codeStart } from "../../kernel/platform/text.ts";
import { openTask } from "../../kernel/tasks/tasks.ts";
import type { CarrierRate } from "../pricing/pricing.ts";
import { coveredValues, insertedNames, insertedValues } from "./columns.ts";
import type { OrderForm } from "./form/form.ts";
import type { OrderSigner } from "./form/signers.ts";
import { macOfNewOrder } from "./order-mac.ts";
import type { OriginalDocument } from "./store.ts";
import { insertTemplateUse, type TemplateUse } from "./template-use.ts";
import { firmChargeQueue, firmWaitQueue, orderMailQueue } from "./transitions/effects.ts";
import type { OrderStatus } from "./transitions/statuses.ts";
import type { OrderRow } from "./views.ts";

export type NewOrder = OrderRow & {
  status: Extract<OrderStatus, "QuoteReady" | "ManualQuoteRequired">;
  principal: Principal;
  form: OrderForm;
  /** The signers. Null for the client alone, who is identified by the mailed link. */
  signers: readonly OrderSigner[] | null;
  /** The carrier's rate on which the postage line is based; null without one. */
  carrierRate: CarrierRate | null;
  priceBookVersion: number;
  /** The encrypted name of the document. */
  documentName: Buffer | null;
  notices: readonly DocumentNotice[];
  document: OriginalDocument & { rowMac: Buffer };
  /** The MAC over the signing facts of the order. Every new order has one, even without signing. */
  rowMac: Buffer | null;
  /** The template from which the order was placed; null without a template. */
  templateUse: (TemplateUse & { rowMac: Buffer }) | null;
  /** True for an order of a closing: if the firm pays, the caller queues the charge of the closing's orders. */
  isChargedWithOthers?: true;
  /**
   * The only payment method that may be charged automatically if the firm pays. Null for no method, undefined for the
   * active one.
   */
  methodToCharge?: string | null | undefined;
};

const jsonOrNull = (value: object | null): string | null => value && JSON.stringify(value);

/**
 * The single statement that writes an order, its document, template use, audit lines, event and next job.
 * @param claim the INSERT that claims the request's Idempotency-Key. If it inserts no row, nothing is written.
 */
export function insertStatement(order: NewOrder, claim: Statement | null): Statement {
  const { code, status, createdAt: at, form, principal, document } = order;
  const { partnerId, environment } = principal;
  const audit = newOrderLines(
    { at, actor: actorOf(principal), partnerId, code, status, reason: order.manualQuoteReason },
    sql`new_order`,
  );
  const eventId = `order.created:${code}`;
  const event = eventRow(
    { at, topic: "order.created", eventId, partnerId, environment, subject: code, orderId: sql`new_order.id` },
    sql`new_order`,
  );
  return sql`
    WITH ${claim ? sql`claim AS (${claim}), ` : nothing}new_order AS (
      INSERT INTO orders (code, code_start, ${insertedNames}, envelope_status, document_name, document_notices, signers,
        signature_fields, row_mac, state_mac, created_at, updated_at)
      SELECT ${sealed("order", code)}, ${sealed("orderStart", codeStart(code))}, ${insertedValues(order)}, ${order.envelopeStatus},
        ${order.documentName}::bytea, ${order.documentNotices}::bytea, ${jsonOrNull(order.signers)}::jsonb,
        ${jsonOrNull(form.signing.signatureFields)}::jsonb, ${order.rowMac}::bytea, ${macOfNewOrder(code, coveredOf(order))}::bytea, ${at}, ${at}
      ${claim ? sql`FROM claim` : nothing}
      RETURNING id
    ), document AS (
      INSERT INTO documents (order_id, kind, sha256, bytes, pages, blob_key, created_at, row_mac)
      SELECT id, 'original', ${document.sha256}, ${document.bytes}, ${document.pages}, ${document.blobKey}, ${at},
        ${document.rowMac}::bytea
      FROM new_order
    ), audit AS (${audit}), event AS (${event})${templateUse(order)}
    SELECT id${quoteJob(order)} FROM new_order`;
}

/** The values that the order's MAC covers, without the code, in the sequence of the columns in `orderState`. */
const coveredOf = (order: NewOrder): unknown[] => [
  ...coveredValues(order),
  order.envelopeStatus,
  order.createdAt.getTime(),
  order.documentName !== null,
  order.documentNotices !== null,
  [],
];

function templateUse({ templateUse: use }: NewOrder): Statement {
  return use === null ? nothing : sql`, template AS (${insertTemplateUse(use, sql`new_order`)})`;
}

/**
 * Queues the next job for an order that can be paid. If the client pays, the client gets a mail. If the firm pays, its
 * method is charged, or the order waits until somebody of the firm agrees.
 *
 * If the firm pays an order of a closing, queues nothing: the caller queues the charge of the closing's orders.
 */
function quoteJob({ status, createdAt: at, form, isChargedWithOthers, methodToCharge }: NewOrder): Statement {
  if (status !== "QuoteReady") return nothing;
  if (form.payBy === "firm" && isChargedWithOthers) return nothing;
  const queue = methodToCharge === null ? firmWaitQueue : firmChargeQueue;
  const method = methodToCharge ? sql`, 'methodId', ${methodToCharge}::text` : nothing;
  if (form.payBy === "firm") return sql`, enqueue_job(${queue}, jsonb_build_object('orderId', id${method}))`;
  return sql`, enqueue_job(${orderMailQueue}, jsonb_build_object('orderId', id, 'moment', 'quote_ready', 'at', ${at.toISOString()}::text, 'queuedAt', clock_timestamp()))`;
}

/**
 * Inserts an order that is already priced.
 * @returns false when an earlier request has claimed the Idempotency-Key; nothing was written then
 */
export async function insertOrder(db: Sql, order: NewOrder, claim: Statement | null): Promise<boolean> {
  return (await db.query(insertStatement(order, claim))).length === 1;
}

/**
 * Inserts an order that a person has to price, and opens the task for it.
 * @returns false when an earlier request has claimed the Idempotency-Key; nothing was written then
 */
export async function insertUnpriced(tx: Tx, order: NewOrder, claim: Statement | null): Promise<boolean> {
  const [inserted] = await tx.query<{ id: number }>(insertStatement(order, claim));
  if (!inserted) return false;
  const { manualQuoteReason: reason, createdAt: at, principal } = order;
  await openTask(tx, { kind: "quote", at, environment: principal.environment, orderId: inserted.id, reason });
  return true;
}

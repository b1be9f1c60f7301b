import { auditLine } from "../../audit/audit.ts";
import type { Taker } from "../../fulfilment/fulfilment.ts";
import type { LockedOrder } from "../../orders/orders.ts";
import type { Tx } from "../../platform/database/database.ts";
import { sql } from "../../platform/database/sql.ts";
import { ServiceError } from "../../platform/errors.ts";
import { enqueue } from "../../platform/jobs/jobs.ts";
import { requireNoActUnderWay } from "../../providers/providers.ts";
import { closeTasks } from "../../tasks/tasks.ts";
import type { LabelDeps } from "./deps.ts";
import { easypostActor } from "./deps.ts";
import { findLabelOrder, insertLabel, labelsOf, shippingAttempt } from "./store.ts";

/** The queue of labels to prepare and then to buy; payload `{labelId}`. */
export const prepareQueue = "label-prepare";

type TakeDeps = Pick<LabelDeps, "easypost">;

/** Has the label of an order bought for people to print and hand over: their task stays open. */
export const labelTaker = ({ easypost }: TakeDeps): Taker => ({
  kind: "label_print",
  actor: easypostActor,
  async take(tx, order, at) {
    if (!easypost) return null;
    const attempt = await shippingAttempt(tx, order.id);
    const labels = await labelsOf(tx, order.id);
    if (labels.some((label) => label.attempt === attempt && label.state !== "withdrawn")) return "beside";
    const quotedCents = (await findLabelOrder(tx, order.id))?.quotedCents ?? null;
    const mostCents = quotedCents === null ? null : Math.floor(quotedCents * (1 + easypost.rateTolerance));
    await prepareLater(tx, await insertLabel(tx, order.id, { attempt, orderedBy: null, mostCents, at }));
    return "beside";
  },
});

const prepareLater = (tx: Tx, labelId: number) => enqueue(tx, prepareQueue, { labelId });

/**
 * Has a label bought after all that was not bought by itself: it was dearer than quoted, or the address is in doubt.
 * @param mostCents the price that the operator was shown
 * @throws ServiceError when there is nothing to buy now
 */
export async function buyAnyway(
  tx: Tx,
  order: LockedOrder,
  { mostCents, operator, at }: { mostCents: number; operator: string; at: Date },
): Promise<void> {
  await requireNoActUnderWay(tx, order.id);
  const attempt = await shippingAttempt(tx, order.id);
  const last = (await labelsOf(tx, order.id)).findLast((label) => label.attempt === attempt);
  if (order.status !== "ShippingPending" || last?.state !== "not_bought")
    throw new ServiceError("conflict", "There is no label to buy now.");
  await prepareLater(tx, await insertLabel(tx, order.id, { attempt, orderedBy: operator, mostCents, at }));
  const { id: orderId, partnerId } = order;
  const detail = { mostCents, why: last.why };
  await tx.query(auditLine({ at, action: "label.ordered", actor: operator, partnerId, orderId, detail }));
  const end = { state: "done", at, by: operator, outcome: "the label is bought" } as const;
  await tx.query(closeTasks({ orderId, kinds: ["postage_dearer"] }, end));
}

/** What the task by which people ship an order says to them. */
export const tellShippers = (tx: Tx, orderId: number, reason: string) =>
  tx.query(sql`
    UPDATE tasks SET reason = ${reason}
    WHERE order_id = ${orderId} AND kind = 'label_print' AND state IN ('open', 'claimed', 'paused')`);

import { auditLine } from "../../../kernel/audit/audit.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { enqueue } from "../../../kernel/platform/jobs/jobs.ts";
import { closeTasks, explainTask } from "../../../kernel/tasks/tasks.ts";
import type { Taker } from "../../../orders/fulfilment/fulfilment.ts";
import type { LockedOrder } from "../../../orders/order/order.ts";
import { requireNoActUnderWay } from "../../../providers/providers.ts";
import { easypostActor, type LabelDeps } from "./deps.ts";
import { findLabelOrder, insertLabel, labelsOf, shippingAttempt } from "./store.ts";

/** The queue of labels that are prepared and then bought; payload `{labelId}`. */
export const prepareQueue = "label-prepare";

type TakeDeps = Pick<LabelDeps, "easypost">;

/** Queues the purchase of the label. Staff still print it, so their task stays open. */
export const labelTaker = ({ easypost: { settings } }: TakeDeps): Taker => ({
  kind: "label_print",
  actor: easypostActor,
  async take(tx, order, at) {
    if (!settings) return null;
    const attempt = await shippingAttempt(tx, order.id);
    const labels = await labelsOf(tx, order.id);
    if (labels.some((label) => label.attempt === attempt && label.state !== "withdrawn")) return "beside";
    const quotedCents = (await findLabelOrder(tx, order.id))?.quotedCents ?? null;
    const mostCents = quotedCents === null ? null : Math.floor(quotedCents * (1 + settings.rateTolerance));
    await prepareLater(tx, await insertLabel(tx, order.id, { attempt, orderedBy: null, mostCents, at }));
    return "beside";
  },
});

const prepareLater = (tx: Tx, labelId: number) => enqueue(tx, prepareQueue, { labelId });

/**
 * Buys a label that was not bought automatically, because it exceeded the quote or its address is in doubt.
 * @param mostCents the price that the operator saw
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
  await closeTasks(tx, { orderId, kinds: ["postage_dearer"] }, end);
}

/** Sets the reason that the shipping task shows to people. */
export const tellShippers = (tx: Tx, orderId: number, reason: string) =>
  explainTask(tx, orderId, "label_print", reason, true);

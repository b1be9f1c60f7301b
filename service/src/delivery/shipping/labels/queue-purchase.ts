import { auditLine } from "../../../kernel/audit/audit.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { enqueue } from "../../../kernel/platform/jobs/jobs.ts";
import { closeTasks, explainTask } from "../../../kernel/tasks/tasks.ts";
import type { Taker } from "../../../orders/fulfilment/fulfilment.ts";
import type { LockedOrder } from "../../../orders/order/order.ts";
import { heldSupplements, supplementsPaid, withdrawSupplement } from "../../../orders/payments/payments.ts";
import { requireNoActUnderWay } from "../../../providers/providers.ts";
import { easypostActor, type LabelDeps, type LabelSettings } from "./deps.ts";
import { findLabelOrder, insertLabel, type Label, labelsOf, shippingAttempt } from "./store.ts";

/** The queue of labels that are prepared and then bought; payload `{labelId}`. */
export const prepareQueue = "label-prepare";

type TakerDeps = Pick<LabelDeps, "easypost">;

/** Queues the purchase of the label. Staff still print it, so their task stays open. */
export const labelTaker = ({ easypost: { settings } }: TakerDeps): Taker => ({
  kind: "label_print",
  actor: easypostActor,
  async accept(tx, order, at) {
    if (!settings) return null;
    const attempt = await shippingAttempt(tx, order.id);
    const labels = await labelsOf(tx, order.id);
    // True if EasyPost has answered the request to refund the label. Until then, the label blocks the next label of the
    // same shipment. A withdrawn label blocks nothing. After a rejected refund, staff decide about the next label.
    const isReturned = ({ refundState }: Label) => refundState !== null && refundState !== "intended";
    const isBlocking = (label: Label) => label.attempt === attempt && label.state !== "withdrawn" && !isReturned(label);
    if (labels.some(isBlocking)) return "taskStaysOpen";
    const mostCents = await budgetOf(tx, order.id, settings);
    await prepareLater(tx, await insertLabel(tx, order.id, { attempt, orderedBy: null, mostCents, at }));
    return "taskStaysOpen";
  },
});

/**
 * The most that a label may cost without anyone's consent. It is the sum of the quoted postage, the postage supplements
 * that were paid since, and the excess that the operator absorbs. Null when no postage was quoted.
 */
export async function budgetOf(
  tx: Tx,
  orderId: number,
  { rateTolerance }: Pick<LabelSettings, "rateTolerance">,
): Promise<number | null> {
  const quotedCents = (await findLabelOrder(tx, orderId))?.quotedCents ?? null;
  if (quotedCents === null) return null;
  return Math.floor((quotedCents + (await supplementsPaid(tx, orderId))) * (1 + rateTolerance));
}

/** Prepares the label of a locked order again, if the payer has paid the postage supplement since the last attempt. */
export async function buyAsPaid(
  { easypost: { settings } }: TakerDeps,
  tx: Tx,
  order: LockedOrder,
  at: Date,
): Promise<void> {
  if (!settings || order.status !== "ShippingPending") return;
  const attempt = await shippingAttempt(tx, order.id);
  const last = (await labelsOf(tx, order.id)).findLast((label) => label.attempt === attempt);
  if (last?.state !== "not_bought") return;
  const isPaidSince = (await heldSupplements(tx, order.id)).some(({ paidAt }) => paidAt > last.createdAt);
  if (!isPaidSince) return;
  const mostCents = await budgetOf(tx, order.id, settings);
  await tellShippers(tx, order.id, "The dearer postage was paid: the label is being bought.");
  await prepareLater(tx, await insertLabel(tx, order.id, { attempt, orderedBy: null, mostCents, at }));
}

const prepareLater = (tx: Tx, labelId: number) => enqueue(tx, prepareQueue, { labelId });

/**
 * Buys a label that was not bought automatically, for example because it costs too much, or the address is in doubt.
 * @param mostCents the price that the operator saw; a label that costs more is not bought
 * @throws ServiceError when there is nothing to buy now, and while a provider's act for the order is under way
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
  await withdrawSupplement(tx, order, { actor: operator, at });
}

/** Sets the reason on the order's unfinished `label_print` task, which staff read. */
export const tellShippers = (tx: Tx, orderId: number, reason: string) =>
  explainTask(tx, orderId, "label_print", reason, true);

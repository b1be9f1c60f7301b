import { dayMs, hourMs } from "../../../kernel/platform/clock.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { enqueue, type Jobs } from "../../../kernel/platform/jobs/jobs.ts";
import { lockOrderById, parcelQueue } from "../../../orders/order/order.ts";
import { withdrawSupplement } from "../../../orders/payments/payments.ts";
import { createEasyPost } from "../../../providers/providers.ts";
import { openTrouble } from "../../trouble.ts";
import type { LabelDeps } from "./deps.ts";
import { fileQueue } from "./file.ts";
import { followParcel, followTracking, isSameNumber } from "./follow.ts";
import { askLater, askQueue, trackingPauseMs } from "./follow-up.ts";
import { isFinal } from "./progress.ts";
import { buyAsPaid } from "./queue-purchase.ts";
import { giveBack, recordRefund } from "./refund.ts";
import {
  asDelivery,
  findLabel,
  type Label,
  labelsOf,
  lastTrackingNumber,
  lockLabel,
  shippingAttempt,
  updateLabel,
} from "./store.ts";

/**
 * Registers two jobs. One reviews an order's labels when the order has changed. The other polls EasyPost, because
 * EasyPost's events may be lost.
 */
export function labelJobs(jobs: Jobs, deps: LabelDeps): void {
  jobs.work<{ orderId: number }>(parcelQueue, ({ orderId }) => reviewLabels(deps, orderId));
  jobs.work<{ labelId: number }>(askQueue, ({ labelId }) => askForLabel(deps, labelId));
}

const refundedStatuses: ReadonlySet<string> = new Set(["RefundPending", "Refunded", "Cancelled"]);
/** The statuses of an order whose parcel may still get a label. */
const waitsForParcel: ReadonlySet<string> = new Set(["ShippingPending", "ShippingFailed", "OnHold"]);
const shippedStatuses: ReadonlySet<string> = new Set(["Shipped", "Delivered", "Completed"]);

/**
 * Reviews the labels of an order whose status has changed. For example, the parcel may have moved during a hold, or the
 * order may no longer need a label.
 */
async function reviewLabels(deps: LabelDeps, orderId: number): Promise<void> {
  await deps.db.transaction(async (tx) => {
    const order = await lockOrderById(tx, orderId);
    if (!order) return;
    const attempt = await shippingAttempt(tx, orderId);
    const shippedAs = await lastTrackingNumber(tx, orderId);
    const at = deps.clock();
    const labels = await labelsOf(tx, orderId);
    const isLabeled = labels.some((label) => label.attempt === attempt && isInUse(label));
    if (isLabeled || !waitsForParcel.has(order.status)) await withdrawSupplement(tx, order, { actor: "system", at });
    await buyAsPaid(deps, tx, order, at);
    const isUnwanted = (label: Label): boolean =>
      refundedStatuses.has(order.status) ||
      label.attempt < attempt ||
      (shippedStatuses.has(order.status) && shippedAs !== null && !isSameNumber(shippedAs, label.trackingNumber));
    for (const label of labels) {
      if (isUnwanted(label)) await giveBack(deps, tx, label);
      else if (label.seen.length > 0) await followParcel(deps, tx, { order, label, newReports: new Set() });
    }
  });
}

const isInUse = ({ state, refundState }: Label): boolean => state === "bought" && refundState === null;

// The longest time after a label's purchase in which reports about its parcel are expected.
const maxWayMs = 60 * dayMs;

/**
 * Polls EasyPost about a label. Once a refund of the label was requested, polls only about the refund. Polling ends
 * when the label's state is final, when its purchase is too long ago, or if EasyPost has no label for the shipment.
 */
async function askForLabel(deps: LabelDeps, labelId: number): Promise<void> {
  const { db, clock, providers } = deps;
  const at = clock();
  const isDue = (await db.query(sql`SELECT FROM labels WHERE id = ${labelId} AND ask_at <= ${at}`)).length > 0;
  const label = isDue ? await findLabel(db, labelId) : undefined;
  if (!label?.boughtAt) return;
  const canAsk = providers.has("easypost");
  if (canAsk && label.refundState !== null) return askForRefund(deps, label);
  if (canAsk && label.trackerId === null && !(await fillIn(deps, label))) return;
  if (canAsk && label.trackerId !== null) {
    const found = await createEasyPost(providers.callOf("easypost")).findTracker(label.trackerId);
    if (found.kind === "done") await followTracking(deps, labelId, found.result);
  }
  const after = await findLabel(db, labelId);
  if (!after) return;
  const isOver = at.getTime() - label.boughtAt.getTime() > maxWayMs;
  const isWaiting =
    after.refundState === null ? !isOver && !isFinal(new Set(after.seen)) : after.refundState === "submitted";
  // Without an API key the job is still repeated, because a key may be configured later.
  const pauseMs = canAsk && label.trackerId !== null ? trackingPauseMs : hourMs;
  if (isWaiting) await db.transaction((tx) => askLater(tx, labelId, at, pauseMs));
}

async function askForRefund(deps: LabelDeps, { id, shipmentId }: Label): Promise<void> {
  const found = await createEasyPost(deps.providers.callOf("easypost")).findShipment(shipmentId ?? "");
  await deps.db.transaction(async (tx) => {
    const locked = await lockLabel(tx, id);
    if (locked?.label.refundState !== "submitted") return;
    await recordRefund(deps, tx, locked.label, found.kind === "done" ? found.result.refundStatus : "submitted");
  });
}

/**
 * Asks EasyPost for the tracker and the file of a label that a person recorded as bought.
 * @returns false when EasyPost has no label for the shipment; true also when EasyPost can't be asked now
 */
async function fillIn({ db, clock, providers }: LabelDeps, { id, shipmentId }: Label): Promise<boolean> {
  const found = await createEasyPost(providers.callOf("easypost")).findShipment(shipmentId ?? "");
  if (found.kind === "unavailable" || found.kind === "unknown") return true;
  const bought = found.kind === "done" ? found.result.label : null;
  return db.transaction(async (tx) => {
    const locked = await lockLabel(tx, id);
    if (locked?.label.trackerId !== null) return true;
    const { order, label } = locked;
    if (!bought) {
      await openTrouble(
        tx,
        asDelivery(label),
        clock(),
        `EasyPost shows no label of the shipment ${shipmentId}: was it bought?`,
      );
      return false;
    }
    // Before the parcel is handed over, the tracking number that EasyPost states replaces the recorded one. Afterwards,
    // the recorded one stays, even if it was mistyped.
    const trackingNumber = order.status === "ShippingPending" ? bought.trackingNumber : label.trackingNumber;
    const { trackerId, labelUrl } = bought;
    const columns = sql`tracker_id = ${trackerId}, label_url = ${labelUrl}, tracking_number = ${trackingNumber}`;
    await updateLabel(tx, id, columns);
    await enqueue(tx, fileQueue, { labelId: id });
    return true;
  });
}

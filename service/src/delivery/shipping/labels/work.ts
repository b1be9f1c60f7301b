import { parcelQueue } from "../../orders/orders.ts";
import { dayMs, hourMs } from "../../platform/clock.ts";
import { sql } from "../../platform/database/sql.ts";
import { enqueue, type Jobs } from "../../platform/jobs/jobs.ts";
import { createEasyPost } from "../../providers/providers.ts";
import { askLater, askQueue, trackingPauseMs } from "./ask.ts";
import type { LabelDeps } from "./deps.ts";
import { fileQueue } from "./file.ts";
import { followParcel, followTracking, isSameNumber, lockOrderById } from "./follow.ts";
import { isFinal } from "./progress.ts";
import { giveBack, recordRefund } from "./refund.ts";
import {
  findLabel,
  type Label,
  labelsOf,
  lastTrackingNumber,
  lockLabel,
  shippingAttempt,
  updateLabel,
} from "./store.ts";
import { openTrouble } from "./trouble.ts";

/** What goes on with labels beside their events: orders that moved, and what is asked for because events are lost. */
export function labelJobs(jobs: Jobs, deps: LabelDeps): void {
  jobs.work<{ orderId: number }>(parcelQueue, ({ orderId }) => reviewLabels(deps, orderId));
  jobs.work<{ labelId: number }>(askQueue, ({ labelId }) => askForLabel(deps, labelId));
}

const refundedStatuses: ReadonlySet<string> = new Set(["RefundPending", "Refunded", "Cancelled"]);
const shippedStatuses: ReadonlySet<string> = new Set(["Shipped", "Delivered", "Completed"]);

/** Looks at the labels of an order that moved: it may have waited on hold while its parcel went on, or need a label no more. */
async function reviewLabels(deps: LabelDeps, orderId: number): Promise<void> {
  await deps.db.transaction(async (tx) => {
    const order = await lockOrderById(tx, orderId);
    if (!order) return;
    const attempt = await shippingAttempt(tx, orderId);
    const shippedAs = await lastTrackingNumber(tx, orderId);
    const isUnwanted = (label: Label): boolean =>
      refundedStatuses.has(order.status) ||
      label.attempt < attempt ||
      (shippedStatuses.has(order.status) && shippedAs !== null && !isSameNumber(shippedAs, label.trackingNumber));
    for (const label of await labelsOf(tx, orderId)) {
      if (isUnwanted(label)) await giveBack(deps, tx, label);
      else if (label.seen.length > 0) await followParcel(deps, tx, { order, label, news: new Set() });
    }
  });
}

// After two months nothing more is heard of a parcel.
const longestWayMs = 60 * dayMs;

/** Asks EasyPost what became of a label, and once more later unless that is final. */
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
  const isOver = at.getTime() - label.boughtAt.getTime() > longestWayMs;
  const isWaiting =
    after.refundState === null ? !isOver && !isFinal(new Set(after.seen)) : after.refundState === "submitted";
  // Without its key now, there may be one later.
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
 * Asks for what a person did not know who said that the label was bought: its tracker and its file.
 * @returns false where EasyPost has no such label
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
      await openTrouble(tx, label, clock(), `EasyPost shows no label of the shipment ${shipmentId}: was it bought?`);
      return false;
    }
    // What the parcel was recorded under stays, also where it was mistyped.
    const trackingNumber = order.status === "ShippingPending" ? bought.trackingNumber : label.trackingNumber;
    const { trackerId, labelUrl } = bought;
    const known = sql`tracker_id = ${trackerId}, label_url = ${labelUrl}, tracking_number = ${trackingNumber}`;
    await updateLabel(tx, id, known);
    await enqueue(tx, fileQueue, { labelId: id });
    return true;
  });
}

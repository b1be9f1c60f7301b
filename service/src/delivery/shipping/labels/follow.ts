import { dayMs } from "../../../kernel/platform/clock.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { enqueue, type Jobs } from "../../../kernel/platform/jobs/jobs.ts";
import { perform } from "../../../orders/fulfilment/fulfilment.ts";
import { type LockedOrder, mailClient } from "../../../orders/order/order.ts";
import { type EventOutcome, type StoredEvent, type Tracking, trackingOfEvent } from "../../../providers/providers.ts";
import { enqueueReceipt } from "../../receipts/receipts.ts";
import { openTrouble } from "../../trouble.ts";
import { easypostActor, type LabelDeps } from "./deps.ts";
import {
  eventsToFollow,
  failureReason,
  followUpOf,
  isTrackingStatus,
  parcelOutcome,
  type TrackingStatus,
} from "./progress.ts";
import {
  asDelivery,
  findLabel,
  type Label,
  lastTrackingNumber,
  lockLabel,
  shippingAttempt,
  updateLabel,
} from "./store.ts";

/** The queue of labels whose parcel waits for the recipient to collect it; payload `{labelId}`. */
const pickupQueue = "label-pickup";
const pickupPatienceMs = 3 * dayMs;

export function pickupJobs(jobs: Jobs, deps: LabelDeps): void {
  jobs.work<{ labelId: number }>(pickupQueue, ({ labelId }) => tellOfPickup(deps, labelId));
}

/** Handles EasyPost's events about parcels. */
export const followEvent =
  (deps: LabelDeps) =>
  async ({ body }: StoredEvent): Promise<EventOutcome> => {
    const tracking = trackingOfEvent(body);
    if (!tracking) return "irrelevant";
    const [label] = await deps.db.query<{ id: number }>(sql`
      SELECT id FROM labels WHERE tracker_id = ${tracking.trackerId}`);
    return label ? followTracking(deps, label.id, tracking) : "unknown";
  };

/**
 * Records a report on a parcel, and updates the order's status. A repeated report opens no task, but may add the name
 * of the person who signed for the parcel.
 */
export async function followTracking(deps: LabelDeps, labelId: number, tracking: Tracking): Promise<EventOutcome> {
  const { status, signedBy } = tracking;
  if (!isTrackingStatus(status)) return "irrelevant";
  return deps.db.transaction(async (tx) => {
    const locked = await lockLabel(tx, labelId);
    if (!locked) return "unknown";
    const newReports = new Set(locked.label.seen.includes(status) ? [] : [status]);
    const label = {
      ...locked.label,
      seen: [...locked.label.seen, ...newReports],
      signedBy: signedBy ?? locked.label.signedBy,
    };
    if (newReports.size > 0 || signedBy !== null)
      await updateLabel(tx, labelId, sql`seen = ${label.seen}::text[], signed_by = ${label.signedBy}`);
    await followParcel(deps, tx, { order: locked.order, label, newReports });
    return newReports.size > 0 ? "applied" : "known";
  });
}

type Followed = { order: LockedOrder; label: Label; newReports: ReadonlySet<TrackingStatus> };

/**
 * Moves a locked order to match its parcel. Opens a task for staff if a new report needs attention and the order's
 * status does not show it.
 */
export async function followParcel(deps: LabelDeps, tx: Tx, { order, label, newReports }: Followed): Promise<void> {
  const at = deps.clock();
  const isCurrent = await isOfOrder(tx, order, label);
  const moved = isCurrent ? await moveAfter(deps, tx, order, label) : order;
  const isReturned = label.refundState !== null;
  const reason = isCurrent
    ? followUpOf(newReports, new Set(label.seen), moved.status, isReturned)
    : newReports.has("delivered")
      ? `A parcel that was given up (${label.trackingNumber}) was delivered after all.`
      : null;
  if (reason !== null) await openTrouble(tx, asDelivery(label), at, reason);
  if (!isCurrent || !newReports.has("available_for_pickup") || parcelOutcome(new Set(label.seen)) !== "on_its_way")
    return;
  await mailClient(tx, label.orderId, "ready_for_pickup", at);
  await enqueue(tx, pickupQueue, { labelId: label.id }, new Date(at.getTime() + pickupPatienceMs));
}

async function moveAfter({ clock, log }: LabelDeps, tx: Tx, order: LockedOrder, label: Label): Promise<LockedOrder> {
  const at = clock();
  const seen = new Set(label.seen);
  let moved = order;
  for (const on of eventsToFollow(order.status, seen)) {
    const facts = {
      ...(on === "shipped" && { carrier: label.carrier ?? "", trackingNumber: label.trackingNumber ?? "" }),
      ...(on === "shipping_failed" && { reason: failureReason(seen) }),
    };
    moved = (await perform(tx, moved, on, facts, { actor: easypostActor, at, log })).order;
  }
  if (moved.status === "Delivered" && order.status !== "Delivered")
    await enqueueReceipt(tx, { orderId: order.id, kind: "delivery_receipt", subject: label.id });
  return moved;
}

/** True if the label belongs to the order's current parcel, and not to an earlier one. */
async function isOfOrder(tx: Tx, order: LockedOrder, label: Label): Promise<boolean> {
  if (label.state !== "bought") return false;
  const last = await lastTrackingNumber(tx, order.id);
  if (order.status !== "ShippingPending" && last !== null) return isSameNumber(last, label.trackingNumber);
  return label.attempt === (await shippingAttempt(tx, order.id));
}

const plain = (number: string): string => number.replace(/[^A-Za-z0-9]/g, "").toUpperCase();

/** Compares tracking numbers without spaces and punctuation, because people write them in different ways. */
export const isSameNumber = (one: string, other: string | null): boolean =>
  other !== null && plain(one) === plain(other);

async function tellOfPickup({ db, clock }: LabelDeps, labelId: number): Promise<void> {
  const label = await findLabel(db, labelId);
  if (!label || parcelOutcome(new Set(label.seen)) !== "on_its_way") return;
  await db.transaction(async (tx) => {
    const locked = await lockLabel(tx, labelId);
    if (locked?.order.status !== "Shipped") return;
    await openTrouble(tx, asDelivery(label), clock(), "The parcel has waited to be picked up for three days.");
  });
}

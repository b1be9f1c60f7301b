import { hourMs } from "../../../kernel/platform/clock.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { enqueue } from "../../../kernel/platform/jobs/jobs.ts";
import { parcelQueue } from "../../../orders/order/order.ts";
import { setAskAt } from "./store.ts";

/** The queue of labels whose parcel or refund is polled at EasyPost; payload `{labelId}`. */
export const askQueue = "label-ask";

export const trackingPauseMs = 4 * hourMs;
export const refundPauseMs = 24 * hourMs;

/**
 * Schedules the next poll about a label, in case EasyPost's events are lost. If two polls are queued, the second does
 * nothing.
 */
export async function askLater(tx: Tx, labelId: number, at: Date, pauseMs = trackingPauseMs): Promise<void> {
  const askAt = new Date(at.getTime() + pauseMs);
  await setAskAt(tx, labelId, askAt);
  await enqueue(tx, askQueue, { labelId }, askAt);
}

/**
 * Queues a review of an order's labels. The review updates the order from the parcel's tracking, and requests refunds
 * of labels that are no longer needed.
 */
export const reviewLater = (tx: Tx, orderId: number): Promise<void> => enqueue(tx, parcelQueue, { orderId });

import { hourMs } from "../../../kernel/platform/clock.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { enqueue } from "../../../kernel/platform/jobs/jobs.ts";
import { openTask } from "../../../kernel/tasks/tasks.ts";
import { parcelQueue } from "../../../orders/order/order.ts";
import { type Label, setAskAt } from "./store.ts";

/** The queue of labels to poll for their parcel or refund; payload `{labelId}`. */
export const askQueue = "label-ask";

export const trackingPauseMs = 4 * hourMs;
export const refundPauseMs = 24 * hourMs;

/**
 * Schedules a poll about a label, in case EasyPost's events are lost. When two such jobs exist, the second finds
 * nothing to do.
 */
export async function askLater(tx: Tx, labelId: number, at: Date, pauseMs = trackingPauseMs): Promise<void> {
  const askAt = new Date(at.getTime() + pauseMs);
  await setAskAt(tx, labelId, askAt);
  await enqueue(tx, askQueue, { labelId }, askAt);
}

/** Opens a task for a person to look into a parcel, or its payment. */
export const openTrouble = (tx: Tx, { id, orderId }: Pick<Label, "id" | "orderId">, at: Date, reason: string) =>
  openTask(tx, { kind: "delivery_trouble", at, environment: "live", orderId, subject: `label ${id}`, reason });

/**
 * Queues a review of an order's labels: whether the order must move with its parcel, and whether a label is now
 * useless.
 */
export const reviewLater = (tx: Tx, orderId: number): Promise<void> => enqueue(tx, parcelQueue, { orderId });

import { hourMs } from "../../platform/clock.ts";
import type { Tx } from "../../platform/database/database.ts";
import { sql } from "../../platform/database/sql.ts";
import { enqueue } from "../../platform/jobs/jobs.ts";
import { updateLabel } from "./store.ts";

/** The queue of labels whose parcel, or refund, is asked for; payload `{labelId}`. */
export const askQueue = "label-ask";

export const trackingPauseMs = 4 * hourMs;
export const refundPauseMs = 24 * hourMs;

/** Has EasyPost asked what became of a label, in case its events are lost. Of two such jobs the earlier finds nothing to do. */
export async function askLater(tx: Tx, labelId: number, at: Date, pauseMs = trackingPauseMs): Promise<void> {
  const askAt = new Date(at.getTime() + pauseMs);
  await updateLabel(tx, labelId, sql`ask_at = ${askAt}`);
  await enqueue(tx, askQueue, { labelId }, askAt);
}

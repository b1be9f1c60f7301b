/**
 * Events about the recordings of a firm's orders. They contain topics, times, hashes and causes, but no names or
 * addresses.
 */

import { eventRow } from "../../../kernel/events/events.ts";
import type { Database, Tx } from "../../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { type StateMac, writeStateMacs } from "../../../kernel/platform/database/state-mac.ts";
import { stateRows } from "../../../kernel/platform/protected-data.ts";
import { fromOrders, readOrderHead } from "../../../orders/order/order.ts";
import { required } from "./parts.ts";
import { changeRecording, lockRecording, type Recording } from "./store.ts";

type RecordingTopic = "recording.started" | "recording.completed" | "recording.interrupted" | "recording.deleted";

export const recordingEventState: StateMac = {
  table: sql`recording_events`,
  key: sql`event_row`,
  mac: sql`row_mac`,
  covered: (
    e,
  ) => sql`${e}.event_row, ${e}.recording_id, ${e}.order_id, ${e}.topic, ${e}.n, extract(epoch FROM ${e}.started_at),
    extract(epoch FROM ${e}.ended_at), ${e}.manifest_sha256, ${e}.cause`,
};

export const recordingEventRows = stateRows(recordingEventState);

/**
 * Joins the facts about recordings to a query of events, under the name `told`. For events about other topics, `told`
 * is null.
 */
export const leftJoinRecordingEvent = (event: Statement): Statement =>
  sql`LEFT JOIN recording_events AS told ON told.event_row = ${event}`;

type EventFacts = Pick<Recording, "id" | "orderId" | "startedAt"> & {
  endedAt?: Date | null;
  manifestSha256?: string | null;
};

/**
 * Queues an event for the firm of the recording's order, in the transaction that changes the recording. Does nothing
 * for a recording without an order.
 */
export async function tellOfRecording(
  tx: Tx,
  topic: RecordingTopic,
  { id, orderId, startedAt, endedAt = null, manifestSha256 = null }: EventFacts,
  at: Date,
  cause: string | null = null,
): Promise<void> {
  const order = orderId === null ? undefined : await readOrderHead(tx, orderId);
  if (orderId === null || !order) return;
  // Locks the order, because two concurrent events would otherwise get the same number.
  await tx.query(sql`SELECT ${fromOrders} WHERE o.id = ${orderId} FOR NO KEY UPDATE`);
  const [last] = await tx.query<{ n: number }>(sql`
    SELECT coalesce(max(n), 0)::int AS n FROM recording_events WHERE order_id = ${orderId} AND topic = ${topic}`);
  const n = (last?.n ?? 0) + 1;
  const { code, partnerId, environment } = order;
  const event = { at, topic, eventId: `${topic}:${code}:${n}`, partnerId, environment, subject: code, orderId };
  const [row] = await tx.query<{ id: number }>(sql`${eventRow(event)} RETURNING id`);
  if (!row) throw new Error("the event has no row");
  await tx.query(sql`
    INSERT INTO recording_events (event_row, recording_id, order_id, topic, n, started_at, ended_at, manifest_sha256, cause)
    VALUES (${row.id}, ${id}, ${orderId}, ${topic}, ${n}, ${startedAt}, ${endedAt}, ${manifestSha256}, ${cause})`);
  await writeStateMacs(tx, recordingEventState, sql`event_row = ${row.id}`);
}

/** The actor and the order in an audit entry about the start or the end of a recording. */
export const lineOf = ({ notaryId, orderId }: Pick<Recording, "notaryId" | "orderId">) => ({
  actor: `notary:${notaryId}`,
  ...(orderId !== null && { orderId }),
});

/**
 * Stores when and why takes ended, and notifies the firm of takes that failed. A take is one continuous recording of a
 * person. An ended recording stays unchanged.
 */
export async function endTakes(deps: { db: Database }, session: string, ends: Recording["takeEnds"]): Promise<void> {
  const { id } = await required(deps, session);
  await deps.db.transaction(async (tx) => {
    const recording = await lockRecording(tx, id);
    // The manifest of an ended recording is already written. So a take's end that arrives late must not change the
    // recording. The firm must not be notified of it either.
    if (recording.endedAt !== null) return;
    await changeRecording(tx, id, { takeEnds: { ...recording.takeEnds, ...ends } });
    for (const { at, endedBy } of Object.values(ends))
      if (endedBy === "failed") await tellOfRecording(tx, "recording.interrupted", recording, new Date(at), endedBy);
  });
}

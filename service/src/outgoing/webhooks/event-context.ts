import { leftJoinRoom, roomState } from "../../closing/rooms/rooms.ts";
import { eventColumns, eventHolds, type StoredEvent } from "../../kernel/events/events.ts";
import { type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { type Marked, marked } from "../../kernel/platform/database/state-mac.ts";
import type { RowMac } from "../../kernel/platform/row-mac.ts";
import { leftJoinOrder, orderState } from "../../orders/order/order.ts";
import { leftJoinRecordingEvent, recordingEventState } from "../../signing/notaries/notaries.ts";
import type { EventContext, RecordingContext } from "./payload.ts";

/**
 * The columns from which bodies are built, for the aliases of `contextJoins`: `o` (order), `r` (room) and `told`
 * (recording). Passports are read separately.
 */
export const contextColumns: Statement = sql`${eventColumns},
  o.code AS "orderCode@order", o.status AS "orderStatus", o.external_reference AS "externalReference",
  r.code AS "roomCode@room", r.name AS "roomName", ${marked(orderState, sql`o`)},
  ${marked(roomState, sql`r`, "isRoomAuthentic")}, told.started_at AS "recordingStartedAt", told.ended_at AS "recordingEndedAt",
  told.manifest_sha256 AS "manifestSha256", told.cause AS "recordingCause", ${marked(recordingEventState, sql`told`, "isCauseAuthentic")}`;

/** The joins that follow the table `event` in a statement with `contextColumns`. */
export const contextJoins: Statement = sql`
${leftJoinOrder(sql`event.order_id`)}
${leftJoinRoom(sql`event.room_id`)}
${leftJoinRecordingEvent(sql`event.id`)}`;

type Joined = {
  orderCode: string | null;
  orderStatus: string | null;
  externalReference: string | null;
  roomCode: string | null;
  roomName: string | null;
  isRoomAuthentic: boolean;
} & RecordingFacts &
  Marked &
  StoredEvent;

type RecordingFacts = {
  recordingStartedAt: Date | null;
  recordingEndedAt: Date | null;
  manifestSha256: string | null;
  recordingCause: string | null;
  isCauseAuthentic: boolean;
};

/** A row with `contextColumns` and further columns. */
export type ContextRow<More = unknown> = Pick<EventContext, "webhookId"> & Joined & More;

/**
 * Reads a joined row: the event with its order, room and recording. `isWhole` is true if the event's MAC is valid;
 * callers must not send, list or show other events.
 */
export function contextOf<Row extends Joined>(rowMac: RowMac, row: Row) {
  const { orderCode, orderStatus, externalReference, roomCode, roomName, isAuthentic, isRoomAuthentic, ...others } =
    row;
  const { eventMac, eventRoomId, recordingStartedAt, recordingEndedAt, manifestSha256, recordingCause, ...more } =
    others;
  const { isCauseAuthentic, ...rest } = more;
  return {
    ...rest,
    isWhole: eventHolds(rowMac, row),
    // Null for an order or room whose MAC is invalid, and for an order that is not the event's subject.
    order:
      orderStatus === null || !isAuthentic || orderCode !== row.subject
        ? null
        : { status: orderStatus, externalReference },
    recording: recordingOf(row),
    room: roomCode === null || roomName === null || !isRoomAuthentic ? null : { code: roomCode, name: roomName },
  };
}

/** The facts of the recording. Null for an event about something else, and when the MAC of the facts is invalid. */
function recordingOf({ recordingStartedAt, recordingEndedAt, ...facts }: RecordingFacts): RecordingContext | null {
  if (recordingStartedAt === null || !facts.isCauseAuthentic) return null;
  const { manifestSha256, recordingCause: cause } = facts;
  return { startedAt: recordingStartedAt, endedAt: recordingEndedAt, manifestSha256, cause };
}

import { changeRow } from "../../../kernel/platform/database/change-rows.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { nothing, type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import {
  type Marked,
  marked,
  type StateMac,
  verified,
  verifiedAll,
  writeStateMacs,
} from "../../../kernel/platform/database/state-mac.ts";
import { stateRows } from "../../../kernel/platform/protected-data.ts";
import { fromTasks, taskState } from "../../../kernel/tasks/tasks.ts";
import { joinOrder } from "../../../orders/order/order.ts";
import { stepMs } from "./hours.ts";

export type AppointmentOutcome = "done" | "refused" | "no_show" | "technical";

/** An appointment between the people of an order and a notary. */
export type Appointment = {
  id: string;
  orderId: number;
  notaryId: string;
  mode: "ron" | "ipen";
  startsAt: Date;
  zone: string;
  /**
   * The web address of the notary's tool, or the address where people meet in person. Null for a room of this service.
   */
  meetingPoint: string | null;
  sequence: number;
  state: "scheduled" | "canceled" | "ended";
  outcome: AppointmentOutcome | null;
  bookedAt: Date;
  endedAt: Date | null;
  reminded: number;
};

const appointmentState: StateMac = {
  table: sql`notary_sessions`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (s) => sql`${s}.id, ${s}.order_id, ${s}.notary_id, ${s}.mode, extract(epoch FROM ${s}.starts_at), ${s}.zone,
    ${s}.meeting_point, ${s}.sequence, ${s}.state, ${s}.outcome, extract(epoch FROM ${s}.booked_at),
    extract(epoch FROM ${s}.ended_at), ${s}.reminded`,
};

export const appointmentRows = stateRows(appointmentState);

const columns = (seen: Statement) => sql`
  SELECT s.id, s.order_id AS "orderId", s.notary_id AS "notaryId", s.mode, s.starts_at AS "startsAt", s.zone,
    s.meeting_point AS "meetingPoint", s.sequence, s.state, s.outcome, s.booked_at AS "bookedAt", s.ended_at AS "endedAt",
    s.reminded, ${seen}
  FROM notary_sessions s`;
const appointments = columns(verified(appointmentState, sql`s`));

export async function findAppointment(db: Sql, id: string): Promise<Appointment | undefined> {
  const [found] = await db.query<Appointment>(sql`${appointments} WHERE s.id = ${id}`);
  return found;
}

/** The appointments of an order, in the order in which they were booked. */
export const appointmentsFor = (db: Sql, orderId: number): Promise<Appointment[]> =>
  db.query<Appointment>(sql`${appointments} WHERE s.order_id = ${orderId} ORDER BY s.booked_at, s.id`);

/** The scheduled appointments of a notary. Skips rows whose MAC is invalid. */
export async function scheduledOf(db: Sql, notaryId: string): Promise<Appointment[]> {
  const rows = await db.query<Appointment & Marked>(sql`
    ${columns(marked(appointmentState, sql`s`))} WHERE s.notary_id = ${notaryId} AND s.state = 'scheduled' ORDER BY s.starts_at`);
  return rows.filter(({ isAuthentic }) => isAuthentic).map(({ isAuthentic: _, ...appointment }) => appointment);
}

/**
 * The start times of a notary's scheduled appointments. Includes rows whose MAC is invalid, so that nobody books the
 * time of such an appointment.
 */
export async function bookedTimes(db: Sql, notaryId: string, since: Date): Promise<Date[]> {
  const rows = await db.query<{ at: Date }>(sql`
    SELECT starts_at AS at FROM notary_sessions
    WHERE notary_id = ${notaryId} AND state = 'scheduled' AND starts_at > ${new Date(since.getTime() - stepMs)}`);
  return rows.map(({ at }) => at);
}

type NewAppointment = Pick<
  Appointment,
  "id" | "orderId" | "notaryId" | "mode" | "startsAt" | "zone" | "meetingPoint" | "bookedAt" | "reminded"
>;

export async function insertAppointment(tx: Tx, appointment: NewAppointment): Promise<void> {
  const { id, orderId, notaryId, mode, startsAt, zone, meetingPoint, bookedAt, reminded } = appointment;
  await tx.query(sql`
    INSERT INTO notary_sessions (id, order_id, notary_id, mode, starts_at, zone, meeting_point, booked_at, reminded)
    VALUES (${id}, ${orderId}, ${notaryId}, ${mode}, ${startsAt}, ${zone}, ${meetingPoint}, ${bookedAt}, ${reminded})`);
  await writeStateMacs(tx, appointmentState, sql`id = ${id}`);
}

/** Moves an appointment. The caller must have locked the appointment's order. */
export const moveAppointment = (
  tx: Tx,
  { id, notaryId, mode, startsAt, zone, meetingPoint, reminded }: Omit<NewAppointment, "orderId" | "bookedAt">,
): Promise<void> =>
  changeRow(
    tx,
    appointmentState,
    id,
    sql`notary_id = ${notaryId}, mode = ${mode}, starts_at = ${startsAt}, zone = ${zone},
      meeting_point = ${meetingPoint}, reminded = ${reminded}, sequence = sequence + 1`,
  );

/** Ends an appointment; a null outcome cancels it. The caller must have locked the appointment's order. */
export async function setAppointmentEnded(
  tx: Tx,
  id: string,
  outcome: AppointmentOutcome | null,
  at: Date,
): Promise<void> {
  const state = outcome === null ? "canceled" : "ended";
  const end = sql`state = ${state}, outcome = ${outcome}, ended_at = ${at}, sequence = sequence + 1`;
  await changeRow(tx, appointmentState, id, end);
}

export const setReminded = (tx: Tx, id: string, reminded: number): Promise<void> =>
  changeRow(tx, appointmentState, id, sql`reminded = ${reminded}`);

const isHeld = sql`(o.status = 'NotarizationPending' AND EXISTS (
  SELECT ${fromTasks} WHERE t.order_id = o.id AND t.kind = 'notarize' AND t.state IN ('claimed', 'paused')
    AND t.claimed_by = 'operator:' || n.operator_id) OR o.status = 'OnHold')`;

/**
 * Verifies the MACs of all notarization tasks of an order. Otherwise somebody could cancel an appointment by forging
 * that a task was released or ended.
 */
const verifiedTasks = verifiedAll(
  taskState,
  sql`t`,
  sql`${fromTasks} WHERE t.order_id = s.order_id AND t.kind = 'notarize'`,
);

/**
 * Finds at most 200 appointments whose next reminder is due, or which must end. An appointment must end when the notary
 * has released the order. It must also end when the order no longer waits for a notary, unless the order is on hold.
 * @param id limits the query to one appointment, and verifies the tasks of its order
 * @throws ServiceError `unavailable` for a task whose MAC is invalid, if `id` is given
 */
export const appointmentsToLookAt = (db: Sql, now: Date, id: string | null = null) =>
  db.query<{ id: string; isReminder: boolean }>(sql`
    SELECT s.id, ${isHeld} AS "isReminder"${id === null ? nothing : sql`, ${verifiedTasks}`}
    FROM notary_sessions s ${joinOrder(sql`s.order_id`)} JOIN notaries n ON n.id = s.notary_id
    WHERE s.state = 'scheduled' AND (${id}::uuid IS NULL OR s.id = ${id}::uuid) AND (
      NOT ${isHeld}
      OR s.starts_at > ${now} AND s.starts_at <= ${now}::timestamptz + CASE s.reminded
        WHEN 0 THEN interval '24 hours' WHEN 1 THEN interval '1 hour' WHEN 2 THEN interval '10 minutes' ELSE interval '-1 hour' END)
    ORDER BY s.starts_at LIMIT 200`);

/**
 * True if any notary has stored hours and a way to meet. Doesn't check if a time is free.
 * @param hasRooms true if the service has rooms for audio and video
 */
export async function offersAppointments(db: Sql, hasRooms: boolean): Promise<boolean> {
  const rows = await db.query(
    sql`SELECT FROM notary_hours WHERE ${hasRooms} OR meeting_url IS NOT NULL OR place IS NOT NULL LIMIT 1`,
  );
  return rows.length > 0;
}

/**
 * Moves the scheduled appointments of a firm's test orders earlier by this many seconds. Skips rows whose MAC is
 * invalid.
 */
export async function bringAppointmentsNearer(tx: Tx, partnerId: string, seconds: number): Promise<void> {
  const open = await tx.query<{ id: string } & Marked>(sql`
    SELECT s.id, ${marked(appointmentState, sql`s`)} FROM notary_sessions s ${joinOrder(sql`s.order_id`)}
    WHERE o.partner_id = ${partnerId} AND o.environment = 'test' AND s.state = 'scheduled' ORDER BY s.id FOR NO KEY UPDATE OF s`);
  const which = sql`id = ANY (${open.filter(({ isAuthentic }) => isAuthentic).map(({ id }) => id)}::uuid[])`;
  await tx.query(
    sql`UPDATE notary_sessions SET starts_at = starts_at - make_interval(secs => ${seconds}) WHERE ${which}`,
  );
  await writeStateMacs(tx, appointmentState, which);
}

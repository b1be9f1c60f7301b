import { hash } from "node:crypto";
import { lastActor } from "../../kernel/audit/audit.ts";
import { changeRow, changeRows } from "../../kernel/platform/database/change-rows.ts";
import type { Database, Sql, Tx } from "../../kernel/platform/database/database.ts";
import { nothing, type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { type StateMac, verified, writeStateMacs } from "../../kernel/platform/database/state-mac.ts";
import { enqueueUnlessDue } from "../../kernel/platform/jobs/jobs.ts";
import { stateRows } from "../../kernel/platform/protected-data.ts";
import { shortCode } from "../../kernel/platform/text.ts";
import { faxAhead } from "../../orders/fulfilment/fulfilment.ts";
import { faxesAhead, type LockedOrder, lockOrderById } from "../../orders/order/order.ts";
import type { FaxAttemptState, FaxStatus } from "./decide.ts";
import { actor, faxQueue } from "./deps.ts";
import type { FaxProgress } from "./states.ts";

export type FaxAttempt = FaxProgress &
  FaxAttemptState & {
    id: number;
    orderId: number;
    /** The attempt's number within its order, counted from 1. */
    attempt: number;
    faxTo: string;
    faxFrom: string;
    /** A mark for the attempt, in base64. Telnyx returns it with every event. */
    clientState: string;
    /** The fax's id at Telnyx; null before Telnyx has returned one. */
    faxId: string | null;
    /**
     * The hash of the order's document, the hash of the faxed file with its cover sheet, and that file's number of
     * pages.
     */
    documentSha256: string | null;
    sentSha256: string | null;
    sentPages: number | null;
    createdAt: Date;
    /** The row id of the event that reported the end of the fax. */
    eventId: number | null;
    receiptAt: Date | null;
  };

/** Names a fax in the tasks about it. */
export const asDelivery = ({ id, orderId }: Pick<FaxAttempt, "id" | "orderId">) => ({ orderId, subject: `fax ${id}` });

export const attemptState: StateMac = {
  table: sql`fax_attempts`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (
    f,
  ) => sql`${f}.id, ${f}.order_id, ${f}.attempt, ${f}.state, ${f}.retries, ${utc(f, sql`due_at`)}, ${f}.fax_to,
    ${f}.fax_from, ${f}.client_state, ${f}.fax_id, ${f}.document_sha256, ${f}.sent_sha256, ${f}.sent_pages, ${f}.reason, ${f}.pages,
    ${f}.seconds, ${f}.is_canceled, ${f}.is_settled, ${utc(f, sql`created_at`)}, ${utc(f, sql`started_at`)},
    ${utc(f, sql`ended_at`)}, ${f}.event_id, ${utc(f, sql`receipt_at`)}, ${f}.state_version`,
};

const utc = (f: Statement, column: Statement): Statement => sql`${f}.${column} AT TIME ZONE 'UTC'`;

export const attemptRows = stateRows(attemptState, { backfill: { set: "carriers" } });

const columns = sql`id, order_id AS "orderId", attempt, state, retries, due_at AS "dueAt", fax_to AS "faxTo",
  fax_from AS "faxFrom", client_state AS "clientState", fax_id AS "faxId", document_sha256 AS "documentSha256",
  sent_sha256 AS "sentSha256", sent_pages AS "sentPages", reason, pages, seconds, is_canceled AS "isCanceled", is_settled AS "isSettled",
  created_at AS "createdAt", started_at AS "startedAt", ended_at AS "endedAt", event_id AS "eventId",
  receipt_at AS "receiptAt", ${verified(attemptState, sql`fax_attempts`)}`;

/** The attempts of an order, oldest first. */
export const attemptsOf = (db: Sql, orderId: number, lock = false) =>
  db.query<FaxAttempt>(sql`
    SELECT ${columns} FROM fax_attempts WHERE order_id = ${orderId} ORDER BY attempt ${lock ? sql`FOR NO KEY UPDATE` : nothing}`);

const one = async (db: Sql, where: Statement): Promise<FaxAttempt | undefined> => {
  const [attempt] = await db.query<FaxAttempt>(sql`SELECT ${columns} FROM fax_attempts WHERE ${where}`);
  return attempt;
};

export const findAttempt = (db: Sql, id: number) => one(db, sql`id = ${id}`);

/** The attempt with this fax id. If Telnyx's id was not recorded yet, the attempt is found by its `clientState`. */
export const findAttemptOf = (db: Sql, { id, clientState }: { id: string; clientState: string | null }) =>
  one(db, sql`fax_id = ${id} OR fax_id IS NULL AND client_state = ${clientState}`);

export type Faxes = {
  order: LockedOrder;
  /**
   * The status that determines the next step of the fax. Normally it is the order's status. A fax that is sent early,
   * while the order is being shipped, has a status of its own.
   */
  status: FaxStatus;
  attempts: FaxAttempt[];
};

/** Locks the order's row and the rows of its fax attempts. */
export async function lockFaxes(tx: Tx, orderId: number): Promise<Faxes | undefined> {
  const order = await lockOrderById(tx, orderId);
  if (!order) return undefined;
  return { order, status: await faxStatus(tx, order), attempts: await attemptsOf(tx, orderId, true) };
}

async function faxStatus(tx: Tx, order: LockedOrder): Promise<FaxStatus> {
  const { id, status } = order;
  if (status === "FaxSent") return (await isSentByUs(tx, id)) ? status : "FaxedByHand";
  if (!faxesAhead(order)) return status;
  const ahead = await faxAhead(tx, id);
  if (ahead === null || ahead.isRetried) return "FaxPending";
  if (ahead.on === "fax_sent") return ahead.actor === actor ? "FaxSent" : "FaxedByHand";
  return ahead.on === "fax_failed" ? "FaxFailed" : "FaxDelivered";
}

/**
 * Schedules a check of an order's faxes, unless a check is already scheduled for that time or earlier. A check that is
 * scheduled for later remains. The two series of checks soon merge into one.
 */
export const followSoon = (tx: Tx, orderId: number, inMs: number) => enqueueUnlessDue(tx, faxQueue, { orderId }, inMs);

/**
 * True if a report by Telnyx, and not a person, moved the order from FaxPending to FaxSent. Ignores a return to FaxSent
 * at the end of a hold.
 */
async function isSentByUs(tx: Tx, orderId: number): Promise<boolean> {
  const [move] = await tx.query<{ actor: string | null }>(sql`
    SELECT ${lastActor(sql`${orderId}::bigint`, "FaxSent", "FaxPending")} AS actor`);
  return move?.actor === actor;
}

/**
 * The mark of an attempt at Telnyx: the start of the order's code, which staff recognize, and a hash that is unique to
 * the attempt. The whole code grants access to the order, so Telnyx must not get it.
 */
function clientStateOf(orderCode: string, attempt: number): string {
  const short = shortCode(orderCode);
  const own = hash("sha256", `fax ${attempt} ${orderCode}`).slice(0, 20);
  return Buffer.from(`${short}-${attempt}-${own}`).toString("base64");
}

type NewAttempt = Pick<FaxAttempt, "attempt" | "faxTo" | "faxFrom" | "retries" | "dueAt">;

export async function insertAttempt(tx: Tx, order: LockedOrder, newAttempt: NewAttempt, at: Date): Promise<number> {
  const { attempt, faxTo, faxFrom, retries, dueAt } = newAttempt;
  const [row] = await tx.query<{ id: number }>(sql`
    INSERT INTO fax_attempts (order_id, attempt, state, retries, due_at, fax_to, fax_from, client_state, created_at)
    VALUES (${order.id}, ${attempt}, 'waiting', ${retries}, ${dueAt}, ${faxTo}, ${faxFrom},
      ${clientStateOf(order.code, attempt)}, ${at})
    RETURNING id`);
  if (!row) throw new Error("the attempt was not written");
  await writeStateMacs(tx, attemptState, sql`id = ${row.id}`);
  return row.id;
}

export const updateAttempt = (tx: Tx, id: number, assignments: Statement): Promise<void> =>
  changeRow(tx, attemptState, id, assignments);

/**
 * Records the progress of an attempt.
 * @param eventId the event that reported the end of the fax; null leaves the recorded event unchanged
 */
export const updateProgress = (tx: Tx, id: number, progress: FaxProgress, faxId: string, eventId: number | null) =>
  updateAttempt(
    tx,
    id,
    sql`state = ${progress.state}, reason = ${progress.reason}, pages = ${progress.pages}, seconds = ${progress.seconds},
      started_at = ${progress.startedAt}, ended_at = ${progress.endedAt}, fax_id = ${faxId},
      event_id = coalesce(${eventId}::bigint, event_id)`,
  );

const batchSize = 500;

/**
 * Clears the fax numbers of attempts that have ended and were created before the given time, in batches. For refused
 * attempts, it also clears the reason, which is Telnyx's text.
 */
export async function sweepFaxNumbers(db: Database, before: Date, stopping?: AbortSignal): Promise<void> {
  const due = sql`id IN (
    SELECT id FROM fax_attempts
    WHERE fax_to <> '' AND created_at < ${before} AND state IN ('withdrawn', 'refused', 'failed', 'delivered')
    ORDER BY created_at LIMIT ${batchSize})`;
  const forget = sql`fax_to = '', reason = CASE WHEN state = 'refused' THEN NULL ELSE reason END`;
  let swept = batchSize;
  while (swept === batchSize && !stopping?.aborted)
    swept = await db.transaction((tx) => changeRows(tx, attemptState, due, forget));
}

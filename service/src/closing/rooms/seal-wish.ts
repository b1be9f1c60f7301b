/**
 * The automatic seal of a closing's certificate. Stores that a firm asked for it, and queues it once every order has
 * ended and at least one is completed.
 */
import { joinFirm } from "../../firms/partners/partners.ts";
import { actorOf, type Environment, type Owner, type Principal } from "../../kernel/identity/identity.ts";
import type { Sql, Tx } from "../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { type Marked, marked } from "../../kernel/platform/database/state-mac.ts";
import { enqueue } from "../../kernel/platform/jobs/jobs.ts";
import { closeTasks, fromTasks, keepTasks, lockTasks, type NeededTask, openTask } from "../../kernel/tasks/tasks.ts";
import { failedAhead } from "../../orders/fulfilment/fulfilment.ts";
import { faxesAhead, joinOrder, statusGroupOf } from "../../orders/order/order.ts";
import { beginChange, type RoomDeps } from "./begin-change.ts";
import type { RoomSeal } from "./schemas.ts";
import { authentic, roomState } from "./store.ts";

/** The state of a room's automatic seal. */
export type SealWish = {
  sealedAt: Date | null;
  sealedVersion: number | null;
  /** The reason why the last try failed. Null before a failure, after a seal, and after an order was added. */
  problem: string | null;
  /**
   * The earliest time of the next try. Null when the next try may begin at once, and when the last failure was final.
   */
  nextTryAt: Date | null;
};

const endedStatuses = ["Completed", "Cancelled", "Refunded"] as const;

/** True if an order with this status has ended, so that its documents are final. */
export const hasEnded = (status: string): boolean => endedStatuses.some((each) => each === status);

/** True if an order with this status waits for a person to correct it. */
export const isStuckStatus = (status: string): boolean => !hasEnded(status) && statusGroupOf(status) === "attention";

type Asked = { roomId: string; by: string; at: Date };

/** Stores the request that the service seals the closing once every order has ended and at least one is completed. */
export const askForSeal = (tx: Tx, { roomId, by, at }: Asked) =>
  tx.query(sql`
    INSERT INTO closing_seals (room_id, asked_by, asked_at) VALUES (${roomId}, ${by}, ${at}) ON CONFLICT DO NOTHING`);

/**
 * Makes the automatic seal due again. Call this after an order was added to the room, so that the closing is sealed
 * once that order has ended too.
 */
export const sealAgain = (tx: Tx, roomId: string) =>
  tx.query(sql`
    UPDATE closing_seals SET round = round + 1, sealed_at = NULL, sealed_version = NULL, problem = NULL,
      next_try_at = NULL, tries = 0
    WHERE room_id = ${roomId}`);

/**
 * Switches the automatic seal of the closing on or off.
 * @throws ServiceError for an unknown room
 */
export async function switchSeal(
  { db, clock }: RoomDeps,
  principal: Principal,
  roomCode: string,
  isOn: boolean,
): Promise<RoomSeal> {
  return db.transaction(async (tx) => {
    const { room, at, audit } = await beginChange(tx, clock, principal, roomCode);
    const rows = isOn
      ? await tx.query(sql`
          INSERT INTO closing_seals (room_id, asked_by, asked_at) VALUES (${room.id}, ${actorOf(principal)}, ${at})
          ON CONFLICT DO NOTHING RETURNING 1`)
      : await dropRequest(tx, room.id, at);
    if (rows.length > 0) await audit("room.seal_switched", { detail: { sealWhenDone: isOn } });
    return { ok: true, sealWhenDone: isOn };
  });
}

/**
 * Deletes the request for a seal and closes its task at once. Otherwise the task would stay open until the next
 * `reportSealFailures`. If a member requested the seal again before that, ending the old task would also settle the
 * failures of the new request.
 */
async function dropRequest(tx: Tx, roomId: string, at: Date): Promise<{ round: number }[]> {
  await lockTasks(tx, "closing_seal");
  const rows = await tx.query<{ round: number }>(sql`
    DELETE FROM closing_seals WHERE room_id = ${roomId} RETURNING round`);
  const end = { state: "done", at, by: "system", outcome: "settled" } as const;
  for (const { round } of rows)
    await closeTasks(tx, { kinds: ["closing_seal"], subject: subjectOf(roomId, round) }, end);
  return rows;
}

const subjectOf = (roomId: string, round: number): string => `${roomId}:${round}`;

const ended = sql`${endedStatuses}::text[]`;
const ordersOf = (roomId: Statement) => sql`room_orders a ${joinOrder(sql`a.order_id`)} WHERE a.room_id = ${roomId}`;

export type DueSeal = Owner & { roomId: string; roomCode: string; tier: string };

export const sealQueue = "seal-closing";

const maxAtOnce = 50;
// A time-stamping authority or a store that does not respond is usually available again within minutes.
const firstRetry = sql`interval '10 minutes'`;
const maxRetry = sql`interval '1 day'`;

/**
 * Queues the automatic seals of closings whose orders have all ended, at least one of them Completed. After a failure,
 * a closing is queued again in ten minutes. Each further failure doubles this time, up to a day.
 */
export async function queueSeals({ db, clock }: RoomDeps): Promise<void> {
  const now = clock();
  await db.transaction(async (tx) => {
    const due = await tx.query<{ roomId: string }>(sql`
      UPDATE closing_seals SET tries = tries + 1,
        next_try_at = ${now}::timestamptz + least(${firstRetry} * power(2, least(tries, 10)), ${maxRetry})
      WHERE room_id IN (
        SELECT s.room_id FROM closing_seals s
        WHERE s.sealed_at IS NULL AND (s.next_try_at IS NULL OR s.next_try_at <= ${now})
          AND EXISTS (SELECT FROM ${ordersOf(sql`s.room_id`)} AND o.status = 'Completed')
          AND NOT EXISTS (SELECT FROM ${ordersOf(sql`s.room_id`)} AND NOT o.status = ANY (${ended}))
        ORDER BY s.asked_at LIMIT ${maxAtOnce} FOR NO KEY UPDATE SKIP LOCKED)
      RETURNING room_id AS "roomId"`);
    for (const { roomId } of due) await enqueue(tx, sealQueue, { roomId });
  });
}

// The third failure is half an hour after the first. By then, most authorities and stores are available again.
const reportedFrom = 3;

/**
 * Keeps a task open for each live closing whose seal failed several times. A final failure gets no task, because the
 * firm can resolve it without an operator. A task that a person ended is not opened again until an order is added, or a
 * member switches the seal off and on.
 */
export async function reportSealFailures({ db, clock }: Pick<RoomDeps, "db" | "clock">): Promise<void> {
  await db.transaction((tx) => keepTasks(tx, clock(), "closing_seal", () => failedSeals(tx)));
}

/**
 * Opens a task about a closing that could not be sealed, because a sealed version or a document of it was altered. The
 * service can't repair this, so the task stays open until a person ends it.
 */
export const reportAltered = (
  { db, clock }: Pick<RoomDeps, "db" | "clock">,
  { roomId, environment, fault }: { roomId: string; environment: Environment; fault: string },
): Promise<void> =>
  db.transaction(async (tx) => {
    // `keepTasks` reads the needed tasks and then the open ones. Without this lock, it would close a task that is
    // committed between these two reads.
    await lockTasks(tx, "closing_seal");
    const problem = `${fault}. Compare it with a backup and restore it; members can seal again then.`;
    const reason = sql`r.name || ' of ' || p.name || ': ' || ${problem}`;
    const task = {
      kind: "closing_seal",
      at: clock(),
      environment,
      subject: `${roomId}${alteredMark}`,
      reason,
    } as const;
    await openTask(tx, task, sql`rooms r ${joinFirm(sql`r.partner_id`)} WHERE r.id = ${roomId}`);
  });

const alteredMark = ":altered";

async function failedSeals(db: Sql): Promise<NeededTask[]> {
  const failed = await db.query<{ roomId: string; round: number; reason: string; since: Date }>(sql`
    SELECT s.room_id AS "roomId", s.round, s.asked_at AS since, r.name || ' of ' || p.name || ': ' || s.problem AS reason
    FROM closing_seals s JOIN rooms r ON r.id = s.room_id ${joinFirm(sql`r.partner_id`)}
    WHERE s.sealed_at IS NULL AND s.problem IS NOT NULL AND s.tries >= ${reportedFrom} AND isfinite(s.next_try_at)
      AND r.environment = 'live'`);
  const altered = await db.query<{ subject: string }>(sql`
    SELECT t.subject ${fromTasks}
    WHERE t.kind = 'closing_seal' AND t.subject LIKE ${`%${alteredMark}`} AND t.state IN ('open', 'claimed')`);
  return [
    ...failed.map(({ roomId, round, ...need }): NeededTask => [subjectOf(roomId, round), need]),
    ...altered.map(({ subject }): NeededTask => [subject, { reason: "", since: null }]),
  ];
}

/** The room of a queued seal, and its firm. Undefined for a room that was altered. */
export async function roomToSeal(db: Sql, roomId: string): Promise<DueSeal | undefined> {
  const [room] = authentic(
    await db.query<DueSeal & Marked>(sql`
      SELECT r.id AS "roomId", r.code AS "roomCode@room", r.partner_id AS "partnerId", r.environment, p.tier,
        ${marked(roomState, sql`r`)}
      FROM rooms r ${joinFirm(sql`r.partner_id`)} WHERE r.id = ${roomId}`),
  );
  return room;
}

/**
 * An open request for a seal. `round`: how many times an added order has made the seal due again. `askedAt`: the time
 * of the request. A member who switches the seal off and on makes another request.
 */
export type SealRound = { round: number; askedAt: Date };

/**
 * The open request for a seal; null when the closing is sealed, or the automatic seal is off. Takes no row lock: a seal
 * waits long for its time stamp, and a lock would block changes of the room meanwhile.
 */
export async function openRound(tx: Tx, roomId: string): Promise<SealRound | null> {
  const [wish] = await tx.query<SealRound>(sql`
    SELECT round, asked_at AS "askedAt" FROM closing_seals WHERE room_id = ${roomId} AND sealed_at IS NULL`);
  return wish ?? null;
}

/**
 * Ends the request, unless an order was added since `openRound` and made it due again. Locks the request, so that a
 * member who switches it off waits until this seal is committed.
 * @returns false when a member has switched the seal off since `openRound`
 */
export async function endSealWish(
  tx: Tx,
  roomId: string,
  { round, askedAt, version, at }: SealRound & { version: number; at: Date },
): Promise<boolean> {
  const [wish] = await tx.query<{ isCurrent: boolean }>(sql`
    SELECT round = ${round} AND sealed_at IS NULL AS "isCurrent" FROM closing_seals
    WHERE room_id = ${roomId} AND asked_at = ${askedAt} FOR NO KEY UPDATE`);
  if (wish?.isCurrent)
    await tx.query(sql`
      UPDATE closing_seals SET sealed_at = ${at}, sealed_version = ${version}, problem = NULL, next_try_at = NULL
      WHERE room_id = ${roomId}`);
  return wish !== undefined;
}

/** Records why a closing could not be sealed. A final problem lasts until an order is added or the seal turned off. */
export const noteSealProblem = (db: Sql, roomId: string, { problem, isFinal }: { problem: string; isFinal: boolean }) =>
  db.query(sql`
    UPDATE closing_seals SET problem = ${problem.slice(0, 500)},
      next_try_at = CASE WHEN ${isFinal} THEN 'infinity' ELSE next_try_at END
    WHERE room_id = ${roomId} AND sealed_at IS NULL`);

/** Facts about the certificate of a closing, for a mail about its finished orders. */
type CertificateState = {
  roomCode: string;
  roomName: string;
  /** The version that the automatic seal has made; null until it has made one, and again after an order was added. */
  version: number | null;
  /** The number of the closing's orders that wait for a person to correct them. */
  stuck: number;
};

/** The closings of the owner that contain one of the orders, and that the service seals by itself. */
export async function certificateStates(
  db: Sql,
  { partnerId, environment }: Owner,
  orderIds: readonly number[],
): Promise<CertificateState[]> {
  type Found = Omit<CertificateState, "stuck"> & { orders: { id: number; status: string; fax: boolean }[] };
  const rows = await db.query<Found & Marked>(sql`
    SELECT r.code AS "roomCode@room", r.name AS "roomName", s.sealed_version AS version,
      (SELECT json_agg(json_build_object('id', o.id, 'status', o.status, 'fax', o.fax)) FROM ${ordersOf(sql`r.id`)}) AS orders, ${marked(roomState, sql`r`)}
    FROM closing_seals s JOIN rooms r ON r.id = s.room_id
    WHERE r.partner_id = ${partnerId} AND r.environment = ${environment}
      AND EXISTS (SELECT FROM room_orders a WHERE a.room_id = r.id AND a.order_id = ANY (${orderIds}::bigint[]))
    ORDER BY r.created_at, r.id`);
  const found = authentic(rows);
  const ahead = found.flatMap(({ orders }) => orders.filter(faxesAhead).map(({ id }) => id));
  const failed = await failedAhead(db, ahead);
  return found.map(({ orders, ...room }) => ({
    ...room,
    stuck: orders.filter(({ id, status }) => isStuckStatus(status) || failed.has(id)).length,
  }));
}

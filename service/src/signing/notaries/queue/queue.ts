/**
 * The queue for meetings “now”: the people of an order request a meeting with a notary at once, and notaries on duty
 * accept the oldest request that they may accept. To avoid deadlocks, locks are acquired in the same sequence as at the
 * desk: the order, its request, the notary.
 */
import { auditLine } from "../../../kernel/audit/audit.ts";
import type { Environment } from "../../../kernel/identity/identity.ts";
import { dayMs, minuteMs } from "../../../kernel/platform/clock.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import { lockWaiting, personOfLink, scheduledFor, type Visitor, visitorOfLink } from "../appointments/book.ts";
import { ordersOfIds, type WaitingOrder } from "../claims/orders.ts";
import { findNotary, listWorkingNotaries, type Notary } from "../commissions/store.ts";
import { eligibilityFor } from "../eligibility/eligible.ts";
import type { Appointment } from "../schedule/appointments.ts";
import {
  countOpenLocked,
  countRequests,
  insertRequest,
  latestRequestOf,
  lockRequest,
  type NotaryRequest,
  onDuty,
  openRequestOf,
  openRequests,
  setEnded,
} from "../schedule/queue.ts";
import { personName } from "../sessions/interruption.ts";
import { roomTokenOf } from "../sessions/mail.ts";
import { liveObstacle } from "../sessions/offered.ts";
import type { LiveDeps } from "../sessions/session.ts";
import { livePeople, openLiveOf } from "../sessions/store.ts";
import type { Of } from "../sessions/tickets.ts";
import { type Estimate, estimateOf, lengthsOfSessions, notariesInSession } from "./estimate.ts";

export type QueueDeps = Pick<LiveDeps, "identity" | "sheets">;

/** How long a request waits in the queue before it expires. */
export const waitMs = 20 * minuteMs;
export const maxOpen = 50;
/** The most open requests of one firm, so that one firm can't fill the queue. */
const maxOfFirm = 10;
const maxADay = 10;
/** In this time before an appointment, its page checks at short intervals whether the room is open. */
const soonMs = 15 * minuteMs;
/** Sessions older than this are ignored in estimates. */
const measuredMs = 90 * dayMs;

export type Request = NotaryRequest & { order: WaitingOrder };

/**
 * Reads the open requests of an environment together with its notaries on duty, so that positions and estimates agree.
 */
export async function lineOf({ sheets: { desk } }: QueueDeps, db: Sql, environment: Environment, now: Date) {
  const [duty, notaries, open, rules] = await Promise.all([
    onDuty(db, environment, now),
    listWorkingNotaries(db),
    openRequests(db, environment, maxOpen),
    desk.readEligibility(db),
  ]);
  const reading = { db, rowMac: desk.rowMac };
  const orders = await ordersOfIds(
    reading,
    open.map(({ orderId }) => orderId),
  );
  const requests = open.flatMap((request): Request[] => {
    const order = orders.get(request.orderId);
    return order ? [{ ...request, order }] : [];
  });
  const there = notaries.filter(({ id, mayWork, status }) => mayWork && status === "active" && duty.has(id));
  return { there, requests, waiting: requests.filter(({ state }) => state === "waiting"), rules };
}

type Line = Awaited<ReturnType<typeof lineOf>>;

/**
 * True if the notary may accept an order's request. No other notary may have claimed the order, and this notary must be
 * able to meet its people by audio and video.
 */
export const mayAccept = (
  deps: QueueDeps,
  { rules }: Pick<Line, "rules">,
  notary: Notary,
  order: WaitingOrder,
  now: Date,
) =>
  (order.claimedBy === null || order.claimedBy === `operator:${notary.operatorId}`) &&
  liveObstacle(deps.identity, { order, eligibility: eligibilityFor(rules, notary, order, now) }, now) === null;

const takersOf = (deps: QueueDeps, line: Line, order: WaitingOrder, now: Date): Notary[] =>
  line.there.filter((notary) => mayAccept(deps, line, notary, order, now));

/** The state that a person's page of the queue shows: the person may request a meeting, waits, or is called. */
export type QueuePlace =
  | { state: "offered" }
  | { state: "waiting"; place: number; estimate: Estimate; until: Date }
  | { state: "taken"; notary: string }
  /** The path of the person's own room. */
  | { state: "open"; room: string }
  /** The person has an appointment in a room that is not open yet. */
  | { state: "booked"; isSoon: boolean }
  /** No notary accepted the request in time. `isOffered` is true if the person may request a meeting again. */
  | { state: "expired"; isOffered: boolean };

/**
 * Finds the state of a person's page of the queue.
 * @returns null when the person can't request a meeting now
 * @throws as `visitorOfLink`
 */
export async function queuePlaceOf(deps: QueueDeps, token: string): Promise<QueuePlace | null> {
  const { desk } = deps.sheets;
  const { order, visitor } = await visitorOfLink(desk, token);
  const now = desk.clock();
  const room = await roomOf(deps, order, visitor);
  if (room !== null) return { state: "open", room };
  if (typeof visitor !== "number") return bookedPlace(await scheduledFor(desk.db, order.orderId), now);
  const [request, appointment, line] = await Promise.all([
    latestRequestOf(desk.db, order.orderId),
    scheduledFor(desk.db, order.orderId),
    lineOf(deps, desk.db, order.environment, now),
  ]);
  const takers = takersOf(deps, line, order, now);
  if (request?.state === "taken" && request.notaryId !== null) {
    const notary = await findNotary(desk.db, request.notaryId);
    return { state: "taken", notary: notary?.commissionName ?? "" };
  }
  if (request?.state === "waiting") {
    const place = placeOf(deps, line, request, takers, now);
    return {
      state: "waiting",
      place,
      estimate: await estimateFor(deps, order, place, takers),
      until: request.expiresAt,
    };
  }
  const booked = bookedPlace(appointment, now);
  if (booked !== null) return booked;
  const isOffered = takers.length > 0 && appointment === null;
  if (request?.outcome === "expired" && appointment === null) return { state: "expired", isOffered };
  return isOffered ? { state: "offered" } : null;
}

const bookedPlace = (appointment: Appointment | null, now: Date): QueuePlace | null =>
  appointment !== null && isInRoom(appointment)
    ? { state: "booked", isSoon: appointment.startsAt.getTime() - now.getTime() < soonMs }
    : null;

/**
 * The position in the queue: one more than the number of older requests that at least one of `takers` could accept.
 * `takers` are the notaries who may accept this request.
 */
function placeOf(deps: QueueDeps, line: Line, request: NotaryRequest, takers: readonly Notary[], now: Date): number {
  const at = line.waiting.findIndex(({ id }) => id === request.id);
  const before = at < 0 ? line.waiting : line.waiting.slice(0, at);
  return 1 + before.filter(({ order }) => takers.some((notary) => mayAccept(deps, line, notary, order, now))).length;
}

async function estimateFor({ sheets: { desk } }: QueueDeps, order: WaitingOrder, place: number, takers: Notary[]) {
  const { db, clock } = desk;
  const [busy, open, lengths] = await Promise.all([
    notariesInSession(db),
    openRequests(db, order.environment, maxOpen),
    lengthsOfSessions(db, order.environment, new Date(clock().getTime() - measuredMs)),
  ]);
  const called = new Set(open.flatMap(({ state, notaryId }) => (state === "taken" && notaryId ? [notaryId] : [])));
  const free = takers.filter(({ id }) => !busy.has(id) && !called.has(id)).length;
  return estimateOf({ place, notaries: takers.length, free, lengths });
}

/** True if the people of an appointment meet in a room of this service, by audio and video. */
const isInRoom = ({ mode, meetingPoint }: Appointment): boolean => mode === "ron" && meetingPoint === null;

/**
 * Finds the person who opened a link to test a device before the session opens. The person must have an appointment in
 * a room of this service, or be in the queue; otherwise returns null.
 * @throws ServiceError `not_found` for an invalid link
 */
export async function testerOf({ sheets: { desk } }: QueueDeps, token: string): Promise<Of | null> {
  const { order, visitor } = await visitorOfLink(desk, token);
  const [appointment, request] = await Promise.all([
    scheduledFor(desk.db, order.orderId),
    openRequestOf(desk.db, order.orderId),
  ]);
  const waitsFor = appointment && isInRoom(appointment) ? appointment : request;
  const person = typeof visitor === "number" ? personName(visitor) : `guest-${visitor.id}`;
  return waitsFor ? { session: waitsFor.id, person } : null;
}

/**
 * The path of a person's room in the order's session that has not ended. Null without such a session, and for a person
 * who is not in it.
 */
async function roomOf({ identity, sheets: { desk } }: QueueDeps, { taskId }: WaitingOrder, visitor: Visitor) {
  const session = await openLiveOf(desk.db, taskId);
  const people = session ? await livePeople(desk.db, session.id) : [];
  // A guest is found by email address, which occurs only once in a session. A signer is found by number: the rows of
  // signers have no address, because the order stores it.
  const own = people.find(({ n, email }) => (typeof visitor === "number" ? n === visitor : email === visitor.email));
  const room = own && roomTokenOf(identity.secrets, own);
  return room === undefined ? null : `/notary-room/${room}`;
}

/**
 * Requests a meeting with a notary now. An order that is already in the queue keeps its position.
 * @throws ServiceError `conflict` when no suitable notary is on duty, and for an order with an appointment or an open
 * session. Also `conflict` when a limit is reached: of the queue, of the firm, or of the order in a day
 */
export async function askNow(deps: QueueDeps, token: string): Promise<void> {
  const { desk } = deps.sheets;
  const { order } = await personOfLink(desk, token);
  await desk.db.transaction(async (tx) => {
    const { still, now } = await lockWaiting(tx, desk, order);
    const { orderId, partnerId, environment, taskId } = still;
    if (await openRequestOf(tx, orderId)) return;
    if (await openLiveOf(tx, taskId)) throw new ServiceError("conflict", "The session is open already.");
    if (await scheduledFor(tx, orderId))
      throw new ServiceError("conflict", "You have an appointment. Cancel it before you ask to meet a notary now.");
    const line = await lineOf(deps, tx, environment, now);
    if (takersOf(deps, line, still, now).length === 0)
      throw new ServiceError("conflict", "No notary is on duty for this document now. Choose a time.");
    const open = await countOpenLocked(tx, environment, partnerId);
    if (open.firm >= maxOfFirm)
      throw new ServiceError("conflict", `At most ${maxOfFirm} orders of a firm ask at once. Choose a time.`);
    if (open.all >= maxOpen) throw new ServiceError("conflict", "Too many people wait now. Choose a time.");
    if ((await countRequests(tx, orderId, new Date(now.getTime() - dayMs))) >= maxADay)
      throw new ServiceError("conflict", `An order asks for a notary at most ${maxADay} times a day. Choose a time.`);
    const id = newUuid();
    await insertRequest(tx, { id, orderId, askedAt: now, expiresAt: new Date(now.getTime() + waitMs) });
    const detail = { request: id };
    await tx.query(auditLine({ at: now, action: "notary.now_asked", actor: "client", partnerId, orderId, detail }));
  });
}

/**
 * Removes the order from the queue.
 * @throws ServiceError `conflict` when it is not in the queue, or a notary has called the order's people
 */
export async function leaveQueue(deps: QueueDeps, token: string): Promise<void> {
  const { desk } = deps.sheets;
  const { order } = await personOfLink(desk, token);
  await desk.db.transaction(async (tx) => {
    const { still, now } = await lockWaiting(tx, desk, order);
    const request = await lockRequest(tx, still.orderId);
    if (request?.state !== "waiting") throw new ServiceError("conflict", "You don’t wait in the queue.");
    await setEnded(tx, request.id, "left", now);
    const { orderId, partnerId } = still;
    const detail = { request: request.id };
    await tx.query(auditLine({ at: now, action: "notary.now_left", actor: "client", partnerId, orderId, detail }));
  });
}

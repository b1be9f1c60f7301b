import type { Operator } from "../../../firms/operators/operators.ts";
import { auditLine, countLines } from "../../../kernel/audit/audit.ts";
import { dayMs, hourMs, minuteMs } from "../../../kernel/platform/clock.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import { isCode, isUuid } from "../../../kernel/platform/text.ts";
import { perform } from "../../../orders/fulfilment/fulfilment.ts";
import { lockOrder, orderNotFound } from "../../../orders/order/order.ts";
import { claimedOrder, claimWaiting, type DeskDeps, lockClaimed } from "../claims/claims.ts";
import { orderOfId, type WaitingOrder, waitingOrderOf } from "../claims/orders.ts";
import { lockNotary } from "../commissions/store.ts";
import { accepted, formReader, type Typed } from "../form-reader.ts";
import {
  type Appointment,
  appointmentsFor,
  insertAppointment,
  moveAppointment,
  setAppointmentEnded,
} from "../schedule/appointments.ts";
import { type Guest, guestOfToken } from "../schedule/guests.ts";
import { endRequestOf } from "../schedule/queue.ts";
import { isUnrecorded, liveSessionsOf, openLiveOf } from "../sessions/store.ts";
import { ensureLink, type InviteDeps, linkOf } from "./links.ts";
import { mailBooking, mailNewLink } from "./mail.ts";
import { type BookingDeps, notariesFor, type Offer, offersOf } from "./offers.ts";

/**
 * How long before its start an appointment becomes fixed. From then on, people can't move or cancel it by their link.
 */
const fixedMs = 2 * hourMs;
/**
 * The most changes of all appointments of an order. Bookings, moves, cancellations and ends count. After that many,
 * nobody can book or move. Most changes mail everybody, so an unlimited number would allow spam.
 */
const maxChanges = 12;
const maxOffers = 500;
const noShowMs = 15 * minuteMs;

const noAppointment = () => new ServiceError("not_found", "This link opens no appointment.");

/** The person whom a link identifies: the number of somebody who is to appear, or a guest. */
export type Visitor = number | Guest;

/**
 * Finds the order of a link, and the person or guest whom the link identifies.
 * @throws ServiceError `not_found` for an invalid link, and when the order no longer waits for a notary
 */
export async function visitorOfLink(
  { db, rowMac }: Pick<DeskDeps, "db" | "rowMac">,
  token: string,
): Promise<{ order: WaitingOrder; visitor: Visitor }> {
  const guest = await guestOfToken(db, token);
  if (!guest) {
    const { order, person } = await personOfLink({ db, rowMac }, token);
    return { order, visitor: person };
  }
  const order = await orderOfId({ db, rowMac }, guest.orderId);
  if (!order) throw noAppointment();
  return { order, visitor: guest };
}

/**
 * Finds the order of a link, and the person who is to appear. Rejects the link of a guest, because guests don't choose
 * the time.
 * @throws ServiceError `not_found` for any other link, and when the order no longer waits for a notary
 */
export async function personOfLink({ db, rowMac }: Pick<DeskDeps, "db" | "rowMac">, token: string) {
  const link = await linkOf(db, token);
  const order = link && (await orderOfId({ db, rowMac }, link.orderId));
  if (!order) throw noAppointment();
  return { order, person: link.person };
}

const waiting = async (deps: Pick<DeskDeps, "db" | "rowMac">, token: string): Promise<WaitingOrder> =>
  (await personOfLink(deps, token)).order;

const openOf = (appointments: readonly Appointment[]) =>
  appointments.find(({ state }) => state === "scheduled") ?? null;

/** The scheduled appointment of an order; null without one. */
export const scheduledFor = async (db: Sql, orderId: number): Promise<Appointment | null> =>
  openOf(await appointmentsFor(db, orderId));

/**
 * The scheduled appointment of the order with this code; null without one.
 * @throws ServiceError `not_found` for an order that isn't waiting for a notary
 */
export async function invitationOf(deps: DeskDeps, code: string): Promise<Appointment | null> {
  const order = isCode(code) ? await waitingOrderOf(deps, code) : undefined;
  if (!order) throw orderNotFound();
  return scheduledFor(deps.db, order.orderId);
}

/**
 * How many times in 24 hours `inviteToBook` may mail an order's links. Each time mails all people of the order, so an
 * unlimited number would allow spam. Other mails with these links are not counted.
 */
const maxADay = 5;

/**
 * Mails everybody who is to appear a link. The link leads to the appointment or, while none is booked, to the choice of
 * a time. Anybody with the order's code may request this.
 * @throws ServiceError `not_found` for an order that isn't waiting for a notary; `conflict` when the links were mailed
 * too often, and when the order stops waiting during the call
 */
export async function inviteToBook({ desk, secrets }: InviteDeps, code: string, actor: string): Promise<void> {
  const order = isCode(code) ? await waitingOrderOf(desk, code) : undefined;
  if (!order) throw orderNotFound();
  const { orderId, partnerId, signers } = order;
  await desk.db.transaction(async (tx) => {
    const locked = await lockOrder(tx, code);
    const at = desk.clock();
    if (locked?.status !== "NotarizationPending")
      throw new ServiceError("conflict", "The order does not wait for a notary.");
    if ((await countLines(tx, orderId, "notary.invited", new Date(at.getTime() - dayMs))) >= maxADay)
      throw new ServiceError("conflict", `The link is mailed at most ${maxADay} times a day.`);
    for (const [index] of signers.entries()) {
      await ensureLink(tx, secrets, { orderId, person: index + 1, at });
      await mailNewLink(tx, { orderId, person: index + 1, at });
    }
    const detail = { people: signers.length };
    await tx.query(auditLine({ at, action: "notary.invited", actor, partnerId, orderId, detail }));
  });
}

/**
 * The appointment of a link's order, and the times at which the link's person can book. The times are empty for a
 * guest.
 * @throws ServiceError `not_found` for an invalid link, and when the order no longer waits for a notary
 */
export async function appointmentOf({ desk: deps, rooms }: BookingDeps, token: string) {
  const { order, visitor } = await visitorOfLink(deps, token);
  const now = deps.clock();
  if (typeof visitor !== "number")
    return {
      order,
      guest: visitor,
      appointment: await scheduledFor(deps.db, order.orderId),
      isFixed: true,
      offers: [],
    };
  const [appointments, notaries] = await Promise.all([
    appointmentsFor(deps.db, order.orderId),
    notariesFor(deps.db, order),
  ]);
  const offers = (
    await Promise.all(notaries.map((notary) => offersOf({ desk: deps, rooms }, deps.db, order, notary)))
  ).flat();
  // If several notaries are free at the same time, the client sees that time only once for each mode.
  const byTime = new Map(offers.map((offer) => [`${offer.startsAt.toISOString()} ${offer.mode}`, offer]));
  const shown = [...byTime.values()].toSorted((one, other) => one.startsAt.getTime() - other.startsAt.getTime());
  const appointment = openOf(appointments);
  const isFixed = appointment !== null && appointment.startsAt.getTime() - now.getTime() < fixedMs;
  return { order, guest: null, appointment, isFixed, offers: shown.slice(0, maxOffers) };
}

/**
 * Books a time, or moves the existing appointment to it. If no notary has claimed the order, the notary of the booked
 * time gets the claim.
 * @throws ServiceError `conflict` for a time that is not free, after too many changes, and from two hours before the
 * existing appointment. `not_found` as `personOfLink`. Of two concurrent bookings of a time, only one succeeds
 */
export async function bookAppointment(deps: BookingDeps, token: string, slot: string): Promise<void> {
  const { desk } = deps;
  const order = await waiting(desk, token);
  const [at = "", mode = "", notaryId = ""] = slot.split(" ");
  if (!isUuid(notaryId) || Number.isNaN(Date.parse(at)))
    throw invalid("slot must be one of the times that are offered.");
  await desk.db.transaction(async (tx) => {
    const { still, now } = await lockWaiting(tx, desk, order);
    const notary = await lockNotary(tx, notaryId);
    const eligible = (await notariesFor(tx, still)).some(({ id }) => id === notaryId);
    const offers = notary && eligible ? await offersOf(deps, tx, still, notary) : [];
    const offer = offers.find((each) => each.startsAt.getTime() === Date.parse(at) && each.mode === mode);
    if (!offer) throw new ServiceError("conflict", "This time is taken. Choose another one.");
    await write(tx, desk, still, offer, now);
  });
}

/**
 * Locks an order that waits for a notary.
 * @throws ServiceError `not_found` when it no longer waits
 */
export async function lockWaiting(tx: Tx, deps: DeskDeps, { code, orderId }: WaitingOrder) {
  const locked = await lockOrder(tx, code);
  const still = await orderOfId({ db: tx, rowMac: deps.rowMac }, orderId);
  if (!locked || !still) throw noAppointment();
  return { still, now: deps.clock() };
}

async function write(tx: Tx, desk: DeskDeps, order: WaitingOrder, offer: Offer, now: Date): Promise<void> {
  const { orderId, partnerId, claimedBy } = order;
  const { notary, mode, startsAt, zone, meetingPoint } = offer;
  const before = await appointmentsFor(tx, orderId);
  const changes = before.reduce((sum, { sequence }) => sum + 1 + sequence, 0);
  if (changes >= maxChanges)
    throw new ServiceError("conflict", "This appointment was changed too often. Ask the notary.");
  const appointment = openOf(before);
  if (appointment) requireFree(appointment, now);
  const id = appointment?.id ?? newUuid();
  const about = { id, notaryId: notary.id, mode, startsAt, zone, meetingPoint, reminded: stageOf(startsAt, now) };
  if (appointment) await moveAppointment(tx, about);
  else await insertAppointment(tx, { ...about, orderId, bookedAt: now });
  if (claimedBy === null)
    await claimWaiting(tx, desk, order, { by: `operator:${notary.operatorId}`, actor: "client", at: now });
  await endRequestOf(tx, orderId, "booked", now);
  const action = appointment ? "notary.appointment_moved" : "notary.appointment_booked";
  const detail = { sessionId: id, mode, startsAt: startsAt.toISOString(), notaryId: notary.id };
  await tx.query(auditLine({ at: now, action, actor: "client", partnerId, orderId, detail }));
  await mailBooking(
    tx,
    { id, sequence: appointment ? appointment.sequence + 1 : 0 },
    appointment ? "moved" : "booked",
    order,
  );
}

function requireFree({ startsAt }: Appointment, now: Date): void {
  if (startsAt.getTime() - now.getTime() < fixedMs)
    throw new ServiceError("conflict", "The appointment begins in less than 2 hours. Tell the notary.");
}

/** How many of the three reminders are due or past. They are due 24 hours, 1 hour and 10 minutes before the start. */
export function stageOf(startsAt: Date, now: Date): number {
  const left = startsAt.getTime() - now.getTime();
  if (left <= 10 * minuteMs) return 3;
  if (left <= hourMs) return 2;
  return left <= 24 * hourMs ? 1 : 0;
}

/**
 * Cancels the appointment of a link's order. The notary keeps the claim on the order.
 * @throws ServiceError `conflict` without an appointment and from two hours before its start; `not_found` when the
 * order no longer waits for a notary
 */
export async function cancelByLink(deps: DeskDeps, token: string): Promise<void> {
  const order = await waiting(deps, token);
  await deps.db.transaction(async (tx) => {
    const { still, now } = await lockWaiting(tx, deps, order);
    const appointment = openOf(await appointmentsFor(tx, still.orderId));
    if (!appointment) throw new ServiceError("conflict", "There is no appointment to cancel.");
    requireFree(appointment, now);
    await cancelAppointment(tx, appointment, still, { at: now, actor: "client" });
  });
}

/** Cancels an appointment, and mails the cancellation to everybody. The transaction must have locked the order. */
export async function cancelAppointment(
  tx: Tx,
  { id, sequence, orderId }: Appointment,
  { partnerId, signers }: Pick<WaitingOrder, "partnerId" | "signers">,
  { at, actor }: { at: Date; actor: string },
): Promise<void> {
  await setAppointmentEnded(tx, id, null, at);
  const detail = { sessionId: id };
  await tx.query(auditLine({ at, action: "notary.appointment_canceled", actor, partnerId, orderId, detail }));
  await mailBooking(tx, { id, sequence: sequence + 1 }, "canceled", { signers });
}

const outcomes = ["no_show", "technical"] as const;

/**
 * Records that an appointment failed, and why. After the first failure of a kind, people choose another time; the
 * second one fails the order. Technical failures of sessions that the service could not record don't count.
 * @throws ServiceError before the start of the appointment; for a no-show, until 15 minutes after the start. Also while
 * the appointment's session is open, because a failed order would leave people in it
 */
export async function reportFailedAppointment(
  deps: DeskDeps,
  operator: Operator,
  code: string,
  typed: Typed,
): Promise<void> {
  const read = formReader(typed);
  const outcome = accepted(read.done(read.requiredOneOf("outcome", outcomes)));
  const claimed = await claimedOrder(deps, operator, code);
  await deps.db.transaction(async (tx) => {
    const { locked, order, at } = await lockClaimed(tx, deps, operator, claimed);
    const { orderId, partnerId } = order;
    if (await openLiveOf(tx, order.taskId))
      throw new ServiceError("conflict", "The session is open, or is being closed. End it on its own page.");
    const appointments = await appointmentsFor(tx, orderId);
    const appointment = openOf(appointments);
    if (!appointment || appointment.startsAt > at)
      throw new ServiceError("conflict", "No appointment of this order has begun.");
    if (outcome === "no_show" && at.getTime() - appointment.startsAt.getTime() < noShowMs)
      throw new ServiceError("conflict", "People who did not come are noted 15 minutes after the beginning.");
    await setAppointmentEnded(tx, appointment.id, outcome, at);
    const detail = { sessionId: appointment.id, outcome };
    await tx.query(
      auditLine({ at, action: "notary.appointment_ended", actor: operator.actor, partnerId, orderId, detail }),
    );
    const failures = appointments.filter((each) => each.outcome === outcome).length;
    // Failures are not counted if the service could not record their sessions, because that is the operator's fault.
    if (failures <= (outcome === "technical" ? await countUnrecorded(tx, deps, orderId) : 0))
      return mailBooking(tx, { id: appointment.id, sequence: appointment.sequence + 1 }, "again", order);
    const reason =
      outcome === "no_show" ? "Nobody came to two appointments" : "Two appointments failed for technical reasons";
    await perform(tx, locked, "notarization_failed", { reason }, { actor: operator.actor, at, log: deps.log });
  });
}

async function countUnrecorded(tx: Tx, { rowMac }: DeskDeps, orderId: number): Promise<number> {
  let count = 0;
  for (const session of await liveSessionsOf(tx, orderId)) if (await isUnrecorded({ db: tx, rowMac }, session)) count++;
  return count;
}

/**
 * Ends an appointment whose session failed; does nothing if no scheduled appointment has begun. People choose another
 * time, unless the order fails as well. The caller must have locked the order.
 */
export async function endAppointmentOfSession(
  tx: Tx,
  { orderId, signers }: { orderId: number; signers: readonly unknown[] },
  outcome: (typeof outcomes)[number],
  { at, fails }: { at: Date; fails: boolean },
): Promise<void> {
  const appointment = openOf(await appointmentsFor(tx, orderId));
  if (!appointment || appointment.startsAt > at) return;
  await setAppointmentEnded(tx, appointment.id, outcome, at);
  if (!fails) await mailBooking(tx, { id: appointment.id, sequence: appointment.sequence + 1 }, "again", { signers });
}

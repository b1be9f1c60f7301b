/** The times at which people can book a notary. */
import type { Sql } from "../../../kernel/platform/database/database.ts";
import type { DeskDeps } from "../claims/claims.ts";
import type { WaitingOrder } from "../claims/orders.ts";
import { changesOf } from "../commissions/expiry.ts";
import { listWorkingNotaries, type Notary } from "../commissions/store.ts";
import { eligibilityFor } from "../eligibility/eligible.ts";
import { type Appointment, bookedTimes } from "../schedule/appointments.ts";
import { slotsOf } from "../schedule/hours.ts";
import { findHours } from "../schedule/hours-store.ts";
import { liveObstacle, type ProofProviders } from "../sessions/offered.ts";

/** `rooms` is null when the service has no rooms for audio and video. */
export type BookingDeps = { desk: DeskDeps; rooms: ProofProviders | null };

type Point = Pick<Appointment, "mode" | "meetingPoint">;

/** A time at which a notary can be booked. */
export type Offer = Point & { notary: Notary; startsAt: Date; zone: string };

/**
 * The active notaries who can work. If a notary has claimed the order, only that notary. Doesn't check if they are
 * eligible for the order.
 */
export const notariesFor = async (db: Sql, { claimedBy }: WaitingOrder): Promise<Notary[]> =>
  (await listWorkingNotaries(db)).filter(
    ({ mayWork, status, operatorId }) =>
      mayWork && status === "active" && (claimedBy === null || claimedBy === `operator:${operatorId}`),
  );

/**
 * The times at which the notary can be booked for the order. An act by audio and video takes place in a room of this
 * service, if the service can offer one. Otherwise it takes place in the notary's own tool, if the notary has stored a
 * link to that tool.
 */
export async function offersOf(
  { desk, rooms }: BookingDeps,
  db: Sql,
  order: WaitingOrder,
  notary: Notary,
): Promise<Offer[]> {
  const hours = await findHours(db, notary.id).catch((error: unknown) => {
    // A notary whose stored hours have an invalid MAC is skipped, so that other notaries' times can still be offered.
    desk.log.error({ err: error, notaryId: notary.id }, "the hours of a notary can’t be used");
    return null;
  });
  if (!hours) return [];
  const now = desk.clock();
  const rules = await desk.readEligibility(db);
  const slots = slotsOf(hours, await bookedTimes(db, notary.id, now), now);
  const pointsAt = (at: Date): Point[] => {
    const eligibility = eligibilityFor(rules, notary, order, at);
    const isHere = rooms !== null && liveObstacle(rooms, { order, eligibility }, at) === null;
    const points: Point[] = [];
    if (isHere) points.push({ mode: "ron", meetingPoint: null });
    else if (hours.meetingUrl !== null) points.push({ mode: "ron", meetingPoint: hours.meetingUrl });
    if (hours.place !== null) points.push({ mode: "ipen", meetingPoint: hours.place });
    return points.filter(({ mode }) => eligibility.modes.includes(mode));
  };
  // Reading certificates is slow, so the possible modes and places are computed once for each UTC day. They are
  // computed again when the commission, the registration or the certificate starts or expires within the day.
  const changes = changesOf(notary);
  const bySpan = new Map<string, Point[]>();
  return slots.flatMap((startsAt) => {
    const span = `${startsAt.toISOString().slice(0, 10)} ${changes.filter((change) => change <= startsAt).length}`;
    const points = bySpan.get(span) ?? pointsAt(startsAt);
    bySpan.set(span, points);
    return points.map((point) => ({ notary, startsAt, zone: hours.zone, ...point }));
  });
}

/** The value by which the form names an offered time. */
export const slotText = ({ startsAt, mode, notary }: Offer): string => `${startsAt.toISOString()} ${mode} ${notary.id}`;

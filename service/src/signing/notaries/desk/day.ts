/** A notary's day: the waiting orders that the notary may claim or has claimed, and the state of each. */
import type { Operator } from "../../../firms/operators/operators.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { type Marked, marked } from "../../../kernel/platform/database/state-mac.ts";
import { type DeskDeps, deskOf, type EligibleOrder } from "../claims/claims.ts";
import { appointmentsOf } from "../claims/orders.ts";
import { notaryOfOperator } from "../commissions/store.ts";
import { scheduledOf } from "../schedule/appointments.ts";
import { openRequests } from "../schedule/queue.ts";
import { sessionState } from "../sessions/store.ts";

/** The states of an order that waits for a notary, in the words of the notary's page. */
export const waitingWords = {
  unclaimed: "Nobody has it yet",
  asks_now: "Its people ask for a notary now",
  called: "You called its people: open the session",
  in_session: "The session is open",
  interrupted: "The session came to nothing: meet again",
  scheduled: "Waits for the appointment",
  in_hand: "In your hands, no meeting yet",
} as const;

type WaitingAt = keyof typeof waitingWords;
type DayOrder = EligibleOrder & { at: WaitingAt };

/**
 * A notary's work today: orders that the notary may claim, and claimed orders with their appointments, the next
 * appointment first.
 */
export type NotaryDay = {
  open: readonly DayOrder[];
  mine: readonly (DayOrder & { appointmentAt: Date | null })[];
  /** The number of unclaimed orders that this notary may not claim, as `deskOf` counts them. */
  others: number;
};

/** Reads an operator's work as a notary today. Null for an operator who is not a notary, or a suspended notary. */
export async function dayOf(deps: DeskDeps, operator: Operator): Promise<NotaryDay | null> {
  const notary = operator.id === null ? undefined : await notaryOfOperator(deps.db, operator.id);
  if (!notary || notary.status === "suspended") return null;
  const [{ open, mine, others }, mailed, booked, requests] = await Promise.all([
    deskOf(deps, operator, notary),
    appointmentsOf(deps.db, notary.id),
    scheduledOf(deps.db, notary.id),
    openRequests(deps.db, operator.environment, 1000),
  ]);
  const bookedAt = new Map(booked.map(({ orderId, startsAt }) => [orderId, startsAt]));
  const asked = new Map(requests.map(({ orderId, state }) => [orderId, state]));
  const sessions = await sessionsNow(
    deps.db,
    mine.map(({ order }) => order.orderId),
  );
  const withTimes = mine.map((each) => {
    const { orderId, taskId } = each.order;
    const appointmentAt = bookedAt.get(orderId) ?? mailed.get(taskId) ?? null;
    return { ...each, appointmentAt, at: placeOf(asked.get(orderId), sessions.get(orderId), appointmentAt) };
  });
  const last = Number.MAX_SAFE_INTEGER;
  const instant = ({ appointmentAt }: (typeof withTimes)[number]) => appointmentAt?.getTime() ?? last;
  return {
    open: open.map((each) => ({ ...each, at: asked.has(each.order.orderId) ? "asks_now" : "unclaimed" })),
    mine: withTimes.sort((one, other) => instant(one) - instant(other)),
    others,
  };
}

function placeOf(asked: string | undefined, isOpen: boolean | undefined, appointmentAt: Date | null): WaitingAt {
  if (isOpen) return "in_session";
  if (asked === "taken") return "called";
  if (asked === "waiting") return "asks_now";
  if (appointmentAt !== null) return "scheduled";
  return isOpen === false ? "interrupted" : "in_hand";
}

/** For each order that has had a session: true if its latest session has not ended. */
async function sessionsNow(db: Sql, orderIds: readonly number[]): Promise<ReadonlyMap<number, boolean>> {
  const rows = await db.query<{ orderId: number; isOpen: boolean } & Marked>(sql`
    SELECT DISTINCT ON (l.order_id) l.order_id AS "orderId", l.state <> 'ended' AS "isOpen", ${marked(sessionState, sql`l`)}
    FROM live_sessions l WHERE l.order_id = ANY (${orderIds}::bigint[]) ORDER BY l.order_id, l.opened_at DESC, l.id`);
  return new Map(rows.filter(({ isAuthentic }) => isAuthentic).map(({ orderId, isOpen }) => [orderId, isOpen]));
}

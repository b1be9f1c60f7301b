/** The progress of an order's notarization, for the order's firm. It contains no names, links or addresses. */
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { verified } from "../../../kernel/platform/database/state-mac.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import { fromOrders, hasOrderCode, type Notarization, orderState, statusGroupOf } from "../../../orders/order/order.ts";
import { actOfOrder } from "../acts/journal.ts";
import { scheduledFor } from "../appointments/book.ts";
import { orderOfId } from "../claims/orders.ts";
import { findNotary, notaryOfOperator } from "../commissions/store.ts";
import type { Appointment } from "../schedule/appointments.ts";
import { latestRequestOf, type NotaryRequest } from "../schedule/queue.ts";
import { type LiveSession, liveSessionsOf } from "../sessions/store.ts";
import { openSheetOf } from "../sheets/store.ts";

type Reading = { db: Sql; rowMac: RowMac };

/**
 * The status groups of orders whose notarization is completed. After a failure of shipping or fax, an order is in
 * another group.
 */
const notarized: ReadonlySet<string> = new Set(["notarized", "shipping", "shipped", "delivered", "complete"]);

function stateOf(status: string, isActed: boolean): Notarization["state"] {
  if (isActed || notarized.has(statusGroupOf(status)) || status === "ShippingFailed" || status === "FaxFailed")
    return "completed";
  if (status === "NotarizationFailed") return "failed";
  if (status === "IdentityLocked") return "identity_locked";
  if (status === "NotarizationPending") return "waiting";
  const ended = ["RefundPending", "Refunded", "Cancelled", "EsignDeclined", "EsignExpired"];
  return ended.includes(status) ? "ended" : "not_due";
}

const noProgress = { method: null, jurisdiction: null, appointmentUtc: null, session: null };

/**
 * The state of an order's notarization, as its firm sees it. The order must exist.
 * @throws ServiceError `unavailable` for rows whose MAC is invalid
 */
export async function notarizationOf(reading: Reading, code: string): Promise<Notarization> {
  const { db } = reading;
  const [order] = await db.query<{ id: number; status: string; before: string | null }>(sql`
    SELECT o.id, o.status, o.status_before_hold AS before, ${verified(orderState, sql`o`)} ${fromOrders}
    WHERE ${hasOrderCode(code)}`);
  if (!order) throw new Error("the order of a notarization is gone");
  const act = await actOfOrder(reading, order.id);
  const state = stateOf(order.status === "OnHold" ? (order.before ?? "") : order.status, act !== undefined);
  if (act) return { ...noProgress, state, method: act.mode, jurisdiction: act.venue.state };
  return state === "waiting" ? waitingPart(reading, order.id) : { ...noProgress, state };
}

/** The part of the progress that applies while an order waits for a notary or is claimed by one. */
async function waitingPart(reading: Reading, orderId: number): Promise<Notarization> {
  const { db } = reading;
  // For an order on hold, `order` is undefined: it doesn't wait for a notary until the hold ends.
  const [order, appointment, sessions, request] = await Promise.all([
    orderOfId(reading, orderId),
    scheduledFor(db, orderId),
    liveSessionsOf(db, orderId),
    latestRequestOf(db, orderId),
  ]);
  const operatorId = order?.claimedBy?.replace(/^operator:/, "");
  const [sheet, claimant, met] = await Promise.all([
    order && openSheetOf(reading, order.taskId),
    operatorId === undefined ? undefined : notaryOfOperator(db, operatorId),
    appointment ? findNotary(db, appointment.notaryId) : undefined,
  ]);
  return {
    state: claimant ? "claimed" : "waiting",
    method: sheet?.script.mode ?? appointment?.mode ?? null,
    jurisdiction: (claimant ?? met)?.state ?? null,
    appointmentUtc: appointment?.startsAt.toISOString() ?? null,
    session: sessionWord(sessions.at(-1), request, appointment),
  };
}

/**
 * The word for the person's next contact with the notary. An open session comes first, then a request to meet now, then
 * an appointment. Without any of them: `ended` if there was a session, otherwise null.
 */
function sessionWord(
  session: LiveSession | undefined,
  request: NotaryRequest | undefined,
  appointment: Appointment | null,
): Notarization["session"] {
  if (session && session.state !== "ended") return session.state === "open" ? "waiting_room" : session.state;
  if (request?.state === "taken") return "called";
  if (request?.state === "waiting") return "queued";
  if (appointment) return "scheduled";
  return session ? "ended" : null;
}

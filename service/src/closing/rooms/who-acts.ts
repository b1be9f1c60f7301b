/** The party that must act on an unfinished order of a room, in words for the firm's members. */
import type { Owner } from "../../kernel/identity/identity.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import type { Statement } from "../../kernel/platform/database/sql.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { isPlainName, isPlainTitle } from "../../kernel/platform/mail/plain-name.ts";
import { shortCode } from "../../kernel/platform/text.ts";
import { failedAhead } from "../../orders/fulfilment/fulfilment.ts";
import {
  faxesAhead,
  isOfFirm,
  isPayable,
  type OrderStatus,
  type Payer,
  statusGroupOf,
  statusLabel,
  type Titled,
  type TitleOf,
} from "../../orders/order/order.ts";
import { isPostageDue, overdueOf } from "../../orders/payments/payments.ts";
import type { OwnRoom } from "./view/read-view.ts";

export type UnfinishedOrder = Titled & {
  label: string | null;
  status: OrderStatus;
  /** The time when the order last changed. */
  since: Date;
  /** The time when the open envelope expires; null without one. */
  expiresAt: Date | null;
  waiting: { name: string; routing: number }[] | null;
  /** True if a payment for the order is in progress, which can take days with a bank transfer. */
  isBeingPaid: boolean;
  /** The payer of the additional postage that the order's parcel waits for; null if none is due. */
  postageFrom: Payer | null;
  /** True if the result of the firm's payment for the order should have arrived by now, but has not. */
  isOverdue: boolean;
  fax: boolean;
  /** True if the order's fax was sent early, while the order is still being shipped, and failed. */
  hasFaxFailed: boolean;
};

/** Adds to the firm's orders the problems that an order's status does not show, such as a failed early fax. */
export async function withTroubles<Row extends Pick<UnfinishedOrder, "fax" | "status"> & { orderId: number }>(
  deps: { db: Sql; clock: Clock },
  owner: Owner,
  rows: readonly Row[],
): Promise<(Row & Trouble)[]> {
  const overdue = new Set((await overdueOf(deps, owner)).orderIds);
  const ahead = rows.filter(faxesAhead).map(({ orderId }) => orderId);
  const failed = await failedAhead(deps.db, ahead);
  return rows.map((row) => ({ ...row, isOverdue: overdue.has(row.orderId), hasFaxFailed: failed.has(row.orderId) }));
}

/**
 * The codes of the firm's own orders of the room whose early fax failed. An order's status does not show this failure.
 */
export async function failedFaxesIn(
  db: Sql,
  { orders, ownOrders }: Pick<OwnRoom, "orders" | "ownOrders">,
): Promise<ReadonlySet<string>> {
  const own = orders.flatMap(({ orderCode, status, services: { fax } }) => {
    const id = ownOrders.get(orderCode)?.id;
    return id !== undefined && faxesAhead({ fax, status }) ? [{ id, orderCode }] : [];
  });
  const failed = await failedAhead(
    db,
    own.map(({ id }) => id),
  );
  return new Set(own.filter(({ id }) => failed.has(id)).map(({ orderCode }) => orderCode));
}

export type Trouble = Pick<UnfinishedOrder, "isOverdue" | "hasFaxFailed">;

export const isUnfinished = (status: Statement): Statement =>
  sql`${status} NOT IN ('Completed', 'Cancelled', 'Refunded')`;

/** The signers of the open envelope `e` who have not signed. */
export const waitingSigners = sql`FROM envelope_signers s WHERE s.envelope_id = e.id AND s.signed_at IS NULL`;

export const waitingList: Statement = sql`
  (SELECT json_agg(json_build_object('name', s.name, 'routing', s.routing) ORDER BY s.n) ${waitingSigners})`;

/** For the SELECT list of a query on orders `o`: `postageFrom`. */
export const postageColumn: Statement = sql`CASE WHEN ${isPostageDue} THEN o.pay_by END AS "postageFrom"`;

export const withEnvelope: Statement = sql`LEFT JOIN envelopes e ON e.order_id = o.id AND e.ended_at IS NULL AND o.status = 'EsignPending'`;

export const orderNameOf = (row: UnfinishedOrder, titleOf: TitleOf): string =>
  [row.label, titleOf(row)].find((name) => name !== null && isPlainTitle(name)) ?? shortCode(row.code);

export const isStuck = ({ status, isOverdue, hasFaxFailed }: Trouble & { status: string }): boolean =>
  isOverdue || hasFaxFailed || statusGroupOf(status) === "attention";

/** For sorting: when the order's open envelope expires. Orders without one come last. */
export const signingEnd = ({ expiresAt }: UnfinishedOrder): number => expiresAt?.getTime() ?? Number.MAX_SAFE_INTEGER;

// The time zone that decides, for all firms, which closings are due today.
const closingZone = "America/New_York";

const day = { month: "short", day: "numeric" } as const;
const dayIn = (at: Date, timeZone: string): string => at.toLocaleDateString("en-US", { ...day, timeZone });
const timeIn = (at: Date, timeZone: string): string =>
  at.toLocaleString("en-US", { ...day, hour: "numeric", minute: "2-digit", timeZone, timeZoneName: "short" });

/**
 * The text that states who must act and by when, or since when the order is stuck.
 * @param zone the firm's time zone
 */
export function actOf(row: UnfinishedOrder, zone: string): string {
  const { status, expiresAt, since } = row;
  if (row.isOverdue) return "stuck: your firm’s payment has had no answer";
  if (row.hasFaxFailed && statusGroupOf(status) !== "attention") return "stuck: the fax did not go through";
  if (isStuck(row)) return `stuck since ${dayIn(since, zone)} (${statusLabel(status).toLowerCase()})`;
  if (status === "EsignPending" && row.waiting && row.waiting.length > 0) {
    const turn = Math.min(...row.waiting.map(({ routing }) => routing));
    const names = row.waiting.filter(({ routing }) => routing === turn).map(({ name }) => name);
    const who = names.every(isPlainName) ? names.join(" and ") : "a signer";
    return `${who} must sign${expiresAt ? ` by ${timeIn(expiresAt, zone)}` : ""}`;
  }
  if ((isPayable(status) || row.postageFrom !== null) && row.isBeingPaid) return "a payment is under way";
  if (row.postageFrom !== null)
    return `${row.postageFrom === "firm" ? "your firm" : "the client"} must pay more postage before we ship it`;
  return acts[status] ?? statusLabel(status).toLowerCase();
}

/**
 * The statuses between two services. A live order leaves them automatically; a test order waits for the sandbox or an
 * operator.
 */
const betweenServices: ReadonlySet<string> = new Set(["EsignComplete", "NotarizationComplete"]);

export const isBetweenServices = ({ status }: { status: string }): boolean => betweenServices.has(status);

const acts: Readonly<Record<string, string>> = {
  EsignComplete: "signed, and waits for its next step",
  NotarizationComplete: "notarized, and waits for its next step",
  QuoteReady: "waits for payment",
  AwaitingPayment: "waits for payment",
  NotarizationPending: "the notary must act",
  ShippingPending: "we prepare the shipment",
  Shipped: "the carrier has it",
  FaxPending: "we send the fax",
};

/** A day such as `2026-11-30`, for people: `Nov 30`. */
export const dayWords = (day: string): string =>
  new Intl.DateTimeFormat("en-US", { month: "short", day: "numeric", timeZone: "UTC" }).format(
    new Date(`${day}T00:00Z`),
  );

/** The day of an instant in `closingZone`, as `2026-11-30`. */
export const dayOf = (at: Date): string => new Intl.DateTimeFormat("en-CA", { timeZone: closingZone }).format(at);

/**
 * True if an order belongs to an open closing of its own firm that is due today. Ignores closings of other firms that
 * contain the order.
 */
export const closesToday = (orderId: Statement, now: Date): Statement => sql`EXISTS (
  SELECT FROM room_orders a JOIN rooms r ON r.id = a.room_id
  WHERE a.order_id = ${orderId} AND ${isOfFirm(orderId, sql`r`)} AND r.status = 'open' AND r.closes_on = ${dayOf(now)}::date)`;

/**
 * The firm's open closings, sorted by the day on which they are due. Each has the order that waits and the firm's next
 * step.
 */
import type { Owner } from "../../kernel/identity/identity.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { type Marked, marked, markedAll } from "../../kernel/platform/database/state-mac.ts";
import {
  clientEmailOf,
  documentsDeletedAt,
  isFailureOfFirm,
  isPayable,
  joinOrder,
  type OrderStatus,
  orderState,
  type Payer,
  shipmentState,
  signerState,
  type Titled,
  type TitleOf,
} from "../../orders/order/order.ts";
import {
  dueCents,
  isBeingPaid,
  isFirmPaying,
  mayBePaidByFirm,
  type RefusalKind,
  refusalsOf,
  zoneOrDefault,
} from "../../orders/payments/payments.ts";
import { roomOfOrder } from "./checkout.ts";
import { type DueDeps, sumDue } from "./due.ts";
import { authentic, roomState } from "./store.ts";
import {
  actOf,
  dayOf,
  isBetweenServices,
  isStuck,
  isUnfinished,
  orderNameOf,
  postageColumn,
  signingEnd,
  type Trouble,
  type UnfinishedOrder,
  waitingList,
  waitingSigners,
  withEnvelope,
  withTroubles,
} from "./who-acts.ts";

/**
 * The firm's next step. `fix`: the order `orderCode` is stuck. `pay`: the firm must pay for an order. `look`: the
 * closing is due, and another party must act. `add`: the closing has no orders. `simulate`: a test order is between two
 * services, and the firm can simulate the next one.
 */
type ClosingStep = { do: "fix"; orderCode: string; status: string } | { do: "pay" | "look" | "add" | "simulate" };

export type OpenClosing = {
  roomCode: string;
  name: string;
  reference: string | null;
  /** The day on which the closing is due, as `2026-11-30`; null when none is set. */
  closesOn: string | null;
  /** The day on which the closing is due, compared with today; null without a day. */
  due: "overdue" | "today" | "later" | null;
  /** The orders of the closing that the firm placed, and those of them that are completed. */
  orders: number;
  done: number;
  /**
   * A text that names the first waiting order, and the person or provider that must act on it. Without such an order,
   * it states that there are no orders yet.
   */
  reason: string;
  /** The firm's next step; null while only others must act and the closing is not due yet. */
  step: ClosingStep | null;
};

const maxClosings = 50;

type RoomRow = {
  id: string;
  code: string;
  name: string;
  reference: string | null;
  closesOn: string | null;
  orders: number;
  done: number;
};

const attachedOrders = sql`room_orders a ${joinOrder(sql`a.order_id`)} AND o.partner_id = r.partner_id`;

/**
 * The owner's open rooms that have an unfinished order of the owner, and those that have a due day but no orders. At
 * most 50, sorted by due day. The statement is built apart from its execution, so that tests can check its query plan.
 */
export const openClosingsStatement = ({ partnerId, environment }: Owner): Statement => sql`
  SELECT r.id, r.code AS "code@room", r.name, r.reference, r.closes_on::text AS "closesOn", own.orders, own.done,
    ${marked(roomState, sql`r`)}
  FROM rooms r CROSS JOIN LATERAL (
    SELECT count(*)::int AS orders, (count(*) FILTER (WHERE o.status = 'Completed'))::int AS done
    FROM ${attachedOrders} WHERE a.room_id = r.id) own
  WHERE r.partner_id = ${partnerId} AND r.environment = ${environment} AND r.status = 'open'
    AND (EXISTS (SELECT FROM ${attachedOrders} WHERE a.room_id = r.id AND ${isUnfinished(sql`o.status`)})
      OR (r.closes_on IS NOT NULL AND r.order_count = 0))
  ORDER BY r.closes_on, r.created_at DESC, r.id LIMIT ${maxClosings}`;

type OrderRow = UnfinishedOrder & { roomId: string; orderId: number; payBy: Payer };

const ordersStatement = (roomIds: readonly string[]): Statement => sql`
  SELECT r.id AS "roomId", o.id AS "orderId", o.code AS "code@order", o.document_name AS "documentName", o.doc_slug AS "docSlug", o.status, o.fax,
    o.pay_by AS "payBy", o.updated_at AS since, a.label, e.expires_at AS "expiresAt", ${waitingList} AS waiting,
    ${isBeingPaid}, ${postageColumn}, ${marked(orderState, sql`o`)}, ${markedAll(signerState, sql`s`, waitingSigners)}
  FROM rooms r JOIN room_orders a ON a.room_id = r.id ${joinOrder(sql`a.order_id`)} AND o.partner_id = r.partner_id
  ${withEnvelope}
  WHERE r.id = ANY (${roomIds}::uuid[]) AND ${isUnfinished(sql`o.status`)} ORDER BY r.id, a.position`;

/**
 * The firm's closings that `openClosingsStatement` selects, those that are due first at the top. Leaves out rooms and
 * orders that were altered.
 */
export async function openClosings(
  { db, clock, titleOf }: { db: Sql; clock: Clock; titleOf: TitleOf },
  owner: Owner,
): Promise<OpenClosing[]> {
  const rooms = authentic(await db.query<RoomRow & Marked>(openClosingsStatement(owner)));
  const found = await db.query<Omit<OrderRow, keyof Trouble> & Marked>(ordersStatement(rooms.map(({ id }) => id)));
  const rows: OrderRow[] = await withTroubles({ db, clock }, owner, authentic(found));
  const byRoom = Map.groupBy(rows, ({ roomId }) => roomId);
  const today = dayOf(clock());
  const zone = await zoneOrDefault(db, owner.partnerId);
  return rooms.map(({ id, code: roomCode, ...room }) => {
    const waiting = [...(byRoom.get(id) ?? [])].sort((a, b) => rankOf(a) - rankOf(b) || signingEnd(a) - signingEnd(b));
    const due = dueOf(room.closesOn, today);
    return {
      roomCode,
      ...room,
      due,
      reason: reasonOf(waiting, titleOf, zone),
      step: stepOf(waiting, room.orders, due) ?? simulation(owner, waiting),
    };
  });
}

const dueOf = (closesOn: string | null, today: string): OpenClosing["due"] => {
  if (closesOn === null) return null;
  return closesOn < today ? "overdue" : closesOn === today ? "today" : "later";
};

const isFirmsTurn = ({ status, payBy, postageFrom, isBeingPaid }: OrderRow): boolean =>
  payBy === "firm" && (isPayable(status) || postageFrom !== null) && !isBeingPaid;

/** Orders for which the firm can act come first. */
const rankOf = (row: OrderRow): number => (isFirmsTurn(row) || isStuck(row) ? 0 : 1);

function reasonOf(waiting: readonly OrderRow[], titleOf: TitleOf, zone: string): string {
  const [first, ...others] = waiting;
  if (!first) return "It has no orders yet.";
  const more = others.length === 0 ? "" : ` ${others.length} more ${others.length === 1 ? "waits" : "wait"}.`;
  return `${orderNameOf(first, titleOf)}: ${actOf(first, zone)}.${more}`;
}

function stepOf([first]: readonly OrderRow[], orders: number, due: OpenClosing["due"]): ClosingStep | null {
  if (!first) return orders === 0 ? { do: "add" } : null;
  if (isFirmsTurn(first)) return { do: "pay" };
  if (isStuck(first))
    return { do: "fix", orderCode: first.code, status: first.hasFaxFailed ? "FaxFailed" : first.status };
  return due === "overdue" || due === "today" ? { do: "look" } : null;
}

const simulation = ({ environment }: Owner, waiting: readonly OrderRow[]): ClosingStep | null =>
  environment === "test" && waiting.some(isBetweenServices) ? { do: "simulate" } : null;

export type ClientOrder = Titled & {
  id: number;
  label: string | null;
  status: OrderStatus;
  /**
   * True if the latest failed payment was one by the firm, and the client became the payer afterwards. Also true if the
   * client became the payer and no payment has failed.
   */
  isFailureOfFirm: boolean;
  sign: boolean;
  notarize: boolean;
  ship: boolean;
  fax: boolean;
  payBy: Payer;
  totalCents: number;
  /** The sum that the client can pay for the order now; null when the client can pay nothing. */
  dueCents: number | null;
  /**
   * The kind of `dueCents`: the price, more postage, or a replacement for a payment that a bank took back; null when
   * `dueCents` is null.
   */
  dueFor: "price" | "postage" | "loss" | null;
  /**
   * The reason why the client can't pay an order now although a sum is due. Null otherwise, when the order's documents
   * were deleted, and when a record of it was altered.
   */
  refusal: Exclude<RefusalKind, "not_due" | "altered"> | null;
  documentsDeletedAt: Date | null;
  /** The latest shipment; null for none. */
  parcel: Parcel | null;
};

/** `deliveredAt` is the time that the carrier or an operator recorded; null before the delivery. */
type Parcel = { carrier: string; trackingNumber: string | null; shippedAt: Date; deliveredAt: Date | null };

/** `zone` is the firm's time zone. */
export type ClientClosing = { name: string; orders: ClientOrder[]; zone: string };

type ClientRow = Omit<ClientOrder, "dueCents" | "dueFor" | "refusal" | "parcel"> & {
  carrier: string | null;
  trackingNumber: string | null;
  shippedAt: Date | null;
  deliveredAt: Date | null;
  partnerId: string;
  supplementCents: number | null;
  replacesLoss: boolean | null;
  isFirmsMoneyMoving: boolean;
};

/**
 * The closing that contains the order, with all orders of the same client in the sequence of the room's list. Leaves
 * out orders of other clients, and orders with an invalid MAC. Undefined for an order without a room.
 */
export async function clientClosing(
  { db, notarySupply }: DueDeps,
  orderCode: string,
): Promise<ClientClosing | undefined> {
  const room = await roomOfOrder(db, orderCode);
  if (!room) return undefined;
  const rows = await db.query<ClientRow & Marked>(sql`
    SELECT o.id, o.code AS "code@order", a.label, o.status, ${isFailureOfFirm(sql`o.id`)} AS "isFailureOfFirm", o.sign, o.notarize, o.ship, o.fax, o.pay_by AS "payBy",
      o.document_name AS "documentName", o.doc_slug AS "docSlug", o.total_cents AS "totalCents", ${dueCents},
      ${isFirmPaying(sql`o.id`)} AS "isFirmsMoneyMoving", ${documentsDeletedAt(sql`o.id`)}, o.partner_id AS "partnerId",
      parcel.carrier, parcel.tracking_number AS "trackingNumber", parcel.shipped_at AS "shippedAt", parcel.delivered_at AS "deliveredAt",
      ${marked(orderState, sql`o`)}, ${markedAll(shipmentState, sql`s`, sql`FROM shipments s WHERE s.order_id = o.id`)}
    FROM rooms r JOIN room_orders a ON a.room_id = r.id ${joinOrder(sql`a.order_id`)} AND o.partner_id = r.partner_id
    LEFT JOIN LATERAL (SELECT * FROM shipments s WHERE s.order_id = o.id ORDER BY s.id DESC LIMIT 1) parcel ON true
    WHERE r.id = ${room.id} AND lower(o.customer_email) = ${clientEmailOf(orderCode)}
    ORDER BY a.position`);
  const orders = authentic(rows).map(
    async ({ supplementCents, replacesLoss, isFirmsMoneyMoving, ...row }): Promise<ClientOrder> => {
      const order = { ...row, parcel: parcelOf(row) };
      const nothing = { ...order, dueCents: null, dueFor: null, refusal: null };
      const cents = order.payBy === "client" ? sumDue({ ...order, supplementCents }) : null;
      // The client owes nothing when the firm must pay. This also applies while a bank moves the firm's payment, and
      // after a bank took it back.
      if (cents === null || isFirmsMoneyMoving || (replacesLoss && (await mayBePaidByFirm(db, order.code))))
        return nothing;
      const kind = (await refusalsOf(db, notarySupply, [order.id])).get(order.id)?.kind ?? null;
      if (kind === "not_due" || kind === "altered") return nothing;
      if (kind !== null) return { ...nothing, refusal: kind };
      const dueFor = isPayable(order.status) ? "price" : replacesLoss ? "loss" : "postage";
      return { ...order, dueCents: cents, dueFor, refusal: null };
    },
  );
  const [first] = rows;
  const zone = first ? await zoneOrDefault(db, first.partnerId) : "UTC";
  return { name: room.name, orders: await Promise.all(orders), zone };
}

type ParcelRow = Pick<ClientRow, "carrier" | "trackingNumber" | "shippedAt" | "deliveredAt">;

const parcelOf = ({ carrier, trackingNumber, shippedAt, deliveredAt }: ParcelRow): Parcel | null =>
  carrier === null || shippedAt === null ? null : { carrier, trackingNumber, shippedAt, deliveredAt };

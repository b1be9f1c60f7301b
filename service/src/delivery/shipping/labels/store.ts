import type { LockedOrder } from "../../orders/orders.ts";
import { lockOrder, verifiedOrders } from "../../orders/orders.ts";
import type { Sql, Tx } from "../../platform/database/database.ts";
import { type Statement, sql } from "../../platform/database/sql.ts";
import type { Address, CarrierRate } from "../../pricing/pricing.ts";
import type { TrackingStatus } from "./progress.ts";

export type RefundState = "intended" | "submitted" | "refunded" | "rejected" | "not_applicable";

/** A carrier's label of an order, from when it is wanted on. */
export type Label = {
  id: number;
  orderId: number;
  /** Which of the order's labels it is, from 1. */
  number: number;
  /** Which time the order is shipped, from 1. */
  attempt: number;
  state: "preparing" | "buying" | "bought" | "not_bought" | "withdrawn";
  orderedBy: string | null;
  mostCents: number | null;
  shipmentId: string | null;
  rateId: string | null;
  carrier: string | null;
  service: string | null;
  cents: number | null;
  trackingNumber: string | null;
  trackerId: string | null;
  labelUrl: string | null;
  fileSha256: string | null;
  why: string | null;
  seen: TrackingStatus[];
  signedBy: string | null;
  refundState: RefundState | null;
  createdAt: Date;
  boughtAt: Date | null;
};

const columns = sql`id, order_id AS "orderId", number, attempt, state, ordered_by AS "orderedBy", most_cents AS "mostCents",
  shipment_id AS "shipmentId", rate_id AS "rateId", carrier, service, cents, tracking_number AS "trackingNumber",
  tracker_id AS "trackerId", label_url AS "labelUrl", file_sha256 AS "fileSha256", why, seen, signed_by AS "signedBy",
  refund_state AS "refundState", created_at AS "createdAt", bought_at AS "boughtAt"`;

/** The labels of an order, the first first. */
export const labelsOf = (db: Sql, orderId: number) =>
  db.query<Label>(sql`SELECT ${columns} FROM labels WHERE order_id = ${orderId} ORDER BY number`);

export async function findLabel(db: Sql, id: number): Promise<Label | undefined> {
  const [label] = await db.query<Label>(sql`SELECT ${columns} FROM labels WHERE id = ${id}`);
  return label;
}

/** An order and one of its labels, both locked: the order first, as whoever moves it does. */
export async function lockLabel(tx: Tx, id: number): Promise<{ order: LockedOrder; label: Label } | undefined> {
  const [found] = await tx.query<{ code: string }>(sql`
    SELECT o.code FROM orders o JOIN labels l ON l.order_id = o.id WHERE l.id = ${id}`);
  const order = found && (await lockOrder(tx, found.code));
  const [label] = await tx.query<Label>(sql`SELECT ${columns} FROM labels WHERE id = ${id} FOR UPDATE`);
  return order && label && { order, label };
}

/** The label that an act of the order is about. */
export async function labelOfAct(tx: Sql, orderId: number, number: number): Promise<Label | undefined> {
  const [label] = await tx.query<Label>(sql`
    SELECT ${columns} FROM labels WHERE order_id = ${orderId} AND number = ${number}`);
  return label;
}

export const updateLabel = (tx: Sql, id: number, set: Statement) =>
  tx.query(sql`UPDATE labels SET ${set} WHERE id = ${id}`);

/** Writes a label that is wanted, after the order's others. */
export async function insertLabel(
  tx: Tx,
  orderId: number,
  { attempt, orderedBy, mostCents, at }: Pick<Label, "attempt" | "orderedBy" | "mostCents"> & { at: Date },
): Promise<number> {
  const [row] = await tx.query<{ id: number }>(sql`
    INSERT INTO labels (order_id, number, attempt, ordered_by, most_cents, created_at)
    SELECT ${orderId}, coalesce(max(number), 0) + 1, ${attempt}, ${orderedBy}, ${mostCents}, ${at}
    FROM labels WHERE order_id = ${orderId} RETURNING id`);
  if (!row) throw new Error("no label was written");
  return row.id;
}

/** How often the order came to be shipped; a hold's end is no other time. */
export async function shippingAttempt(db: Sql, orderId: number): Promise<number> {
  const [row] = await db.query<{ attempt: number }>(sql`
    SELECT count(*)::int AS attempt FROM audit_log
    WHERE order_id = ${orderId} AND action = 'order.transition' AND to_status = 'ShippingPending'
      AND from_status <> 'OnHold'`);
  return row?.attempt ?? 0;
}

/** The number of the parcel that was recorded last as handed to a carrier; null before there is one. */
export async function lastTrackingNumber(db: Sql, orderId: number): Promise<string | null> {
  const [row] = await db.query<{ trackingNumber: string }>(sql`
    SELECT tracking_number AS "trackingNumber" FROM shipments WHERE order_id = ${orderId} ORDER BY id DESC LIMIT 1`);
  return row?.trackingNumber ?? null;
}

/** What a label is made of: where the parcel goes, what it weighs and what was quoted for it. */
export type LabelOrder = {
  code: string;
  shipTo: Address | null;
  shipFrom: Address | null;
  pages: number;
  /** The postage line's amount; null without one. */
  quotedCents: number | null;
  carrierRate: CarrierRate | null;
};

export async function findLabelOrder(db: Sql, orderId: number): Promise<LabelOrder | undefined> {
  const [order] = await db.query<LabelOrder>(sql`
    SELECT code, ship_to AS "shipTo", ship_from AS "shipFrom", carrier_rate AS "carrierRate",
      (SELECT pages FROM documents WHERE order_id = orders.id AND kind = 'original' ORDER BY id LIMIT 1) AS pages,
      (SELECT sum((line ->> 'amountCents')::int)::int FROM jsonb_array_elements(lines) AS line
        WHERE line ->> 'type' = 'ShippingCarrierRate') AS "quotedCents",
      ${verifiedOrders}
    FROM orders WHERE id = ${orderId}`);
  return order;
}

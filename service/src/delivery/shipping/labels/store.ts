import { movesTo } from "../../../kernel/audit/audit.ts";
import { changeRow, changeRows } from "../../../kernel/platform/database/change-rows.ts";
import type { Database, Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { type StateMac, verified, writeStateMacs } from "../../../kernel/platform/database/state-mac.ts";
import { stateRows } from "../../../kernel/platform/protected-data.ts";
import { lastShipment } from "../../../orders/fulfilment/fulfilment.ts";
import {
  fromDocuments,
  fromOrders,
  joinOrder,
  type LockedOrder,
  lockOrder,
  verifiedOrder,
} from "../../../orders/order/order.ts";
import type { Address, CarrierRate } from "../../../orders/pricing/pricing.ts";
import type { TrackingStatus } from "./progress.ts";

export type RefundState = "intended" | "submitted" | "refunded" | "rejected" | "not_applicable";

/** A carrier's label for an order. The row is inserted when the label is requested. */
export type Label = {
  id: number;
  orderId: number;
  /** The label's number within its order, counted from 1. */
  number: number;
  /** The number of the order's shipment that the label is for, counted from 1. */
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

/** Names a label in the tasks about it. */
export const asDelivery = ({ id, orderId }: Pick<Label, "id" | "orderId">) => ({ orderId, subject: `label ${id}` });

/** The MAC covers all columns except the time of the next poll. */
export const labelState: StateMac = {
  table: sql`labels`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (l) => sql`${l}.id, ${l}.order_id, ${l}.number, ${l}.attempt, ${l}.state, ${l}.ordered_by, ${l}.most_cents,
    ${l}.shipment_id, ${l}.rate_id, ${l}.carrier, ${l}.service, ${l}.cents, ${l}.tracking_number, ${l}.tracker_id,
    ${l}.label_url, ${l}.file_sha256, ${l}.why, ${l}.seen, ${l}.signed_by, ${l}.refund_state,
    ${l}.created_at AT TIME ZONE 'UTC', ${l}.bought_at AT TIME ZONE 'UTC', ${l}.state_version`,
};

/** For the select list of a query on labels: makes the query throw on a label whose MAC is invalid. */
export const verifiedLabel = (l: Statement): Statement => verified(labelState, l);

/** Selects the `order_id` of each order with a label that has this tracking number. */
export const labelsTrackedBy = (trackingNumber: string): Statement =>
  sql`SELECT order_id FROM labels WHERE tracking_number = ${trackingNumber}`;

export const labelRows = stateRows(labelState, { backfill: { set: "carriers" } });

const columns = sql`id, order_id AS "orderId", number, attempt, state, ordered_by AS "orderedBy", most_cents AS "mostCents",
  shipment_id AS "shipmentId", rate_id AS "rateId", carrier, service, cents, tracking_number AS "trackingNumber",
  tracker_id AS "trackerId", label_url AS "labelUrl", file_sha256 AS "fileSha256", why, seen, signed_by AS "signedBy",
  refund_state AS "refundState", created_at AS "createdAt", bought_at AS "boughtAt", ${verifiedLabel(sql`labels`)}`;

/** The labels of an order, oldest first. */
export const labelsOf = (db: Sql, orderId: number) =>
  db.query<Label>(sql`SELECT ${columns} FROM labels WHERE order_id = ${orderId} ORDER BY number`);

export async function findLabel(db: Sql, id: number): Promise<Label | undefined> {
  const [label] = await db.query<Label>(sql`SELECT ${columns} FROM labels WHERE id = ${id}`);
  return label;
}

/** Locks an order and then one of its labels. Always in this sequence, to avoid deadlocks. */
export async function lockLabel(tx: Tx, id: number): Promise<{ order: LockedOrder; label: Label } | undefined> {
  const [found] = await tx.query<{ code: string }>(sql`
    SELECT o.code AS "code@order" FROM labels l ${joinOrder(sql`l.order_id`)} WHERE l.id = ${id}`);
  const order = found && (await lockOrder(tx, found.code));
  const [label] = await tx.query<Label>(sql`SELECT ${columns} FROM labels WHERE id = ${id} FOR NO KEY UPDATE`);
  return order && label && { order, label };
}

/** The label that an act is about. */
export async function labelOfAct(tx: Sql, orderId: number, number: number): Promise<Label | undefined> {
  const [label] = await tx.query<Label>(sql`
    SELECT ${columns} FROM labels WHERE order_id = ${orderId} AND number = ${number}`);
  return label;
}

export const updateLabel = (tx: Tx, id: number, set: Statement): Promise<void> => changeRow(tx, labelState, id, set);

/** Sets the time of the next poll about a label. The MAC does not cover this time. */
export const setAskAt = (tx: Tx, id: number, at: Date) =>
  tx.query(sql`UPDATE labels SET ask_at = ${at} WHERE id = ${id}`);

/** Inserts a requested label. Its number follows those of the order's other labels. */
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
  await writeStateMacs(tx, labelState, sql`id = ${row.id}`);
  return row.id;
}

/** Counts how often the order entered ShippingPending. Does not count the end of a hold. */
export async function shippingAttempt(db: Sql, orderId: number): Promise<number> {
  const [row] = await db.query<{ attempt: number }>(sql`
    SELECT ${movesTo(sql`${orderId}::bigint`, "ShippingPending")} AS attempt`);
  return row?.attempt ?? 0;
}

/**
 * The tracking number of the last parcel that was recorded as handed to a carrier; null without a parcel or a number.
 */
export async function lastTrackingNumber(db: Sql, orderId: number): Promise<string | null> {
  return (await lastShipment(db, orderId))?.trackingNumber ?? null;
}

/** The facts about an order that its label needs: destination, weight and quoted postage. */
export type LabelOrder = {
  code: string;
  shipTo: Address | null;
  shipFrom: Address | null;
  pages: number;
  /** The quoted postage; null when the quote has no postage line. */
  quotedCents: number | null;
  carrierRate: CarrierRate | null;
};

export async function findLabelOrder(db: Sql, orderId: number): Promise<LabelOrder | undefined> {
  const [order] = await db.query<LabelOrder>(sql`
    SELECT o.code AS "code@order", o.ship_to AS "shipTo", o.ship_from AS "shipFrom", o.carrier_rate AS "carrierRate",
      (SELECT d.pages ${fromDocuments} WHERE d.order_id = o.id AND d.kind = 'original' ORDER BY d.id LIMIT 1) AS pages,
      (SELECT sum((line ->> 'amountCents')::int)::int FROM jsonb_array_elements(o.lines) AS line
        WHERE line ->> 'type' = 'ShippingCarrierRate') AS "quotedCents",
      ${verifiedOrder}
    ${fromOrders} WHERE o.id = ${orderId}`);
  return order;
}

const batchSize = 500;

/**
 * For labels bought before the given time: deletes the names of the people who signed for the parcels, and the URLs of
 * the labels' files, in batches.
 */
export async function sweepLabels(db: Database, before: Date, stopping?: AbortSignal): Promise<void> {
  const due = sql`id IN (
    SELECT id FROM labels WHERE num_nonnulls(signed_by, label_url) > 0 AND bought_at < ${before}
    ORDER BY bought_at LIMIT ${batchSize})`;
  const forget = sql`signed_by = NULL, label_url = NULL`;
  let swept = batchSize;
  while (swept === batchSize && !stopping?.aborted)
    swept = await db.transaction((tx) => changeRows(tx, labelState, due, forget));
}

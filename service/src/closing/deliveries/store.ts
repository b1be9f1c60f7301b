import { lastActor } from "../../kernel/audit/audit.ts";
import type { Owner } from "../../kernel/identity/identity.ts";
import { hourMs } from "../../kernel/platform/clock.ts";
import type { Sql, Tx } from "../../kernel/platform/database/database.ts";
import { isSealed, sql } from "../../kernel/platform/database/sql.ts";
import {
  type Marked,
  marked,
  type StateMac,
  verified,
  writeStateMacs,
} from "../../kernel/platform/database/state-mac.ts";
import { stateRows } from "../../kernel/platform/protected-data.ts";
import { fromOrders, hasOrderCode, isSigningSimulated, joinOrder, orderState } from "../../orders/order/order.ts";
import { documentsOfOrder, type StoredOrderDocument, verifiedEnvelopesOf } from "../../signing/envelopes/envelopes.ts";
import { type StoredSigningAgain, signingAgainOf } from "../../signing/notaries/notaries.ts";
import { fromRooms, joinAttachments, verifiedRoom } from "../rooms/rooms.ts";
import { codeState } from "./code-store.ts";
import { receiverRows } from "./receiver-store.ts";

/** A document of a delivery. Its hash was fixed when the delivery was sent. */
export type DeliveredFile = { orderId: number; kind: string; sha256: string };

/**
 * The columns of a delivery that its MAC covers. So database access alone is not enough to change the documents, the
 * recipient or the delivery's end.
 */
const deliveryState: StateMac = {
  table: sql`closing_deliveries`,
  key: sql`id`,
  mac: sql`row_mac`,
  // Without a certificate and a code, this part of the covered content is only the email address, as in earlier
  // releases. So the MACs of those releases stay valid.
  covered: (d) => sql`${d}.id, ${d}.room_id, ${d}.recipient_name,
    CASE WHEN ${d}.certificate_sha256 IS NOT NULL THEN jsonb_build_array(${d}.recipient_email, ${d}.asks_code, ${d}.certificate_sha256)
      WHEN ${d}.asks_code THEN jsonb_build_array(${d}.recipient_email, 'code') ELSE to_jsonb(${d}.recipient_email) END,
    ${d}.files, ${d}.sent_by,
    extract(epoch FROM ${d}.created_at), extract(epoch FROM ${d}.expires_at), extract(epoch FROM ${d}.revoked_at)`,
};

/**
 * A recorded use of a link, with the columns that its MAC covers. Without the MAC, anyone with database access could
 * add downloads that never happened.
 */
const useState: StateMac = {
  table: sql`closing_delivery_uses`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (u) => sql`${u}.id, ${u}.delivery_id,
    CASE ${u}.kind WHEN 'download' THEN to_jsonb(${u}.file) ELSE jsonb_build_array(${u}.file, ${u}.kind) END, ${u}.network,
    extract(epoch FROM ${u}.at)`,
};

export const protectedTables = [stateRows(deliveryState), stateRows(useState), stateRows(codeState), receiverRows];

const verifiedDelivery = verified(deliveryState, sql`d`);

export type Delivery = {
  id: string;
  roomId: string;
  recipientName: string;
  recipientEmail: string;
  files: readonly DeliveredFile[];
  sentBy: string;
  createdAt: Date;
  expiresAt: Date;
  revokedAt: Date | null;
  /** True if the link asks for a code that is mailed to the recipient. */
  asksCode: boolean;
  /** The closing certificate that is delivered; null for none. */
  certificateSha256: string | null;
};

const columns = sql`d.id, d.room_id AS "roomId", d.recipient_name AS "recipientName",
  d.recipient_email AS "recipientEmail", d.files, d.sent_by AS "sentBy", d.created_at AS "createdAt",
  d.expires_at AS "expiresAt", d.revoked_at AS "revokedAt", d.asks_code AS "asksCode",
  d.certificate_sha256 AS "certificateSha256"`;

export type DeliveryRoom = Owner & { id: string; code: string; name: string; reference: string | null };

const roomColumns = sql`r.id, r.code AS "code@room", r.name, r.reference, r.partner_id AS "partnerId", r.environment`;

/**
 * A room of this owner.
 * @throws ServiceError `unavailable` when the MAC of the room is invalid
 */
export async function roomByCode(db: Sql, roomCode: string, owner: Owner): Promise<DeliveryRoom | undefined> {
  const [room] = await db.query<DeliveryRoom>(sql`
    SELECT ${roomColumns}, ${verifiedRoom} ${fromRooms} WHERE ${isSealed(sql`r.code`, "room", roomCode)}
      AND r.partner_id = ${owner.partnerId} AND r.environment = ${owner.environment}`);
  return room;
}

export async function roomById(db: Sql, id: string): Promise<DeliveryRoom | undefined> {
  const [room] = await db.query<DeliveryRoom>(
    sql`SELECT ${roomColumns}, ${verifiedRoom} ${fromRooms} WHERE r.id = ${id}`,
  );
  return room;
}

export type OrderOfRoom = Owner & {
  id: number;
  code: string;
  status: string;
  sign: boolean;
  notarize: boolean;
  documentName: Buffer | null;
  docSlug: string | null;
  externalReference: string | null;
  documents: StoredOrderDocument[];
  signingAgain: StoredSigningAgain;
  isSimulated: boolean;
  /** True if the sandbox simulated the notarization, so that no notary signed. */
  isNotarySimulated: boolean;
};

const orderColumns = sql`o.id, o.code AS "code@order", o.status, o.sign, o.notarize, o.partner_id AS "partnerId",
  o.environment, o.document_name AS "documentName", o.doc_slug AS "docSlug", o.external_reference AS "externalReference",
  ${documentsOfOrder} AS documents, ${signingAgainOf} AS "signingAgain", ${isSigningSimulated} AS "isSimulated",
  coalesce(${lastActor(sql`o.id`, "NotarizationComplete")} = 'sandbox', false) AS "isNotarySimulated",
  ${verified(orderState, sql`o`)}, ${verifiedEnvelopesOf(sql`o.id`)}`;

/**
 * The orders that the room's own firm placed, in the order of the room's list.
 * @throws ServiceError `unavailable` for an order, an envelope or an envelope's room whose MAC is invalid
 */
export const ordersOfRoom = (db: Sql, roomId: string) =>
  db.query<OrderOfRoom>(sql`
    SELECT ${orderColumns}
    ${fromRooms} ${joinAttachments(sql`r.id`)} ${joinOrder(sql`a.order_id`)} AND o.partner_id = r.partner_id
    WHERE r.id = ${roomId} ORDER BY a.position`);

export const orderByCode = (db: Sql, code: string, { partnerId, environment }: Owner) =>
  db.query<OrderOfRoom>(sql`
    SELECT ${orderColumns} ${fromOrders}
    WHERE ${hasOrderCode(code)} AND o.partner_id = ${partnerId} AND o.environment = ${environment}`);

export async function insertDelivery(tx: Tx, delivery: Omit<Delivery, "revokedAt">): Promise<void> {
  const {
    id,
    roomId,
    recipientName,
    recipientEmail,
    files,
    sentBy,
    createdAt,
    expiresAt,
    asksCode,
    certificateSha256,
  } = delivery;
  await tx.query(sql`
    INSERT INTO closing_deliveries (id, room_id, recipient_name, recipient_email, files, sent_by, created_at, expires_at, asks_code,
      certificate_sha256)
    VALUES (${id}, ${roomId}, ${recipientName}, ${recipientEmail}, ${JSON.stringify(files)}::jsonb, ${sentBy},
      ${createdAt}, ${expiresAt}, ${asksCode}, ${certificateSha256})`);
  await writeStateMacs(tx, deliveryState, sql`id = ${id}`);
  if (!asksCode) return;
  await tx.query(sql`INSERT INTO closing_delivery_codes (delivery_id) VALUES (${id})`);
  await writeStateMacs(tx, codeState, sql`delivery_id = ${id}`);
}

/**
 * A delivery by its id; undefined for an unknown one.
 * @throws ServiceError `unavailable` when the MAC of the delivery is invalid
 */
export async function selectDelivery(db: Sql, id: string): Promise<Delivery | undefined> {
  const [found] = await db.query<Delivery>(sql`
    SELECT ${columns}, ${verifiedDelivery} FROM closing_deliveries d WHERE d.id = ${id}`);
  return found;
}

/** The room's deliveries whose links work. A delivery whose MAC is invalid is left out, because its link is refused. */
export async function openDeliveries(tx: Tx, roomId: string, at: Date): Promise<Delivery[]> {
  const rows = await tx.query<Delivery & Marked>(sql`
    SELECT ${columns}, ${marked(deliveryState, sql`d`)} FROM closing_deliveries d
    WHERE d.room_id = ${roomId} AND d.revoked_at IS NULL AND d.expires_at > ${at} ORDER BY d.id`);
  return rows.filter(({ isAuthentic }) => isAuthentic);
}

/**
 * The number of the room's deliveries since the given time that were not automatic. Ended deliveries count, and so do
 * deliveries that were sent again to a corrected address. A row in `closing_receivers` that names a delivery shows that
 * the delivery was automatic.
 */
export async function countManualSince(tx: Tx, roomId: string, since: Date): Promise<number> {
  const [row] = await tx.query<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM closing_deliveries d WHERE d.room_id = ${roomId} AND d.created_at > ${since}
      AND NOT EXISTS (SELECT FROM closing_receivers r WHERE r.order_id = (d.files->0->>'orderId')::bigint
        AND r.email = d.recipient_email AND r.delivery_id = d.id)`);
  return row?.count ?? 0;
}

/** Locks the room against concurrent deliveries. */
export const lockDeliveries = (tx: Tx, roomId: string) =>
  tx.query(sql`SELECT pg_advisory_xact_lock(7246011, hashtext(${roomId}))`);

export async function revoke(tx: Tx, id: string, roomId: string, at: Date): Promise<boolean> {
  const [found] = await tx.query<{ revokedAt: Date | null }>(sql`
    SELECT d.revoked_at AS "revokedAt", ${verifiedDelivery} FROM closing_deliveries d
    WHERE d.id = ${id} AND d.room_id = ${roomId} FOR NO KEY UPDATE`);
  if (!found || found.revokedAt) return false;
  await tx.query(sql`UPDATE closing_deliveries SET revoked_at = ${at} WHERE id = ${id}`);
  await writeStateMacs(tx, deliveryState, sql`id = ${id}`);
  return true;
}

/**
 * One recorded use of a delivery's link. For a download, `file` identifies the file; null means the zip of all files.
 */
export type DeliveryUse = {
  kind: "download" | "code_entered" | "locked";
  at: Date;
  file: string | null;
  network: string | null;
};

/**
 * Records that a download began. The same file is recorded for the same network at most once an hour.
 * @returns whether it is the first download of the delivery
 */
export async function insertDownload(tx: Tx, id: string, download: Omit<DeliveryUse, "kind">): Promise<boolean> {
  // Locks the delivery, so that only one of several concurrent downloads is recorded as the first.
  await tx.query(sql`SELECT FROM closing_deliveries WHERE id = ${id} FOR NO KEY UPDATE`);
  const first = await firstDownload(tx, id);
  await writeUse(tx, id, { kind: "download", ...download });
  return first === undefined;
}

/** The time when the first download began; undefined before it. Leaves out uses whose MAC is invalid. */
export async function firstDownload(db: Sql, id: string): Promise<Date | undefined> {
  const uses = await db.query<{ at: Date } & Marked>(sql`
    SELECT u.at, ${marked(useState, sql`u`)} FROM closing_delivery_uses u
    WHERE u.delivery_id = ${id} AND u.kind = 'download' ORDER BY u.id LIMIT 100`);
  return uses.find(({ isAuthentic }) => isAuthentic)?.at;
}

export async function writeUse(tx: Tx, id: string, { kind, at, file, network }: DeliveryUse): Promise<void> {
  const [row] = await tx.query<{ id: number }>(sql`
    INSERT INTO closing_delivery_uses (delivery_id, at, file, network, kind) SELECT ${id}, ${at}, ${file}, ${network}, ${kind}
    WHERE ${kind} <> 'download' OR NOT EXISTS (
      SELECT FROM closing_delivery_uses WHERE delivery_id = ${id} AND kind = 'download' AND at > ${new Date(at.getTime() - hourMs)}
        AND file IS NOT DISTINCT FROM ${file} AND network IS NOT DISTINCT FROM ${network})
    RETURNING id`);
  if (row) await writeStateMacs(tx, useState, sql`id = ${row.id}`);
}

const shownUses = 20;

type ListedDelivery = Pick<
  Delivery,
  "id" | "recipientName" | "recipientEmail" | "createdAt" | "expiresAt" | "revokedAt"
> & {
  /** The number of orders whose documents are delivered. */
  documents: number;
  hasCertificate: boolean;
};

/**
 * The room's latest 100 deliveries, newest first, each with its latest 20 uses. Leaves out uses whose MAC is invalid.
 */
export async function listDeliveries(db: Sql, roomId: string): Promise<(ListedDelivery & { uses: DeliveryUse[] })[]> {
  // The inner LIMIT makes PostgreSQL compute the MAC's digest once for each delivery, and not again for each of its
  // uses.
  const rows = await db.query<ListedDelivery & Marked & (DeliveryUse | { kind: null })>(sql`
    SELECT sent.*, u.kind, u.at, u.file, u.network, ${marked(useState, sql`u`)}
    FROM (
      SELECT d.id, d.recipient_name AS "recipientName", d.recipient_email AS "recipientEmail",
        d.created_at AS "createdAt", d.expires_at AS "expiresAt", d.revoked_at AS "revokedAt",
        (SELECT count(DISTINCT file->'orderId') FROM jsonb_array_elements(d.files) AS file) AS documents,
        d.certificate_sha256 IS NOT NULL AS "hasCertificate",
        ${verifiedDelivery}
      FROM closing_deliveries d WHERE d.room_id = ${roomId} ORDER BY d.created_at DESC, d.id LIMIT 100
    ) sent LEFT JOIN LATERAL (
      SELECT * FROM closing_delivery_uses WHERE delivery_id = sent.id ORDER BY id DESC LIMIT ${shownUses}
    ) u ON true ORDER BY sent."createdAt" DESC, sent.id, u.id DESC`);
  return [...Map.groupBy(rows, ({ id }) => id).values()].flatMap((own) => {
    const [delivery] = own;
    const uses = own.filter((row): row is typeof row & DeliveryUse => row.kind !== null && row.isAuthentic);
    return delivery ? [{ ...delivery, uses }] : [];
  });
}

/**
 * Finds orders by id, in the order of the given list.
 * @throws ServiceError `unavailable` for an order, an envelope or an envelope's room whose MAC is invalid
 */
export async function ordersById(db: Sql, ids: readonly number[], partnerId: string): Promise<OrderOfRoom[]> {
  const orders = await db.query<OrderOfRoom>(sql`
    SELECT ${orderColumns} ${fromOrders}
    WHERE o.id = ANY (${ids}::bigint[]) AND o.partner_id = ${partnerId}`);
  return ids.flatMap((id) => orders.find((order) => order.id === id) ?? []);
}

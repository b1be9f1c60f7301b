import type { Owner } from "../../../kernel/identity/identity.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { isSealed, type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { type Marked, marked } from "../../../kernel/platform/database/state-mac.ts";
import { authentic, roomState, verifiedRoom, writeRoomMac } from "../store.ts";

/** A participant to whom a room's link is mailed. */
export type Invited = Owner & { name: string; email: string; roomCode: string; roomName: string };

export type ParticipantRow = { participantId: string; name: string; email: string; role: string; createdAt: Date };

/** The present participants in the order they were added; undefined when the owner has no such room. */
export async function selectParticipants(
  db: Sql,
  roomCode: string,
  { partnerId, environment }: Owner,
): Promise<ParticipantRow[] | undefined> {
  const rows = await db.query<ParticipantRow | { participantId: null }>(
    sql`SELECT p.id AS "participantId", p.name, p.email, p.role, p.created_at AS "createdAt", ${verifiedRoom}
     FROM rooms r LEFT JOIN room_participants p ON p.room_id = r.id AND p.removed_at IS NULL
     WHERE ${isSealed(sql`r.code`, "room", roomCode)} AND r.partner_id = ${partnerId} AND r.environment = ${environment}
     ORDER BY p.created_at, p.id`,
  );
  if (rows.length === 0) return undefined;
  return rows.filter((row): row is ParticipantRow => row.participantId !== null);
}

/** `total`: the number of participants who were not removed. `presentId`: the id of the one with this email address. */
export async function countParticipants(
  tx: Tx,
  roomId: string,
  email: string,
): Promise<{ total: number; presentId: string | null }> {
  const [row] = await tx.query<{ total: number; presentId: string | null }>(
    sql`SELECT count(*) AS total, (array_agg(id) FILTER (WHERE email = ${email}))[1] AS "presentId"
     FROM room_participants WHERE room_id = ${roomId} AND removed_at IS NULL`,
  );
  return row ?? { total: 0, presentId: null };
}

/**
 * The number of people who were mailed the room's link since the given time, and whether this address was among them.
 */
export async function countInvited(
  tx: Tx,
  roomId: string,
  email: string,
  since: Date,
): Promise<{ total: number; again: boolean }> {
  const [row] = await tx.query<{ total: number; again: boolean }>(
    sql`SELECT count(*) AS total, coalesce(bool_or(email = ${email}), false) AS again
     FROM room_participants WHERE room_id = ${roomId} AND invited_at > ${since}`,
  );
  return row ?? { total: 0, again: false };
}

export async function markInvited(tx: Tx, roomId: string, participantId: string, at: Date): Promise<void> {
  await tx.query(sql`UPDATE room_participants SET invited_at = ${at} WHERE id = ${participantId}`);
  await writeRoomMac(tx, roomId);
}

/**
 * A present participant, together with the room. Undefined if nobody present has this id, and when the MAC of the room
 * is invalid.
 */
export async function selectInvited(db: Sql, participantId: string): Promise<Invited | undefined> {
  const found = await db.query<Invited & Marked>(
    sql`SELECT p.name, p.email, r.code AS "roomCode@room", r.name AS "roomName", r.partner_id AS "partnerId", r.environment,
       ${marked(roomState, sql`r`)}
     FROM room_participants p JOIN rooms r ON r.id = p.room_id WHERE p.id = ${participantId} AND p.removed_at IS NULL`,
  );
  return authentic(found)[0];
}

export async function insertParticipant(tx: Tx, roomId: string, participant: ParticipantRow): Promise<void> {
  await tx.query(
    sql`INSERT INTO room_participants (id, room_id, name, email, role, created_at)
     VALUES (${participant.participantId}, ${roomId}, ${participant.name}, ${participant.email}, ${participant.role},
       ${participant.createdAt})`,
  );
  await writeRoomMac(tx, roomId);
}

/**
 * Marks a participant as removed.
 * @returns false when no present participant of the room has this id
 */
export async function markRemoved(tx: Tx, roomId: string, participantId: string, at: Date): Promise<boolean> {
  const rows = await tx.query(
    sql`UPDATE room_participants SET removed_at = ${at}
     WHERE id = ${participantId} AND room_id = ${roomId} AND removed_at IS NULL RETURNING 1`,
  );
  if (rows.length === 1) await writeRoomMac(tx, roomId);
  return rows.length === 1;
}

const roomsOf = (orderIds: readonly number[]): Statement => sql`
  FROM rooms r WHERE EXISTS (
    SELECT FROM room_orders a JOIN orders o ON o.id = a.order_id
    WHERE a.room_id = r.id AND o.id = ANY (${orderIds}::bigint[]) AND o.partner_id = r.partner_id
      AND o.environment = r.environment)
  ORDER BY r.id`;

/** The ids of the rooms of the orders' own firm that contain the orders. */
export const roomIdsOf = async (db: Sql, orderIds: readonly number[]): Promise<string[]> =>
  (await db.query<{ id: string }>(sql`SELECT r.id ${roomsOf(orderIds)}`)).map(({ id }) => id);

/** Locks the rooms of the orders' own firm that contain the orders. The caller must have locked the orders. */
export const lockRoomsOf = (tx: Tx, orderIds: readonly number[]) =>
  tx.query<{ id: string; partnerId: string }>(sql`
    SELECT r.id, r.partner_id AS "partnerId", ${verifiedRoom} ${roomsOf(orderIds)} FOR NO KEY UPDATE`);

/**
 * Replaces the email address of a present participant, and notes that the room's link was not mailed to the new address
 * yet. Changes nothing if another participant of the room already has the new address.
 * @param move `from` and `to` are in lowercase; `name` is null for any name
 * @returns undefined when no participant was changed
 */
export async function changeAddress(
  tx: Tx,
  roomId: string,
  { from, to, name }: { from: string; to: string; name: string | null },
): Promise<{ participantId: string; wasInvited: boolean } | undefined> {
  const present = sql`FROM room_participants WHERE room_id = ${roomId} AND removed_at IS NULL`;
  const [moved] = await tx.query<{ participantId: string; wasInvited: boolean }>(sql`
    UPDATE room_participants p SET email = ${to}, invited_at = NULL FROM (
      SELECT id, invited_at ${present} AND lower(email) = ${from}
        AND (${name}::text IS NULL OR lower(normalize(trim(name), NFC)) IN (lower(normalize(trim(${name}::text), NFC)), ${from}))
      ORDER BY created_at LIMIT 1) AS earlier
    WHERE p.id = earlier.id AND NOT EXISTS (SELECT ${present} AND lower(email) = ${to})
    RETURNING p.id AS "participantId", earlier.invited_at IS NOT NULL AS "wasInvited"`);
  if (moved) await writeRoomMac(tx, roomId);
  return moved;
}

import { linesOfOrders } from "../../../kernel/audit/audit.ts";
import type { Owner } from "../../../kernel/identity/identity.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { isSealed, type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { type Marked, marked } from "../../../kernel/platform/database/state-mac.ts";
import { joinOrder } from "../../../orders/order/order.ts";
import { authentic, roomState, verifiedRoom, writeRoomMac } from "../store.ts";

/** The role of participants who sign documents of the closing. */
export const signerRole = "signer";

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
 * The number of email addresses to which the room's link was mailed since the given time. Counts addresses of removed
 * participants, and addresses that were corrected since. `lastAt`: when the link was last mailed to `email` since then;
 * null if it was not.
 */
export async function countInvited(
  tx: Tx,
  roomId: string,
  email: string,
  since: Date,
): Promise<{ total: number; lastAt: Date | null }> {
  const [row] = await tx.query<{ total: number; lastAt: Date | null }>(
    sql`SELECT count(DISTINCT email) AS total, max(at) FILTER (WHERE email = ${email}) AS "lastAt" FROM (
       SELECT email, invited_at AS at FROM room_participants WHERE room_id = ${roomId}
       UNION ALL SELECT one->>'email', (one->>'at')::timestamptz
       FROM room_participants, jsonb_array_elements(earlier_invitations) one WHERE room_id = ${roomId}) AS mailed
     WHERE at > ${since}`,
  );
  return row ?? { total: 0, lastAt: null };
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

/** Selects rooms: those of the orders' firm that contain one of the orders, and the room `roomId` unless it is null. */
type RoomsOf = { orderIds: readonly number[]; roomId: string | null };

const roomsOf = ({ orderIds, roomId }: RoomsOf): Statement => sql`
  FROM rooms r WHERE r.id = ${roomId}::uuid OR EXISTS (
    SELECT FROM room_orders a JOIN orders o ON o.id = a.order_id
    WHERE a.room_id = r.id AND o.id = ANY (${orderIds}::bigint[]) AND o.partner_id = r.partner_id
      AND o.environment = r.environment)
  ORDER BY r.id`;

/** The ids of the rooms that `of` selects. */
export const roomIdsOf = async (db: Sql, of: RoomsOf): Promise<string[]> =>
  (await db.query<{ id: string }>(sql`SELECT r.id ${roomsOf(of)}`)).map(({ id }) => id);

/** Locks the rooms that `of` selects. The caller must have locked the orders. */
export const lockRoomsOf = (tx: Tx, of: RoomsOf) =>
  tx.query<{ id: string; partnerId: string }>(sql`
    SELECT r.id, r.partner_id AS "partnerId", ${verifiedRoom} ${roomsOf(of)} FOR NO KEY UPDATE`);

/**
 * The rooms from which one of the orders was detached. Leaves out rooms of other firms. Also leaves out rooms with an
 * invalid MAC, because their links don't work.
 */
export const roomsLeftBy = async (db: Sql, orderIds: readonly number[]) =>
  authentic(
    await db.query<{ id: string; partnerId: string } & Marked>(sql`
      SELECT r.id, r.partner_id AS "partnerId", ${marked(roomState, sql`r`)} FROM rooms r
      WHERE r.id IN (
        SELECT l.room_id FROM ${linesOfOrders(orderIds, "room.order_detached")} l JOIN orders o ON o.id = l.order_id
        WHERE l.partner_id = o.partner_id)`),
  );

/** An earlier email address of a participant, to which the room's link was mailed before the address was corrected. */
type EarlierInvitation = { email: string; at: string };

/** The fields of a present participant that a correction of the email address needs. */
type PresentParticipant = {
  participantId: string;
  name: string;
  email: string;
  invitedAt: Date | null;
  earlier: readonly EarlierInvitation[];
};

/** The present participants of a locked room. */
export const presentParticipants = (tx: Tx, roomId: string) =>
  tx.query<PresentParticipant>(sql`
    SELECT id AS "participantId", name, email, invited_at AS "invitedAt", earlier_invitations AS earlier
    FROM room_participants WHERE room_id = ${roomId} AND removed_at IS NULL ORDER BY created_at, id`);

/**
 * Finds, in a locked room, the id of the present participant who is listed as a signer with this address. Null if
 * nobody is listed so, or if an order in the room still has that person as a signer or its client. Signers of orders
 * are also recognized by name, because an address can be corrected after its owner signed.
 * @param by.next the address of the new signer, who may have the same name
 */
export async function signerWithoutOrder(
  tx: Tx,
  roomId: string,
  { email, next }: { email: string; next: string },
): Promise<string | null> {
  const [found] = await tx.query<{ id: string }>(sql`
    SELECT p.id FROM room_participants p
    WHERE p.room_id = ${roomId} AND p.removed_at IS NULL AND p.role = ${signerRole} AND p.email = ${email.toLowerCase()}
      AND NOT EXISTS (
        SELECT FROM room_orders a ${joinOrder(sql`a.order_id`)} WHERE a.room_id = p.room_id AND (
          lower(o.customer_email) = p.email OR EXISTS (
            SELECT FROM jsonb_array_elements(o.signers) s
            WHERE lower(s ->> 'email') = p.email
              OR lower(s ->> 'name') = lower(p.name) AND lower(s ->> 'email') <> ${next.toLowerCase()})))`);
  return found?.id ?? null;
}

/**
 * Replaces a participant's email address.
 * @param changed.invitedAt when the room's link was last mailed to the new address; null if it was not
 * @param changed.earlier the earlier addresses that count toward the room's daily limit of invitations
 */
export async function changeAddress(
  tx: Tx,
  roomId: string,
  { participantId, email, invitedAt, earlier }: Omit<PresentParticipant, "name">,
): Promise<void> {
  await tx.query(sql`
    UPDATE room_participants SET email = ${email}, invited_at = ${invitedAt}, earlier_invitations = ${JSON.stringify(earlier)}::jsonb
    WHERE id = ${participantId}`);
  await writeRoomMac(tx, roomId);
}

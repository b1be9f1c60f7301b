import type { Sql, Tx } from "../../platform/database/database.ts";
import { sql } from "../../platform/database/sql.ts";
import type { Owner } from "../store.ts";

export type ParticipantRow = { participantId: string; name: string; email: string; role: string; createdAt: Date };

/** Those present, in the order in which they came; undefined when the owner has no such room. */
export async function selectParticipants(
  db: Sql,
  roomCode: string,
  { partnerId, environment }: Owner,
): Promise<ParticipantRow[] | undefined> {
  const rows = await db.query<ParticipantRow | { participantId: null }>(
    sql`SELECT p.id AS "participantId", p.name, p.email, p.role, p.created_at AS "createdAt"
     FROM rooms r LEFT JOIN room_participants p ON p.room_id = r.id AND p.removed_at IS NULL
     WHERE r.code = ${roomCode} AND r.partner_id = ${partnerId} AND r.environment = ${environment}
     ORDER BY p.created_at, p.id`,
  );
  if (rows.length === 0) return undefined;
  return rows.filter((row): row is ParticipantRow => row.participantId !== null);
}

/** How many are present, and whether one of them has this email. */
export async function countParticipants(
  tx: Tx,
  roomId: string,
  email: string,
): Promise<{ total: number; present: boolean }> {
  const [row] = await tx.query<{ total: number; present: boolean }>(
    sql`SELECT count(*) AS total, coalesce(bool_or(email = ${email}), false) AS present
     FROM room_participants WHERE room_id = ${roomId} AND removed_at IS NULL`,
  );
  return row ?? { total: 0, present: false };
}

export const insertParticipant = (tx: Tx, roomId: string, participant: ParticipantRow) =>
  tx.query(
    sql`INSERT INTO room_participants (id, room_id, name, email, role, created_at)
     VALUES (${participant.participantId}, ${roomId}, ${participant.name}, ${participant.email}, ${participant.role},
       ${participant.createdAt})`,
  );

/** @returns false when nobody of this id is present in the room. */
export async function markRemoved(tx: Tx, roomId: string, participantId: string, at: Date): Promise<boolean> {
  const rows = await tx.query(
    sql`UPDATE room_participants SET removed_at = ${at}
     WHERE id = ${participantId} AND room_id = ${roomId} AND removed_at IS NULL RETURNING 1`,
  );
  return rows.length === 1;
}

import type { Owner } from "../../identity/identity.ts";
import type { Sql, Tx } from "../../platform/database.ts";

export type Participant = { participantId: string; name: string; email: string; role: string; createdAt: Date };

/** Those present, in the order in which they came; undefined when the owner has no such room. */
export async function selectParticipants(sql: Sql, roomCode: string, owner: Owner): Promise<Participant[] | undefined> {
  const rows = await sql.rows<Participant | { participantId: null }>(
    `SELECT p.id AS "participantId", p.name, p.email, p.role, p.created_at AS "createdAt"
     FROM rooms r LEFT JOIN room_participants p ON p.room_id = r.id AND p.removed_at IS NULL
     WHERE r.code = $1 AND r.partner_id = $2 AND r.environment = $3 ORDER BY p.created_at, p.id`,
    [roomCode, owner.partnerId, owner.environment],
  );
  if (rows.length === 0) return undefined;
  return rows.filter((row): row is Participant => row.participantId !== null);
}

/** How many are present, and whether one of them has this email. */
export async function countParticipants(
  tx: Tx,
  roomId: string,
  email: string,
): Promise<{ total: number; present: boolean }> {
  const [row] = await tx.rows<{ total: number; present: boolean }>(
    `SELECT count(*) AS total, coalesce(bool_or(email = $2), false) AS present
     FROM room_participants WHERE room_id = $1 AND removed_at IS NULL`,
    [roomId, email],
  );
  return row ?? { total: 0, present: false };
}

export const insertParticipant = (tx: Tx, roomId: string, participant: Participant) =>
  tx.rows(
    "INSERT INTO room_participants (id, room_id, name, email, role, created_at) VALUES ($1, $2, $3, $4, $5, $6)",
    [participant.participantId, roomId, participant.name, participant.email, participant.role, participant.createdAt],
  );

/** @returns false when nobody of this id is present in the room. */
export async function markRemoved(tx: Tx, roomId: string, participantId: string, at: Date): Promise<boolean> {
  const rows = await tx.rows(
    "UPDATE room_participants SET removed_at = $3 WHERE id = $2 AND room_id = $1 AND removed_at IS NULL RETURNING 1",
    [roomId, participantId, at],
  );
  return rows.length === 1;
}

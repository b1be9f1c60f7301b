import type { Role } from "../identity/identity.ts";
import type { Sql, Tx } from "../platform/database.ts";

export type Member = { userId: string; email: string; role: Role; linkedAt: Date; keyId: string | null };

const columns = `m.user_id AS "userId", u.email, m.role, m.linked_at AS "linkedAt", m.key_id AS "keyId"`;

/** Owners first, then by the time they were linked. */
export const selectMembers = (sql: Sql, partnerId: string) =>
  sql.rows<Member>(
    `SELECT ${columns} FROM members m JOIN users u ON u.id = m.user_id WHERE m.partner_id = $1
     ORDER BY m.role DESC, m.linked_at, m.user_id LIMIT 1000`,
    [partnerId],
  );

/** Until the transaction ends nobody else changes who belongs to the firm. */
export const lockMembers = (tx: Tx, partnerId: string) =>
  tx.rows("SELECT FROM partners WHERE id = $1 FOR NO KEY UPDATE", [partnerId]);

export async function findMembership(sql: Sql, userId: string) {
  const [found] = await sql.rows<{ partnerId: string; role: Role }>(
    `SELECT partner_id AS "partnerId", role FROM members WHERE user_id = $1`,
    [userId],
  );
  return found;
}

/** @returns whether it was made: a person who is linked already stays where they are. */
export async function insertMember(
  tx: Tx,
  member: { userId: string; partnerId: string; role: Role; keyId: string | null; at: Date },
): Promise<boolean> {
  const inserted = await tx.rows(
    `INSERT INTO members (user_id, partner_id, role, key_id, linked_at) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (user_id) DO NOTHING RETURNING user_id`,
    [member.userId, member.partnerId, member.role, member.keyId, member.at],
  );
  return inserted.length === 1;
}

export async function countMembers(sql: Sql, partnerId: string): Promise<{ members: number; owners: number }> {
  const [row] = await sql.rows<{ members: number; owners: number }>(
    "SELECT count(*) AS members, count(*) FILTER (WHERE role = 'owner') AS owners FROM members WHERE partner_id = $1",
    [partnerId],
  );
  return row ?? { members: 0, owners: 0 };
}

export const updateRole = (tx: Tx, userId: string, role: Role) =>
  tx.rows("UPDATE members SET role = $2 WHERE user_id = $1", [userId, role]);

export const deleteMember = (tx: Tx, userId: string) => tx.rows("DELETE FROM members WHERE user_id = $1", [userId]);

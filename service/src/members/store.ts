import type { Role } from "../identity/identity.ts";
import type { Sql, Tx } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";

export type Member = {
  userId: string;
  email: string;
  role: Role;
  liveAccess: boolean;
  linkedAt: Date;
  /** The key that linked the person, and the live key that gave live access; null where none did. */
  keyId: string | null;
  liveKeyId: string | null;
};

/** Owners first, then by the time they were linked. */
export const selectMembers = (db: Sql, partnerId: string) =>
  db.query<Member>(
    sql`SELECT m.user_id AS "userId", u.email, m.role, m.live_access AS "liveAccess", m.linked_at AS "linkedAt",
       m.key_id AS "keyId", m.live_key_id AS "liveKeyId"
     FROM members m JOIN users u ON u.id = m.user_id WHERE m.partner_id = ${partnerId}
     ORDER BY m.role DESC, m.linked_at, m.user_id LIMIT 1000`,
  );

/** Until the transaction ends nobody else changes who belongs to the firm. */
export const lockMembers = (tx: Tx, partnerId: string) =>
  tx.query(sql`SELECT FROM partners WHERE id = ${partnerId} FOR NO KEY UPDATE`);

/** Whether the firm asks for a passkey before what is live is changed. */
export async function asksForPasskeys(tx: Tx, partnerId: string): Promise<boolean> {
  return (await tx.query(sql`SELECT FROM partners WHERE id = ${partnerId} AND passkey_for_live`)).length === 1;
}

export type Membership = { partnerId: string; role: Role; liveAccess: boolean };

export async function findMembership(db: Sql, userId: string): Promise<Membership | undefined> {
  const [found] = await db.query<Membership>(
    sql`SELECT partner_id AS "partnerId", role, live_access AS "liveAccess" FROM members WHERE user_id = ${userId}`,
  );
  return found;
}

/** Whether a key still opens its firm: it may have been revoked, or have expired, since the request began. */
export async function keyIsActive(tx: Tx, keyId: string, now: Date): Promise<boolean> {
  const active = sql`SELECT FROM partner_keys
    WHERE id = ${keyId} AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${now})`;
  return (await tx.query(active)).length === 1;
}

export type NewMember = { userId: string; partnerId: string; role: Role; keyId: string | null; at: Date };

/** The person is in test alone until `updateLiveAccess`. @returns false when the person is linked already, to whichever firm. */
export async function insertMember(tx: Tx, { userId, partnerId, role, keyId, at }: NewMember): Promise<boolean> {
  const inserted = await tx.query(
    sql`INSERT INTO members (user_id, partner_id, role, key_id, linked_at)
     VALUES (${userId}, ${partnerId}, ${role}, ${keyId}, ${at}) ON CONFLICT (user_id) DO NOTHING RETURNING user_id`,
  );
  return inserted.length === 1;
}

export async function countMembers(db: Sql, partnerId: string): Promise<{ members: number; owners: number }> {
  const [row] = await db.query<{ members: number; owners: number }>(
    sql`SELECT count(*) AS members, count(*) FILTER (WHERE role = 'owner') AS owners
     FROM members WHERE partner_id = ${partnerId}`,
  );
  return row ?? { members: 0, owners: 0 };
}

export const updateRole = (tx: Tx, userId: string, role: Role) =>
  tx.query(sql`UPDATE members SET role = ${role} WHERE user_id = ${userId}`);

/** @param keyId the live key that was shown; null where an owner or the operator decides. */
export const updateLiveAccess = (tx: Tx, userId: string, liveAccess: boolean, keyId: string | null) =>
  tx.query(sql`UPDATE members SET live_access = ${liveAccess}, live_key_id = ${keyId} WHERE user_id = ${userId}`);

export const deleteMember = (tx: Tx, userId: string) => tx.query(sql`DELETE FROM members WHERE user_id = ${userId}`);

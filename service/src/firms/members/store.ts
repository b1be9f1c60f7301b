import type { Role } from "../identity/identity.ts";
import type { Sql, Tx } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";
import { newUuid } from "../platform/ids.ts";
import { isRevoked, revocationRow } from "../platform/revocations.ts";
import type { Members, RowMac } from "../platform/row-mac.ts";

export const memberTable = "members";

/** The fields of a membership that its MAC covers; the address is that of its person. */
export type MemberFacts = {
  userId: string;
  email: string;
  partnerId: string;
  role: Role;
  liveAccess: boolean;
  /** Another one after each change. */
  version: string;
};

export const memberMembers = ({ userId, email, partnerId, role, liveAccess, version }: MemberFacts): Members => ({
  userId,
  partnerId,
  email,
  role,
  liveAccess,
  version,
});

/** Columns of the member `m` and the person `u` of a statement. */
export const memberColumns = sql`m.user_id AS "userId", u.email, m.partner_id AS "partnerId", m.role,
  m.live_access AS "liveAccess", m.version, m.row_mac AS mac`;

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

/** The membership of a person; undefined without one, and for one whose row does not hold. */
export async function findMembership(
  db: Sql,
  rowMac: RowMac,
  userId: string,
  now: Date,
): Promise<MemberFacts | undefined> {
  const [found] = await db.query<MemberFacts & { mac: Buffer | null }>(
    sql`SELECT ${memberColumns} FROM members m JOIN users u ON u.id = m.user_id
     WHERE m.user_id = ${userId} AND NOT ${isRevoked(now, sql`m.version::text`)}`,
  );
  return found && rowMac.holds(memberTable, memberMembers(found), found.mac) ? found : undefined;
}

/** Whether a key still opens its firm: it may have been revoked, or have expired, since the request began. */
export async function keyIsActive(tx: Tx, keyId: string, now: Date): Promise<boolean> {
  const active = sql`SELECT FROM partner_keys
    WHERE id = ${keyId} AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${now})`;
  return (await tx.query(active)).length === 1;
}

export type NewMember = {
  userId: string;
  email: string;
  partnerId: string;
  role: Role;
  keyId: string | null;
  at: Date;
};

/** The person is in test alone until `updateMember`. @returns false when the person is linked already, to whichever firm. */
export async function insertMember(tx: Tx, rowMac: RowMac, { keyId, at, ...member }: NewMember): Promise<boolean> {
  const facts = { ...member, liveAccess: false, version: newUuid() };
  const { userId, partnerId, role, version } = facts;
  const inserted = await tx.query(
    sql`INSERT INTO members (user_id, partner_id, role, key_id, linked_at, version, row_mac)
     VALUES (${userId}, ${partnerId}, ${role}, ${keyId}, ${at}, ${version},
       ${rowMac.of(memberTable, memberMembers(facts))}) ON CONFLICT (user_id) DO NOTHING RETURNING user_id`,
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

/** `liveKeyId`: the live key that was shown; null where an owner or the operator decides. */
export type MemberChange = { role?: Role; live?: { access: boolean; liveKeyId: string | null } };

/** Changes a membership, under the lock of its firm; the row of before opens nothing when it is put back. */
export async function updateMember(
  tx: Tx,
  rowMac: RowMac,
  before: MemberFacts,
  { role = before.role, live }: MemberChange,
  at: Date,
): Promise<void> {
  const facts = { ...before, role, liveAccess: live?.access ?? before.liveAccess, version: newUuid() };
  const mac = rowMac.of(memberTable, memberMembers(facts));
  const liveKey = live ? sql`${live.liveKeyId}` : sql`live_key_id`;
  await tx.query(sql`
    WITH revoked AS (${revocationRow("member", before.version, at)})
    UPDATE members SET role = ${role}, live_access = ${facts.liveAccess}, live_key_id = ${liveKey},
      version = ${facts.version}, row_mac = ${mac} WHERE user_id = ${facts.userId}`);
}

export const deleteMember = (tx: Tx, userId: string, at: Date) =>
  tx.query(sql`
    WITH deleted AS (DELETE FROM members WHERE user_id = ${userId} RETURNING version)
    ${revocationRow("member", sql`version`, at, sql`deleted`)}`);

import type { Owner, Role } from "../../kernel/identity/identity.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import type { Sql, Tx } from "../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { newUuid } from "../../kernel/platform/ids.ts";
import type { MailFirm } from "../../kernel/platform/mail/template.ts";
import { isRevoked, revocationRow } from "../../kernel/platform/revocations.ts";
import type { Members, RowMac } from "../../kernel/platform/row-mac.ts";
import { isUuid } from "../../kernel/platform/text.ts";
import { fromFirms, fromKeys, joinFirm, readMailFirm, verifiedFirm } from "../partners/partners.ts";

export const memberTable = "members";

/** Fields of a membership that its MAC covers, with the person's email address. */
export type MemberFacts = {
  userId: string;
  email: string;
  partnerId: string;
  role: Role;
  liveAccess: boolean;
  seesBilling: boolean;
  /** Changes with every update, so that a restored earlier row is recognized. */
  version: string;
};

export const memberMembers = ({ seesBilling, ...facts }: MemberFacts): Members => {
  const { userId, email, partnerId, role, liveAccess, version } = facts;
  // The MAC covers the right to see billing only if it is granted. So MACs that were written before this right existed
  // stay valid.
  return { userId, partnerId, email, role, liveAccess, version, ...(seesBilling && { seesBilling }) };
};

export const memberColumns = sql`m.user_id AS "userId", u.email, m.partner_id AS "partnerId", m.role,
  m.live_access AS "liveAccess", m.sees_billing AS "seesBilling", m.version, m.row_mac AS mac`;

export type Member = {
  userId: string;
  email: string;
  role: Role;
  liveAccess: boolean;
  /**
   * True if an owner has granted the member the right to see billing. An owner sees billing even when this is false.
   */
  seesBilling: boolean;
  linkedAt: Date;
  /**
   * `keyId`: the key by which the person was linked to the firm. `liveKeyId`: the live key that granted live access.
   * Each is null without such a key.
   */
  keyId: string | null;
  liveKeyId: string | null;
};

/** Selects a firm's members: owners first, then by the time when they were linked. */
export const selectMembers = (db: Sql, partnerId: string) =>
  db.query<Member>(
    sql`SELECT m.user_id AS "userId", u.email, m.role, m.live_access AS "liveAccess",
       m.sees_billing AS "seesBilling", m.linked_at AS "linkedAt",
       m.key_id AS "keyId", m.live_key_id AS "liveKeyId"
     FROM members m JOIN users u ON u.id = m.user_id WHERE m.partner_id = ${partnerId}
     ORDER BY m.role DESC, m.linked_at, m.user_id LIMIT 1000`,
  );

/** SQL expression: the email address of a person; null for nobody. */
export const emailOf = (userId: Statement): Statement => sql`(SELECT u.email FROM users u WHERE u.id = ${userId})`;

/** SQL fragments with which other features read people (alias `u`) and members (alias `m`). */
export const joinUser = (id: Statement): Statement => sql`JOIN users u ON u.id = ${id}`;

export const fromMembers: Statement = sql`FROM members m`;

export const joinMembers = (partnerId: Statement): Statement => sql`JOIN members m ON m.partner_id = ${partnerId}`;

/** Serializes, until the transaction ends, changes to the firm's members. */
export const lockMembers = (tx: Tx, partnerId: string) =>
  tx.query(sql`SELECT ${fromFirms} WHERE p.id = ${partnerId} FOR NO KEY UPDATE`);

/** True if the firm requires a passkey for changes to live data. */
export async function asksForPasskeys(tx: Tx, partnerId: string): Promise<boolean> {
  const [firm] = await tx.query<{ asks: boolean }>(sql`
    SELECT p.passkey_for_live AS asks, ${verifiedFirm} ${fromFirms} WHERE p.id = ${partnerId}`);
  return firm?.asks === true;
}

export type Membership = { partnerId: string; role: Role; liveAccess: boolean };

/** The membership of a person; undefined without one, and for one whose MAC is invalid. */
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

export type NewMember = {
  userId: string;
  email: string;
  partnerId: string;
  role: Role;
  keyId: string | null;
  at: Date;
};

/** Adds a member with test access only. @returns false when the person already belongs to a firm */
export async function insertMember(tx: Tx, rowMac: RowMac, { keyId, at, ...member }: NewMember): Promise<boolean> {
  const facts = { ...member, liveAccess: false, seesBilling: false, version: newUuid() };
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

/** `liveKeyId`: the live key that granted access; null when an owner or the operator gave it. */
export type MemberChange = {
  role?: Role;
  live?: { access: boolean; liveKeyId: string | null };
  seesBilling?: boolean;
};

/**
 * Changes a membership; the caller must have locked its firm. An attacker who restores the earlier row gains nothing,
 * because the version of that row is revoked.
 */
export async function updateMember(
  tx: Tx,
  rowMac: RowMac,
  before: MemberFacts,
  { role = before.role, live, seesBilling = before.seesBilling }: MemberChange,
  at: Date,
): Promise<void> {
  const liveAccess = live?.access ?? before.liveAccess;
  const facts = { ...before, role, liveAccess, seesBilling, version: newUuid() };
  const mac = rowMac.of(memberTable, memberMembers(facts));
  const liveKey = live ? sql`${live.liveKeyId}` : sql`live_key_id`;
  await tx.query(sql`
    WITH revoked AS (${revocationRow("member", before.version, at)})
    UPDATE members SET role = ${role}, live_access = ${liveAccess}, live_key_id = ${liveKey},
      sees_billing = ${seesBilling}, version = ${facts.version}, row_mac = ${mac} WHERE user_id = ${facts.userId}`);
}

export const deleteMember = (tx: Tx, userId: string, at: Date) =>
  tx.query(sql`
    WITH deleted AS (DELETE FROM members WHERE user_id = ${userId} RETURNING version)
    ${revocationRow("member", sql`version`, at, sql`deleted`)}`);

const idsOf = (kind: string, actors: readonly string[]): string[] => [
  ...new Set(actors.filter((actor) => actor.startsWith(`${kind}:`)).map((actor) => actor.slice(kind.length + 1))),
];

/** Names of a firm's actors in the audit log: a present member's email, a key's name. Former members have no entry. */
export async function namesOfFirmActors(
  db: Sql,
  partnerId: string,
  actors: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const [users, keys] = [idsOf("member", actors).filter(isUuid), idsOf("key", actors).filter(isUuid)];
  if (users.length + keys.length === 0) return new Map();
  const rows = await db.query<{ actor: string; name: string }>(sql`
SELECT 'member:' || u.id AS actor, u.email AS name
FROM users u JOIN members m ON m.user_id = u.id WHERE m.partner_id = ${partnerId} AND u.id = ANY (${users}::uuid[])
UNION ALL
SELECT 'key:' || k.id, 'API key ' || coalesce(k.name, '…' || k.last4)
${fromKeys} WHERE k.partner_id = ${partnerId} AND k.id = ANY (${keys}::uuid[])`);
  return new Map(rows.map(({ actor, name }) => [actor, name]));
}

/** The ids of a firm's owners who have access to the environment. */
export async function ownersWhoSee(db: Sql, { partnerId, environment }: Owner): Promise<string[]> {
  const owners = await db.query<{ id: string }>(sql`
    SELECT user_id AS id FROM members
    WHERE partner_id = ${partnerId} AND role = 'owner' AND (${environment} = 'test' OR live_access)
    ORDER BY linked_at LIMIT 100`);
  return owners.map(({ id }) => id);
}

/**
 * A firm as mails to its clients, signers and other people show it. The consent to sign electronically tells signers to
 * answer the mail. So if the firm has no contact address, all answers go to the first owner with access to the
 * environment.
 */
export async function readAnsweringFirm(
  { db, rowMac, clock }: { db: Sql; rowMac: RowMac; clock: Clock },
  owner: Owner,
): Promise<MailFirm> {
  const firm = await readMailFirm(db, owner.partnerId);
  if (firm.contactEmail !== null) return firm;
  for (const id of await ownersWhoSee(db, owner)) {
    const member = await findMembership(db, rowMac, id, clock());
    if (member?.role === "owner" && member.partnerId === owner.partnerId)
      return { ...firm, contactEmail: member.email };
  }
  return firm;
}

/**
 * The email address of an owner who has access to the environment, and the firm's name. Undefined for anybody else,
 * such as a former owner.
 */
export async function ownerAddress(db: Sql, { partnerId, environment }: Owner, ownerId: string) {
  const [owner] = await db.query<{ email: string; firmName: string }>(sql`
    SELECT u.email, p.name AS "firmName", ${verifiedFirm}
    FROM members m JOIN users u ON u.id = m.user_id ${joinFirm(sql`m.partner_id`)}
    WHERE m.partner_id = ${partnerId} AND m.user_id = ${ownerId} AND m.role = 'owner'
      AND (${environment} = 'test' OR m.live_access)`);
  return owner;
}

import { auditLine } from "../../audit/audit.ts";
import type { Environment, Role } from "../../identity/identity.ts";
import type { Sql, Tx } from "../../platform/database/database.ts";
import { type Statement, sql } from "../../platform/database/sql.ts";
import { isRevoked, revocationRow } from "../../platform/revocations.ts";
import type { RowMac } from "../../platform/row-mac.ts";
import { type MemberFacts, memberMembers, memberTable } from "../store.ts";
import { sessionColumns, vouchesFor, type WithMac } from "./facts.ts";
import { sessionLimits } from "./limits.ts";

export type SessionRow = {
  sessionId: string;
  userId: string;
  email: string;
  environment: Environment;
  lastSeenAt: Date;
  confirmedAt: Date;
  passkeyAt: Date | null;
  hasPasskey: boolean;
  passkeyForLive: boolean | null;
  partnerId: string | null;
  role: Role | null;
  liveAccess: boolean | null;
  firmName: string | null;
  tier: string | null;
  liveEnabled: boolean | null;
};

type FoundRow = SessionRow & WithMac & { userId: string; memberVersion: string | null; memberMac: Buffer | null };

/** Whether the session `s` of a statement is of somebody who runs the service, in person or by a link of the command line. */
const isOperators = sql`(s.user_id IS NULL OR s.user_id IN (SELECT o.user_id FROM operators o WHERE o.active))`;

/** When the session `s` of a statement ends if it is used until then. */
const endsAt = sql`CASE WHEN ${isOperators}
  THEN least(s.expires_at, s.created_at + make_interval(secs => ${sessionLimits.operator.wholeSeconds})) ELSE s.expires_at END`;

/** Whether the session `s` of a statement has not ended, by its age or for want of use. */
export function isOpen(now: Date): Statement {
  const since = (seconds: number) => new Date(now.getTime() - seconds * 1000);
  const { member, operator } = sessionLimits;
  return sql`(s.expires_at > ${now} AND CASE WHEN ${isOperators}
    THEN s.last_seen_at > ${since(operator.idleSeconds)} AND s.created_at > ${since(operator.wholeSeconds)}
    ELSE s.last_seen_at > ${since(member.idleSeconds)} END)`;
}

/** Whether it is a whole one: what a mailed link has begun opens nothing before the second factor was shown. */
const isWhole = (now: Date): Statement => sql`${isOpen(now)} AND NOT s.factor_due`;

export const hasNotEnded = (now: Date): Statement => sql`NOT ${isRevoked(now, sql`s.id::text`)}`;

/**
 * The bearer of a session cookie, with the firm of the person; undefined for an unknown or expired one, and one whose row does not hold.
 * A membership whose row does not hold opens no firm.
 */
export async function findSession(
  db: Sql,
  rowMac: RowMac,
  tokenSha256: Buffer,
  now: Date,
): Promise<SessionRow | undefined> {
  const [row] = await db.query<FoundRow>(
    sql`SELECT ${sessionColumns}, u.email, s.environment, s.last_seen_at AS "lastSeenAt",
       m.version AS "memberVersion", CASE WHEN NOT ${isRevoked(now, sql`m.version::text`)} THEN m.row_mac END AS "memberMac",
       EXISTS (SELECT FROM passkeys k WHERE k.user_id = u.id) AS "hasPasskey", p.passkey_for_live AS "passkeyForLive", m.role, m.live_access AS "liveAccess", p.id AS "partnerId", p.name AS "firmName", p.tier, p.live_enabled AS "liveEnabled"
     FROM sessions s JOIN users u ON u.id = s.user_id
       LEFT JOIN members m ON m.user_id = u.id LEFT JOIN partners p ON p.id = m.partner_id
     WHERE s.token_sha256 = ${tokenSha256} AND ${isWhole(now)} AND ${hasNotEnded(now)}`,
  );
  if (!row || !vouchesFor(rowMac, row)) return undefined;
  return isMember(rowMac, row) ? row : { ...row, partnerId: null };
}

function isMember(rowMac: RowMac, { memberVersion: version, memberMac: mac, ...row }: FoundRow): boolean {
  const { userId, partnerId, email, role, liveAccess } = row;
  if (partnerId === null || role === null || liveAccess === null || version === null) return false;
  const facts: MemberFacts = { userId, partnerId, email, role, liveAccess, version };
  return rowMac.holds(memberTable, memberMembers(facts), mac);
}

/** The session of a cookie whose second factor is still due, with its person. */
export async function findDueSession(db: Sql, rowMac: RowMac, tokenSha256: Buffer, now: Date) {
  const [row] = await db.query<WithMac & { userId: string; email: string }>(
    sql`SELECT ${sessionColumns}, u.email FROM sessions s JOIN users u ON u.id = s.user_id
     WHERE s.token_sha256 = ${tokenSha256} AND s.factor_due AND ${isOpen(now)} AND ${hasNotEnded(now)}`,
  );
  if (!row || !vouchesFor(rowMac, row)) return null;
  return { id: row.sessionId, userId: row.userId, email: row.email };
}

export type OperatorSession = {
  sessionId: string;
  createdAt: Date;
  lastSeenAt: Date;
  consoleEnvironment: Environment;
};

/** The session of a cookie that a link of the command line began; undefined for an unknown or expired one. */
export async function findOperatorSession(db: Sql, rowMac: RowMac, tokenSha256: Buffer, now: Date) {
  const [row] = await db.query<OperatorSession & WithMac>(
    sql`SELECT ${sessionColumns}, s.last_seen_at AS "lastSeenAt", s.console_environment AS "consoleEnvironment"
     FROM sessions s
     WHERE s.token_sha256 = ${tokenSha256} AND s.user_id IS NULL AND ${isOpen(now)} AND ${hasNotEnded(now)}`,
  );
  return row && vouchesFor(rowMac, row) ? row : undefined;
}

export const touchSession = (db: Sql, sessionId: string, at: Date) =>
  db.query(sql`UPDATE sessions SET last_seen_at = ${at} WHERE id = ${sessionId} AND last_seen_at < ${at}`);

export const setEnvironment = (db: Sql, sessionId: string, environment: Environment) =>
  db.query(sql`UPDATE sessions SET environment = ${environment} WHERE id = ${sessionId}`);

export type ListedSession = { id: string; device: string; createdAt: Date; lastSeenAt: Date; expiresAt: Date };

/** A person's sessions, the latest first. */
export const selectSessions = (db: Sql, userId: string, now: Date) =>
  db.query<ListedSession>(
    sql`SELECT id, device, created_at AS "createdAt", last_seen_at AS "lastSeenAt", ${endsAt} AS "expiresAt"
     FROM sessions s WHERE user_id = ${userId} AND ${isWhole(now)} ORDER BY created_at DESC, id LIMIT 100`,
  );

/** A session, those of an address or of a firm's members, or those of operators. */
export type SessionFilter = { sessionId: string } | { email: string } | { partnerId: string } | "operator" | "all";

export type AnySession = Omit<ListedSession, "id"> & {
  sessionId: string;
  /** Null for one that a link of the command line began. */
  email: string | null;
  partnerId: string | null;
  /** Whether it opens the console. */
  operator: boolean;
};

function matching(filter: SessionFilter): Statement {
  if (filter === "all") return sql`true`;
  if (filter === "operator") return isOperators;
  if ("sessionId" in filter) return sql`id = ${filter.sessionId}`;
  if ("email" in filter) return sql`user_id IN (SELECT id FROM users WHERE email = ${filter.email})`;
  return sql`user_id IN (SELECT user_id FROM members WHERE partner_id = ${filter.partnerId})`;
}

/** The latest first. */
export const selectAnySessions = (db: Sql, filter: SessionFilter, now: Date) =>
  db.query<AnySession>(
    sql`SELECT s.id AS "sessionId", u.email, m.partner_id AS "partnerId", ${isOperators} AS operator, s.device, s.created_at AS "createdAt",
       s.last_seen_at AS "lastSeenAt", ${endsAt} AS "expiresAt"
     FROM (SELECT * FROM sessions s WHERE ${matching(filter)} AND ${isWhole(now)}
       ORDER BY created_at DESC, id LIMIT 1000) s
       LEFT JOIN users u ON u.id = s.user_id LEFT JOIN members m ON m.user_id = s.user_id
     ORDER BY s.created_at DESC, s.id`,
  );

/** Ends sessions for an operator. @param actor for the audit log @returns their ids */
export async function endAnySessions(db: Sql, filter: SessionFilter, at: Date, actor = "operator"): Promise<string[]> {
  const ended = await db.query<{ id: string }>(endSessions(matching(filter), at, sql`${actor}`));
  return ended.map(({ id }) => id);
}

const holder = sql`coalesce('member:' || e.user_id, 'operator')`;

function endSessions(condition: Statement, at: Date, actor: Statement = holder): Statement {
  const line = {
    at,
    action: "session.ended",
    actor,
    partnerId: sql`m.partner_id`,
    detail: sql`jsonb_build_object('sessionId', e.id)`,
  };
  return sql`
    WITH ended AS (DELETE FROM sessions s WHERE ${condition} RETURNING id, user_id),
      revoked AS (${revocationRow("session", sql`id`, at, sql`ended`)}),
      audit AS (${auditLine(line, sql`ended e LEFT JOIN members m ON m.user_id = e.user_id`)})
    SELECT id FROM ended`;
}

/** Ends one of a person's sessions. @returns whether there was one. */
export async function deleteSession(db: Sql, userId: string, sessionId: string, at: Date): Promise<boolean> {
  const ended = await db.query(endSessions(sql`id = ${sessionId} AND user_id = ${userId}`, at));
  return ended.length === 1;
}

/** Ends all of a person's sessions but one. */
export const endOtherSessions = (tx: Tx, userId: string, sessionId: string, at: Date) =>
  tx.query(endSessions(sql`user_id = ${userId} AND id <> ${sessionId}`, at));

/** Ends the session of a cookie; nothing happens without one. */
export const deleteSessionByToken = (db: Sql, tokenSha256: Buffer, at: Date) =>
  db.query(endSessions(sql`token_sha256 = ${tokenSha256}`, at));

/** Deletes sessions and sign-in links that have expired. */
export async function sweepSessions(db: Sql, now: Date): Promise<void> {
  await db.query(sql`DELETE FROM sessions s WHERE NOT ${isOpen(now)}`);
  await db.query(sql`DELETE FROM sign_in_links WHERE expires_at <= ${now}`);
}

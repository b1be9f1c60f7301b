import { auditLine } from "../../../kernel/audit/audit.ts";
import type { Environment, Role } from "../../../kernel/identity/identity.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { isRevoked, revocationRow } from "../../../kernel/platform/revocations.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import { leftJoinFirm, type MarkedFirm, markedFirm } from "../../partners/partners.ts";
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
  seesBilling: boolean | null;
  firmName: string | null;
  tier: string | null;
  liveEnabled: boolean | null;
};

type FoundRow = SessionRow &
  WithMac & { userId: string; memberVersion: string | null; memberMac: Buffer | null } & MarkedFirm;

/**
 * SQL condition: true if the session `s` of a query is an operator's. Its user is an active operator, or it has no user
 * because it began with a link from the command line.
 */
const isOperators = sql`(s.user_id IS NULL OR s.user_id IN (SELECT o.user_id FROM operators o WHERE o.active))`;

/** The FROM clause with which other features read sessions; their alias is `s`. */
export const fromSessions: Statement = sql`FROM sessions s`;

/** SQL expression: the time when the session `s` of a query reaches its absolute limit, however often it is used. */
const endsAt = sql`CASE WHEN ${isOperators}
  THEN least(s.expires_at, s.created_at + make_interval(secs => ${sessionLimits.operator.wholeSeconds})) ELSE s.expires_at END`;

/** SQL condition: true if the session `s` of a query is within its absolute and idle limits. */
export function isOpen(now: Date): Statement {
  const since = (seconds: number) => new Date(now.getTime() - seconds * 1000);
  const { member, operator } = sessionLimits;
  return sql`(s.expires_at > ${now} AND CASE WHEN ${isOperators}
    THEN s.last_seen_at > ${since(operator.idleSeconds)} AND s.created_at > ${since(operator.wholeSeconds)}
    ELSE s.last_seen_at > ${since(member.idleSeconds)} END)`;
}

/**
 * SQL condition: true if the session is open and complete. A session from a mailed link grants no access before the
 * second factor.
 */
const isWhole = (now: Date): Statement => sql`${isOpen(now)} AND NOT s.factor_due`;

export const hasNotEnded = (now: Date): Statement => sql`NOT ${isRevoked(now, sql`s.id::text`)}`;

/**
 * The person and firm of a session cookie. Undefined for a session that is unknown, has expired, lacks its second
 * factor or has an invalid MAC. A membership or firm whose MAC is invalid grants no access to the firm.
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
       EXISTS (SELECT FROM passkeys k WHERE k.user_id = u.id) AS "hasPasskey", p.passkey_for_live AS "passkeyForLive", m.role, m.live_access AS "liveAccess", m.sees_billing AS "seesBilling", p.id AS "partnerId", p.name AS "firmName", p.tier, p.live_enabled AS "liveEnabled", ${markedFirm}
     FROM sessions s JOIN users u ON u.id = s.user_id
       LEFT JOIN members m ON m.user_id = u.id ${leftJoinFirm(sql`m.partner_id`)}
     WHERE s.token_sha256 = ${tokenSha256} AND ${isWhole(now)} AND ${hasNotEnded(now)}`,
  );
  if (!row || !vouchesFor(rowMac, row)) return undefined;
  return isMember(rowMac, row) && row.isFirmAuthentic ? row : { ...row, partnerId: null };
}

function isMember(rowMac: RowMac, { memberVersion: version, memberMac: mac, ...row }: FoundRow): boolean {
  const { userId, partnerId, email, role, liveAccess, seesBilling } = row;
  if (partnerId === null || role === null || liveAccess === null || seesBilling === null || version === null)
    return false;
  const facts: MemberFacts = { userId, partnerId, email, role, liveAccess, seesBilling, version };
  return rowMac.holds(memberTable, memberMembers(facts), mac);
}

/** A session whose second factor is due, with the session's person. */
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

/** A session that began with a link from the command line; undefined for an unknown or expired session. */
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

/** Sets whether the console shows live or test data in this session. */
export const setConsoleEnvironment = (db: Sql, sessionId: string, environment: Environment) =>
  db.query(sql`UPDATE sessions SET console_environment = ${environment} WHERE id = ${sessionId}`);

export type ListedSession = { id: string; device: string; createdAt: Date; lastSeenAt: Date; expiresAt: Date };

/** A person's sessions, latest first. */
export const selectSessions = (db: Sql, userId: string, now: Date) =>
  db.query<ListedSession>(
    sql`SELECT id, device, created_at AS "createdAt", last_seen_at AS "lastSeenAt", ${endsAt} AS "expiresAt"
     FROM sessions s WHERE user_id = ${userId} AND ${isWhole(now)} ORDER BY created_at DESC, id LIMIT 100`,
  );

/** Selects sessions: one, those of an email address, those of a firm's members, those of operators, or all. */
export type SessionFilter = { sessionId: string } | { email: string } | { partnerId: string } | "operator" | "all";

export type AnySession = Omit<ListedSession, "id"> & {
  sessionId: string;
  /** The person's email address; null for a session that began with a link from the command line. */
  email: string | null;
  partnerId: string | null;
  /** True if the session grants access to the console. */
  operator: boolean;
};

function matching(filter: SessionFilter): Statement {
  if (filter === "all") return sql`true`;
  if (filter === "operator") return isOperators;
  if ("sessionId" in filter) return sql`id = ${filter.sessionId}`;
  if ("email" in filter) return sql`user_id IN (SELECT id FROM users WHERE email = ${filter.email})`;
  return sql`user_id IN (SELECT user_id FROM members WHERE partner_id = ${filter.partnerId})`;
}

/** Lists the sessions that the filter selects, the latest first. */
export const selectAnySessions = (db: Sql, filter: SessionFilter, now: Date) =>
  db.query<AnySession>(
    sql`SELECT s.id AS "sessionId", u.email, m.partner_id AS "partnerId", ${isOperators} AS operator, s.device, s.created_at AS "createdAt",
       s.last_seen_at AS "lastSeenAt", ${endsAt} AS "expiresAt"
     FROM (SELECT * FROM sessions s WHERE ${matching(filter)} AND ${isWhole(now)}
       ORDER BY created_at DESC, id LIMIT 1000) s
       LEFT JOIN users u ON u.id = s.user_id LEFT JOIN members m ON m.user_id = s.user_id
     ORDER BY s.created_at DESC, s.id`,
  );

/**
 * Ends sessions on behalf of an operator.
 * @param actor for the audit log
 * @returns the ids of the ended sessions
 */
export const endAnySessions = (tx: Tx, filter: SessionFilter, at: Date, actor = "operator"): Promise<string[]> =>
  endSessions(tx, matching(filter), at, actor);

type EndedSession = { id: string; userId: string | null; partnerId: string | null };

/**
 * Deletes the sessions that the condition selects.
 * @param actor for the audit log; by default, each session's own person
 * @returns their ids
 */
async function endSessions(tx: Tx, condition: Statement, at: Date, actor?: string): Promise<string[]> {
  const ended = await tx.query<EndedSession>(sql`
    WITH ended AS (DELETE FROM sessions s WHERE ${condition} RETURNING id, user_id),
      revoked AS (${revocationRow("session", sql`id`, at, sql`ended`)})
    SELECT e.id, e.user_id AS "userId", m.partner_id AS "partnerId"
    FROM ended e LEFT JOIN members m ON m.user_id = e.user_id`);
  for (const { id, userId, partnerId } of ended) {
    const holder = userId === null ? "operator" : `member:${userId}`;
    const line = { at, action: "session.ended", actor: actor ?? holder, partnerId, detail: { sessionId: id } };
    await tx.query(auditLine(line));
  }
  return ended.map(({ id }) => id);
}

/**
 * Ends one of a person's sessions.
 * @returns true if the session existed
 */
export async function deleteSession(tx: Tx, userId: string, sessionId: string, at: Date): Promise<boolean> {
  const ended = await endSessions(tx, sql`s.id = ${sessionId} AND s.user_id = ${userId}`, at);
  return ended.length === 1;
}

/** Ends all of a person's sessions except one. */
export const endOtherSessions = (tx: Tx, userId: string, sessionId: string, at: Date) =>
  endSessions(tx, sql`s.user_id = ${userId} AND s.id <> ${sessionId}`, at);

/** Ends the session with this token, if there is one. */
export const deleteSessionByToken = (tx: Tx, tokenSha256: Buffer, at: Date) =>
  endSessions(tx, sql`s.token_sha256 = ${tokenSha256}`, at);

/** Deletes expired sessions and sign-in links. */
export async function sweepSessions(db: Sql, now: Date): Promise<void> {
  await db.query(sql`DELETE FROM sessions s WHERE NOT ${isOpen(now)}`);
  await db.query(sql`DELETE FROM sign_in_links WHERE expires_at <= ${now}`);
}

/** Deletes all sessions, sign-in links and confirmation codes, without audit lines. @returns the number of sessions */
export async function deleteAllSessions(tx: Tx): Promise<number> {
  await tx.query(sql`DELETE FROM sign_in_links`);
  await tx.query(sql`DELETE FROM confirmation_codes`);
  return (await tx.query(sql`DELETE FROM sessions RETURNING 1`)).length;
}

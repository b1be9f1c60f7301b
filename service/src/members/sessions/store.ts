import type { Environment, Role } from "../../identity/identity.ts";
import type { Sql, Tx } from "../../platform/database.ts";

export type SessionRow = {
  sessionId: string;
  userId: string;
  email: string;
  environment: Environment;
  lastSeenAt: Date;
  partnerId: string | null;
  role: Role | null;
  firmName: string | null;
  tier: string | null;
  liveEnabled: boolean | null;
};

/** The bearer of a session cookie, with the firm of the person; undefined for an unknown or expired one. */
export async function findSession(sql: Sql, tokenSha256: Buffer, now: Date): Promise<SessionRow | undefined> {
  const [row] = await sql.rows<SessionRow>(
    `SELECT s.id AS "sessionId", u.id AS "userId", u.email, s.environment, s.last_seen_at AS "lastSeenAt",
       m.role, p.id AS "partnerId", p.name AS "firmName", p.tier, p.live_enabled AS "liveEnabled"
     FROM sessions s JOIN users u ON u.id = s.user_id
       LEFT JOIN members m ON m.user_id = u.id LEFT JOIN partners p ON p.id = m.partner_id
     WHERE s.token_sha256 = $1 AND s.expires_at > $2`,
    [tokenSha256, now],
  );
  return row;
}

export async function operatorSessionExists(sql: Sql, tokenSha256: Buffer, now: Date): Promise<boolean> {
  const found = await sql.rows("SELECT FROM sessions WHERE token_sha256 = $1 AND user_id IS NULL AND expires_at > $2", [
    tokenSha256,
    now,
  ]);
  return found.length === 1;
}

export type NewSession = {
  id: string;
  tokenSha256: Buffer;
  /** Null for the operator. */
  userId: string | null;
  environment: Environment;
  device: string;
  at: Date;
  expiresAt: Date;
};

export const insertSession = (tx: Tx, session: NewSession) =>
  tx.rows(
    `INSERT INTO sessions (id, token_sha256, user_id, environment, device, created_at, last_seen_at, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $6, $7)`,
    [
      session.id,
      session.tokenSha256,
      session.userId,
      session.environment,
      session.device,
      session.at,
      session.expiresAt,
    ],
  );

export const touchSession = (sql: Sql, sessionId: string, at: Date) =>
  sql.rows("UPDATE sessions SET last_seen_at = $2 WHERE id = $1 AND last_seen_at < $2", [sessionId, at]);

export const setEnvironment = (sql: Sql, sessionId: string, environment: Environment) =>
  sql.rows("UPDATE sessions SET environment = $2 WHERE id = $1", [sessionId, environment]);

export type ListedSession = { id: string; device: string; createdAt: Date; lastSeenAt: Date; expiresAt: Date };

/** A person's sessions, the latest first. */
export const selectSessions = (sql: Sql, userId: string, now: Date) =>
  sql.rows<ListedSession>(
    `SELECT id, device, created_at AS "createdAt", last_seen_at AS "lastSeenAt", expires_at AS "expiresAt"
     FROM sessions WHERE user_id = $1 AND expires_at > $2 ORDER BY created_at DESC, id LIMIT 100`,
    [userId, now],
  );

const ended = (condition: string) => `
  WITH ended AS (DELETE FROM sessions WHERE ${condition} RETURNING id, user_id), audit AS (
    INSERT INTO audit_log (occurred_at, action, actor, partner_id, detail)
    SELECT $1, 'session.ended', coalesce('member:' || e.user_id, 'operator'), m.partner_id,
      jsonb_build_object('sessionId', e.id)
    FROM ended e LEFT JOIN members m ON m.user_id = e.user_id
  ) SELECT id FROM ended`;

const endById = ended("id = $2 AND user_id = $3");
const endByToken = ended("token_sha256 = $2");

/** Ends one of a person's sessions. @returns whether there was one. */
export async function deleteSession(sql: Sql, userId: string, sessionId: string, at: Date): Promise<boolean> {
  return (await sql.rows(endById, [at, sessionId, userId])).length === 1;
}

/** Ends the session of a cookie; nothing happens without one. */
export const deleteSessionByToken = (sql: Sql, tokenSha256: Buffer, at: Date) =>
  sql.rows(endByToken, [at, tokenSha256]);

/** Forgets what has expired. */
export async function sweepSessions(sql: Sql, now: Date): Promise<void> {
  await sql.rows("DELETE FROM sessions WHERE expires_at <= $1", [now]);
  await sql.rows("DELETE FROM sign_in_links WHERE expires_at <= $1", [now]);
}

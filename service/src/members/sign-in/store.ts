import type { Sql, Tx } from "../../platform/database.ts";

export type NewLink = {
  id: string;
  tokenSha256: Buffer;
  /** Null, both, for the operator's. */
  browserSha256: Buffer | null;
  email: string | null;
  networkSha256: Buffer | null;
  returnTo: string;
  at: Date;
  expiresAt: Date;
};

export const insertLink = (sql: Sql, link: NewLink) =>
  sql.rows(
    `INSERT INTO sign_in_links (id, token_sha256, browser_sha256, email, network_sha256, return_to, created_at, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      link.id,
      link.tokenSha256,
      link.browserSha256,
      link.email,
      link.networkSha256,
      link.returnTo,
      link.at,
      link.expiresAt,
    ],
  );

/** How many links of this address could still be used: in all, and of those that this network asked for. */
export async function countLinks(sql: Sql, email: string, networkSha256: Buffer, now: Date) {
  const [row] = await sql.rows<{ all: number; own: number }>(
    `SELECT count(*) AS all, count(*) FILTER (WHERE network_sha256 = $2) AS own
     FROM sign_in_links WHERE email = $1 AND expires_at > $3`,
    [email, networkSha256, now],
  );
  return row ?? { all: 0, own: 0 };
}

export async function selectLinkToMail(sql: Sql, id: string, now: Date) {
  const [found] = await sql.rows<{ email: string; expiresAt: Date }>(
    `SELECT email, expires_at AS "expiresAt" FROM sign_in_links WHERE id = $1 AND expires_at > $2 AND email IS NOT NULL`,
    [id, now],
  );
  return found;
}

const usable = "token_sha256 = $1 AND browser_sha256 IS NOT DISTINCT FROM $2 AND expires_at > $3";

export type UsableLink = { email: string | null; returnTo: string };

/** A link that this browser may use; undefined for any other. */
export async function findLink(sql: Sql, tokenSha256: Buffer, browserSha256: Buffer | null, now: Date) {
  const [found] = await sql.rows<UsableLink>(
    `SELECT email, return_to AS "returnTo" FROM sign_in_links WHERE ${usable}`,
    [tokenSha256, browserSha256, now],
  );
  return found;
}

/** Takes the link out of the world: of two who use it at once, one gets it. */
export async function takeLink(tx: Tx, tokenSha256: Buffer, browserSha256: Buffer | null, now: Date) {
  const [taken] = await tx.rows<UsableLink>(
    `DELETE FROM sign_in_links WHERE ${usable} RETURNING email, return_to AS "returnTo"`,
    [tokenSha256, browserSha256, now],
  );
  return taken;
}

/** The person of this address, made if there is none yet, and whether the person's firm has live. */
export async function upsertUser(tx: Tx, id: string, email: string, at: Date) {
  const [user] = await tx.rows<{ userId: string }>(
    `INSERT INTO users (id, email, created_at) VALUES ($1, $2, $3)
     ON CONFLICT (email) DO UPDATE SET email = excluded.email RETURNING id AS "userId"`,
    [id, email, at],
  );
  if (!user) throw new Error("a user was not inserted");
  const [member] = await tx.rows<{ partnerId: string; liveEnabled: boolean }>(
    `SELECT p.id AS "partnerId", p.live_enabled AS "liveEnabled"
     FROM members m JOIN partners p ON p.id = m.partner_id WHERE m.user_id = $1`,
    [user.userId],
  );
  return { userId: user.userId, partnerId: member?.partnerId ?? null, live: member?.liveEnabled ?? false };
}

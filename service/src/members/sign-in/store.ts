import type { Sql, Tx } from "../../platform/database.ts";
import { sql } from "../../platform/sql.ts";

export type NewLink = {
  id: string;
  tokenSha256: Buffer;
  /** Null, all three, for the operator's. */
  browserSha256: Buffer | null;
  email: string | null;
  networkSha256: Buffer | null;
  returnTo: string;
  at: Date;
  expiresAt: Date;
};

export const insertLink = (db: Sql, link: NewLink) =>
  db.query(
    sql`INSERT INTO sign_in_links
       (id, token_sha256, browser_sha256, email, network_sha256, return_to, created_at, expires_at)
     VALUES (${link.id}, ${link.tokenSha256}, ${link.browserSha256}, ${link.email}, ${link.networkSha256},
       ${link.returnTo}, ${link.at}, ${link.expiresAt})`,
  );

/** Until the transaction ends nobody else asks for a link for this address. */
export const lockEmail = (tx: Tx, email: string) =>
  tx.query(sql`SELECT pg_advisory_xact_lock(hashtextextended('sign-in:' || ${email}, 0))`);

/** How many links of this address could still be used: in all, and of those that this network asked for. */
export async function countLinks(db: Sql, email: string, networkSha256: Buffer, now: Date) {
  const [row] = await db.query<{ all: number; own: number }>(
    sql`SELECT count(*) AS all, count(*) FILTER (WHERE network_sha256 = ${networkSha256}) AS own
     FROM sign_in_links WHERE email = ${email} AND expires_at > ${now}`,
  );
  return row ?? { all: 0, own: 0 };
}

/** The address of a link that can still be used; undefined for any other and for the operator's. */
export async function selectLinkToMail(db: Sql, id: string, now: Date): Promise<{ email: string } | undefined> {
  const [found] = await db.query<{ email: string }>(
    sql`SELECT email FROM sign_in_links WHERE id = ${id} AND expires_at > ${now} AND email IS NOT NULL`,
  );
  return found;
}

/** A link's token and the secret of the browser that asked for it; null for the operator's. */
export type LinkSecrets = { tokenSha256: Buffer; browserSha256: Buffer | null };

const usable = ({ tokenSha256, browserSha256 }: LinkSecrets, now: Date) =>
  sql`token_sha256 = ${tokenSha256} AND browser_sha256 IS NOT DISTINCT FROM ${browserSha256} AND expires_at > ${now}`;

export type UsableLink = { email: string | null; returnTo: string };

const columns = sql`email, return_to AS "returnTo"`;

/** A link that this browser may use; undefined for any other. */
export async function findLink(db: Sql, secrets: LinkSecrets, now: Date): Promise<UsableLink | undefined> {
  const [found] = await db.query<UsableLink>(sql`SELECT ${columns} FROM sign_in_links WHERE ${usable(secrets, now)}`);
  return found;
}

/** Takes the link away: of two who use it at once, one gets it. */
export async function takeLink(tx: Tx, secrets: LinkSecrets, now: Date): Promise<UsableLink | undefined> {
  const [taken] = await tx.query<UsableLink>(
    sql`DELETE FROM sign_in_links WHERE ${usable(secrets, now)} RETURNING ${columns}`,
  );
  return taken;
}

/** The person of this address, made if there is none yet, and whether the person may work in live. */
export async function upsertUser(tx: Tx, id: string, email: string, at: Date) {
  const [user] = await tx.query<{ userId: string }>(
    sql`INSERT INTO users (id, email, created_at) VALUES (${id}, ${email}, ${at})
     ON CONFLICT (email) DO UPDATE SET email = excluded.email RETURNING id AS "userId"`,
  );
  if (!user) throw new Error("a user was not inserted");
  const [member] = await tx.query<{ partnerId: string; live: boolean }>(
    sql`SELECT p.id AS "partnerId", p.live_enabled AND m.live_access AS live
     FROM members m JOIN partners p ON p.id = m.partner_id WHERE m.user_id = ${user.userId}`,
  );
  return { userId: user.userId, partnerId: member?.partnerId ?? null, live: member?.live ?? false };
}

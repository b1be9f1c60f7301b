import type { Sql, Tx } from "../../platform/database/database.ts";
import { sql } from "../../platform/database/sql.ts";
import { newUuid } from "../../platform/ids.ts";

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
  /** Asked by a browser that has signed in with the address before. */
  proven: boolean;
};

export const insertLink = (db: Sql, link: NewLink) =>
  db.query(
    sql`INSERT INTO sign_in_links
       (id, token_sha256, browser_sha256, email, network_sha256, return_to, created_at, expires_at, proven)
     VALUES (${link.id}, ${link.tokenSha256}, ${link.browserSha256}, ${link.email}, ${link.networkSha256},
       ${link.returnTo}, ${link.at}, ${link.expiresAt}, ${link.proven})`,
  );

/** Until the transaction ends nobody else asks for a link for this address. */
export const lockEmail = (tx: Tx, email: string) =>
  tx.query(sql`SELECT pg_advisory_xact_lock(hashtextextended('sign-in:' || ${email}, 0))`);

/** How many mailed links of this address are open: for known browsers, for others, and of these for this network. */
export async function countMailed(db: Sql, email: string, networkSha256: Buffer, now: Date) {
  const [row] = await db.query<{ known: number; strangers: number; network: number }>(
    sql`SELECT count(*) FILTER (WHERE proven) AS known, count(*) FILTER (WHERE NOT proven) AS strangers,
       count(*) FILTER (WHERE NOT proven AND network_sha256 = ${networkSha256}) AS network
     FROM sign_in_links WHERE email = ${email} AND mailed AND expires_at > ${now}`,
  );
  return row ?? { known: 0, strangers: 0, network: 0 };
}

/** Has the mailed links that are open work in the browser that asks; those of known browsers only in known ones. */
export const shareLinks = (tx: Tx, { email, browserSha256, networkSha256, returnTo, at, proven }: NewLink) =>
  tx.query(
    sql`INSERT INTO sign_in_links (id, token_sha256, browser_sha256, email, network_sha256, return_to, created_at, expires_at, mailed, proven)
     SELECT gen_random_uuid(), token_sha256, ${browserSha256}, email, ${networkSha256}, ${returnTo}, ${at}, expires_at, false, ${proven}
     FROM sign_in_links WHERE email = ${email} AND mailed AND expires_at > ${at} AND (NOT proven OR ${proven})
     ON CONFLICT (token_sha256, browser_sha256) DO NOTHING`,
  );

/** The address of a link that can still be used; undefined for any other and for the operator's. */
export async function selectLinkToMail(db: Sql, id: string, now: Date): Promise<LinkToMail | undefined> {
  const [found] = await db.query<LinkToMail>(sql`
SELECT email, token_sha256 AS "tokenSha256" FROM sign_in_links
WHERE id = ${id} AND expires_at > ${now} AND email IS NOT NULL`);
  return found;
}

type LinkToMail = { email: string; tokenSha256: Buffer };

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

/** Takes the link away, in every browser that it was shared with: of two who use it at once, one gets it. */
export async function takeLink(tx: Tx, secrets: LinkSecrets, now: Date): Promise<UsableLink | undefined> {
  const { tokenSha256 } = secrets;
  await tx.query(
    sql`SELECT pg_advisory_xact_lock(hashtextextended('sign-in-link:' || ${tokenSha256.toString("hex")}, 0))`,
  );
  const [taken] = await tx.query<UsableLink>(
    sql`DELETE FROM sign_in_links WHERE ${usable(secrets, now)} RETURNING ${columns}`,
  );
  if (taken) await tx.query(sql`DELETE FROM sign_in_links WHERE token_sha256 = ${tokenSha256}`);
  return taken;
}

/** The person of this address, made if there is none yet. @returns the person's id */
export async function upsertUser(tx: Tx, email: string, at: Date): Promise<string> {
  const [user] = await tx.query<{ userId: string }>(
    sql`INSERT INTO users (id, email, created_at) VALUES (${newUuid()}, ${email}, ${at})
     ON CONFLICT (email) DO UPDATE SET email = excluded.email RETURNING id AS "userId"`,
  );
  if (!user) throw new Error("a user was not inserted");
  return user.userId;
}

/** What a person who signs in may open, and whether a second factor is asked for. */
export async function selectAccess(tx: Tx, userId: string) {
  const keys = await tx.query(sql`SELECT FROM passkeys WHERE user_id = ${userId} LIMIT 1`);
  const operators = await tx.query(sql`SELECT FROM operators WHERE user_id = ${userId} AND active`);
  const [member] = await tx.query<{ partnerId: string; live: boolean }>(
    sql`SELECT p.id AS "partnerId", p.live_enabled AND m.live_access AS live
     FROM members m JOIN partners p ON p.id = m.partner_id WHERE m.user_id = ${userId}`,
  );
  return {
    userId,
    hasPasskey: keys.length > 0,
    isOperator: operators.length > 0,
    partnerId: member?.partnerId ?? null,
    live: member?.live ?? false,
  };
}

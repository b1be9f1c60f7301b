import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import type { Members, RowMac } from "../../../kernel/platform/row-mac.ts";
import { fromFirms, verifiedFirm } from "../../partners/partners.ts";
import { findMembership } from "../store.ts";

export type NewLink = {
  id: string;
  tokenSha256: Buffer;
  /** The hash of the browser's secret. This field and the next two are null for an operator's link. */
  browserSha256: Buffer | null;
  email: string | null;
  networkSha256: Buffer | null;
  returnTo: string;
  at: Date;
  expiresAt: Date;
  /** True if the link was requested by a browser that has signed in with the email address before. */
  proven: boolean;
};

const linkTable = "sign_in_links";

/** The fields of a sign-in link that its MAC covers. */
export type LinkFacts = Pick<NewLink, "id" | "tokenSha256" | "browserSha256" | "email" | "expiresAt">;

export const linkMembers = ({ id, tokenSha256, browserSha256, email, expiresAt }: LinkFacts): Members => ({
  id,
  expiresAt,
  token: tokenSha256.toString("hex"),
  browser: browserSha256?.toString("hex") ?? null,
  email,
});

export const linkColumns = sql`id, token_sha256 AS "tokenSha256", browser_sha256 AS "browserSha256", email,
  expires_at AS "expiresAt", row_mac AS mac`;

type WithMac = LinkFacts & { mac: Buffer | null };

const vouchesFor = (rowMac: RowMac, row: WithMac): boolean => rowMac.holds(linkTable, linkMembers(row), row.mac);

/**
 * Stores a link.
 * @param mailed false when the link was mailed before for another browser, and this row makes it usable in one more
 * browser
 */
export const insertLink = (db: Sql, rowMac: RowMac, link: NewLink, mailed = true) =>
  db.query(
    sql`INSERT INTO sign_in_links
       (id, token_sha256, browser_sha256, email, network_sha256, return_to, created_at, expires_at, mailed, proven, row_mac)
     VALUES (${link.id}, ${link.tokenSha256}, ${link.browserSha256}, ${link.email}, ${link.networkSha256},
       ${link.returnTo}, ${link.at}, ${link.expiresAt}, ${mailed}, ${link.proven}, ${rowMac.of(linkTable, linkMembers(link))})
     ON CONFLICT (token_sha256, browser_sha256) DO NOTHING`,
  );

/** Serializes requests for links to this email address until the transaction ends. */
export const lockEmail = (tx: Tx, email: string) =>
  tx.query(sql`SELECT pg_advisory_xact_lock(hashtextextended('sign-in:' || ${email}, 0))`);

/**
 * The numbers of usable links that were mailed to this email address. `proven`: those for browsers that have signed in
 * with the address. `strangers`: those for other browsers. `network`: those for other browsers in this network.
 */
export async function countMailed(db: Sql, email: string, networkSha256: Buffer, now: Date) {
  const [row] = await db.query<{ proven: number; strangers: number; network: number }>(
    sql`SELECT count(*) FILTER (WHERE proven) AS proven, count(*) FILTER (WHERE NOT proven) AS strangers,
       count(*) FILTER (WHERE NOT proven AND network_sha256 = ${networkSha256}) AS network
     FROM sign_in_links WHERE email = ${email} AND mailed AND expires_at > ${now}`,
  );
  return row ?? { proven: 0, strangers: 0, network: 0 };
}

/**
 * Makes the unexpired links that were mailed to this email address usable in the requesting browser too. A link for a
 * browser that has signed in before becomes usable only in another such browser.
 */
export async function shareLinks(tx: Tx, rowMac: RowMac, link: NewLink): Promise<void> {
  const { email, at, proven } = link;
  const open = await tx.query<WithMac>(sql`
    SELECT ${linkColumns} FROM sign_in_links
    WHERE email = ${email} AND mailed AND expires_at > ${at} AND (NOT proven OR ${proven})`);
  for (const { tokenSha256, expiresAt } of open.filter((each) => vouchesFor(rowMac, each)))
    await insertLink(tx, rowMac, { ...link, id: newUuid(), tokenSha256, expiresAt }, false);
}

/** The email address to which a usable link is mailed; undefined for any other link, including an operator's. */
export async function selectLinkToMail(
  db: Sql,
  rowMac: RowMac,
  id: string,
  now: Date,
): Promise<LinkToMail | undefined> {
  const [found] = await db.query<WithMac & LinkToMail>(sql`
SELECT ${linkColumns} FROM sign_in_links WHERE id = ${id} AND expires_at > ${now} AND email IS NOT NULL`);
  return found && vouchesFor(rowMac, found) ? found : undefined;
}

type LinkToMail = { email: string; tokenSha256: Buffer };

/**
 * The hashes of a link's token, and of the secret of the browser that requested the link. `browserSha256` is null for
 * an operator's link.
 */
export type LinkSecrets = { tokenSha256: Buffer; browserSha256: Buffer | null };

const usable = ({ tokenSha256, browserSha256 }: LinkSecrets, now: Date) =>
  sql`token_sha256 = ${tokenSha256} AND browser_sha256 IS NOT DISTINCT FROM ${browserSha256} AND expires_at > ${now}`;

export type UsableLink = { email: string | null; returnTo: string };

const columns = sql`${linkColumns}, return_to AS "returnTo"`;

/** A link that this browser may use; undefined for any other link. */
export async function findLink(
  db: Sql,
  rowMac: RowMac,
  secrets: LinkSecrets,
  now: Date,
): Promise<UsableLink | undefined> {
  const [found] = await db.query<UsableLink & WithMac>(
    sql`SELECT ${columns} FROM sign_in_links WHERE ${usable(secrets, now)}`,
  );
  return found && vouchesFor(rowMac, found) ? found : undefined;
}

/** Consumes the link in every browser that shares it. Of two concurrent calls only one succeeds. */
export async function consumeLink(
  tx: Tx,
  rowMac: RowMac,
  secrets: LinkSecrets,
  now: Date,
): Promise<UsableLink | undefined> {
  const { tokenSha256 } = secrets;
  await tx.query(
    sql`SELECT pg_advisory_xact_lock(hashtextextended('sign-in-link:' || ${tokenSha256.toString("hex")}, 0))`,
  );
  const [consumed] = await tx.query<UsableLink & WithMac>(
    sql`DELETE FROM sign_in_links WHERE ${usable(secrets, now)} RETURNING ${columns}`,
  );
  if (!consumed || !vouchesFor(rowMac, consumed)) return undefined;
  await tx.query(sql`DELETE FROM sign_in_links WHERE token_sha256 = ${tokenSha256}`);
  return consumed;
}

/**
 * Finds the person with this email address, or inserts a row for a new person.
 * @returns the person's id
 */
export async function upsertUser(tx: Tx, email: string, at: Date): Promise<string> {
  const [user] = await tx.query<{ userId: string }>(
    sql`INSERT INTO users (id, email, created_at) VALUES (${newUuid()}, ${email}, ${at})
     ON CONFLICT (email) DO UPDATE SET email = excluded.email RETURNING id AS "userId"`,
  );
  if (!user) throw new Error("a user was not inserted");
  return user.userId;
}

/** The rights of a person who signs in, and whether a second factor is required. */
export async function selectAccess(tx: Tx, rowMac: RowMac, userId: string, now: Date) {
  const keys = await tx.query(sql`SELECT FROM passkeys WHERE user_id = ${userId} LIMIT 1`);
  const operators = await tx.query(sql`SELECT FROM operators WHERE user_id = ${userId} AND active`);
  const member = await findMembership(tx, rowMac, userId, now);
  const [live] = await tx.query(sql`
    SELECT ${verifiedFirm} ${fromFirms} WHERE p.id = ${member?.partnerId} AND p.live_enabled`);
  return {
    userId,
    hasPasskey: keys.length > 0,
    isOperator: operators.length > 0,
    partnerId: member?.partnerId ?? null,
    live: (live && member?.liveAccess) ?? false,
  };
}

import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { type StateMac, verified, writeStateMacs } from "../../../kernel/platform/database/state-mac.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import { defineMail, type MailDeps } from "../../../kernel/platform/mail/mail-jobs.ts";
import { stateRows } from "../../../kernel/platform/protected-data.ts";
import {
  derivedToken,
  deriveKey,
  type SecretBytes,
  tokenOfHash,
  tokenSha256,
} from "../../../kernel/platform/secrets.ts";
import { isCode } from "../../../kernel/platform/text.ts";
import type { DeskDeps } from "../claims/claims.ts";
import { peopleOf } from "../claims/orders.ts";
import { addressedTo } from "./address.ts";

const linkState: StateMac = {
  table: sql`appointment_links`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (l) =>
    sql`${l}.id, ${l}.order_id, ${l}.person, encode(${l}.token_sha256, 'hex'), extract(epoch FROM ${l}.created_at)`,
};

export const linkRows = stateRows(linkState);

const tokenUnder = (secrets: SecretBytes, id: string): string =>
  derivedToken(deriveKey(secrets, "appointment-link"), id);

export type InviteDeps = { desk: DeskDeps; secrets: SecretBytes };

/** Records that the person needs no more mail with the link. The MAC of the link's row does not cover this. */
const markMailed = (db: Sql, which: Statement) =>
  db.query(sql`UPDATE appointment_links SET is_mailed = true WHERE ${which}`);

/**
 * Marks a link as mailed. Finds it by the token in the path, because the person's link may have been replaced while the
 * mail was sent.
 */
export const markPathMailed = (db: Sql, path: string) =>
  markMailed(db, sql`token_sha256 = ${tokenSha256(path.slice(linkPath.length))}`);

/**
 * Creates a person's link to the appointment page if the person has none that can be mailed. The transaction must have
 * locked the order.
 * @param link.isMailed true if the person needs no mail with the link
 */
export async function ensureLink(
  tx: Tx,
  secrets: SecretBytes,
  { orderId, person, at, isMailed = false }: { orderId: number; person: number; at: Date; isMailed?: boolean },
): Promise<void> {
  if ((await linkPathOf(tx, secrets, orderId, person)) !== null) {
    if (isMailed) await markMailed(tx, sql`order_id = ${orderId} AND person = ${person}`);
    return;
  }
  const id = newUuid();
  // Also replaces a stored link that can't be mailed, because the secret from which its token was derived is missing.
  await tx.query(sql`DELETE FROM appointment_links WHERE order_id = ${orderId} AND person = ${person}`);
  await tx.query(sql`
    INSERT INTO appointment_links (id, order_id, person, token_sha256, created_at, is_mailed)
    VALUES (${id}, ${orderId}, ${person}, ${tokenSha256(tokenUnder(secrets, id))}, ${at}, ${isMailed})`);
  await writeStateMacs(tx, linkState, sql`id = ${id}`);
}

/**
 * Finds the order and the person of a link. Undefined for an invalid link.
 * @throws ServiceError `unavailable` when the MAC of the link's row is invalid
 */
export async function linkOf(db: Sql, token: string): Promise<{ orderId: number; person: number } | undefined> {
  if (!isCode(token)) return undefined;
  const [link] = await db.query<{ orderId: number; person: number }>(sql`
    SELECT order_id AS "orderId", person, ${verified(linkState, sql`appointment_links`)} FROM appointment_links
    WHERE token_sha256 = ${tokenSha256(token)}`);
  return link;
}

const linkPath = "/appointments/";

/**
 * The path of a person's appointment page. Null for a person without a link. Also null when the secret from which the
 * link's token was derived is missing.
 */
export async function linkPathOf(
  db: Sql,
  secrets: SecretBytes,
  orderId: number,
  person: number,
): Promise<string | null> {
  const [link] = await db.query<{ id: string; sha256: Buffer }>(sql`
    SELECT id, token_sha256 AS sha256, ${verified(linkState, sql`appointment_links`)} FROM appointment_links
    WHERE order_id = ${orderId} AND person = ${person}`);
  const token = link && tokenOfHash(secrets, link.sha256, (key) => tokenUnder(key, link.id));
  return token === undefined ? null : `${linkPath}${token}`;
}

type Invitation = { orderId: number; person: number; at: string };

export const appointmentInvitationMail = defineMail({
  queue: "appointment-invitation-mail",
  async load({ orderId, person }: Invitation, deps: MailDeps) {
    const { db, rowMac, secrets } = deps;
    const [order, path] = await Promise.all([
      peopleOf({ db, rowMac }, orderId),
      linkPathOf(db, secrets, orderId, person),
    ]);
    const to = order?.signers[person - 1];
    if (!order || !to || path === null || order.status !== "NotarizationPending") return null;
    return { ...(await addressedTo(deps, order, to)), path };
  },
  write({ path, words, ...letter }, { orderId, person, at }, { baseUrl }) {
    const { subject, line, link } = words.invite;
    return {
      ...letter,
      id: `appointment-invitation:${orderId}:${person}:${at}`,
      subject,
      lines: [line],
      link: { label: link, url: `${baseUrl}${path}?lang=${letter.language}` },
      caution: words.caution,
    };
  },
  onSent: ({ path }, _about, { db }) => markPathMailed(db, path),
});

import type { Owner } from "../../../kernel/identity/identity.ts";
import { dayMs } from "../../../kernel/platform/clock.ts";
import { changeRow, changeRowIf } from "../../../kernel/platform/database/change-rows.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { hex, instant, type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { type StateMac, verified, verifiedAll, writeStateMacs } from "../../../kernel/platform/database/state-mac.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import { stateRows } from "../../../kernel/platform/protected-data.ts";
import { tokenSha256 } from "../../../kernel/platform/secrets.ts";
import { joinOrder } from "../../../orders/order/order.ts";

/** Without the MAC, write access to the database would be enough to show signing pages on another site. */
const originState: StateMac = {
  table: sql`embed_origins`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (o) => sql`${o}.id, ${o}.partner_id, ${o}.environment, ${o}.origin`,
};

/** A session can act for its signer, so the MAC covers every column. */
const embedState: StateMac = {
  table: sql`signer_embeds`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (e) => sql`${e}.id, ${e}.signer_id, ${e}.link_id, ${e}.origin, ${hex(sql`${e}.ticket_sha256`)},
    ${instant(sql`${e}.ticket_expires_at`)}, ${hex(sql`${e}.session_sha256`)}, ${instant(sql`${e}.session_expires_at`)},
    ${instant(sql`${e}.identified_at`)}`,
};

export const embedTables = [stateRows(originState), stateRows(embedState)];

export type EmbedOrigin = { id: string; origin: string; createdAt: Date };

export const listOrigins = (db: Sql, { partnerId, environment }: Owner) =>
  db.query<EmbedOrigin>(sql`
    SELECT id, origin, created_at AS "createdAt", ${verified(originState, sql`o`)} FROM embed_origins o
    WHERE partner_id = ${partnerId} AND environment = ${environment} ORDER BY created_at, id`);

/**
 * Registers a site of the firm, on which signing pages may be shown.
 * @returns false when the firm already has this origin
 */
export async function insertOrigin(
  tx: Tx,
  { partnerId, environment }: Owner,
  { id, origin, createdAt }: EmbedOrigin,
): Promise<boolean> {
  const inserted = await tx.query(sql`
    INSERT INTO embed_origins (id, partner_id, environment, origin, created_at)
    VALUES (${id}, ${partnerId}, ${environment}, ${origin}, ${createdAt})
    ON CONFLICT (partner_id, environment, origin) DO NOTHING RETURNING 1`);
  if (inserted.length === 1) await writeStateMacs(tx, originState, sql`id = ${id}`);
  return inserted.length === 1;
}

/**
 * Deletes a registered site of the firm.
 * @returns the removed origin; undefined if the firm has none with this id
 */
export async function deleteOrigin(tx: Tx, { partnerId, environment }: Owner, id: string): Promise<string | undefined> {
  const [gone] = await tx.query<{ origin: string }>(sql`
    DELETE FROM embed_origins WHERE id = ${id} AND partner_id = ${partnerId} AND environment = ${environment}
    RETURNING origin`);
  return gone?.origin;
}

/** A signing page that a firm opened for a signer on one of its sites. */
export type Embed = {
  id: string;
  signerId: number;
  envelopeId: number;
  origin: string;
  ticketExpiresAt: Date;
  /** The end of the signer's session. The session starts when the ticket is redeemed; null before that. */
  sessionExpiresAt: Date | null;
  identifiedAt: Date | null;
  /** True if the signer's link has not been replaced since the page was opened, and the site is still registered. */
  isCurrent: boolean;
};

const registeredSite = sql`FROM embed_origins site
  WHERE site.partner_id = o.partner_id AND site.environment = o.environment AND site.origin = e.origin`;

const selected = (where: Statement): Statement => sql`
  SELECT e.id, e.signer_id AS "signerId", s.envelope_id AS "envelopeId", e.origin, e.ticket_expires_at AS "ticketExpiresAt",
    e.session_expires_at AS "sessionExpiresAt", e.identified_at AS "identifiedAt",
    coalesce(e.link_id = s.link_id, false) AND EXISTS (SELECT ${registeredSite}) AS "isCurrent",
    ${verifiedAll(originState, sql`site`, registeredSite)}, ${verified(embedState, sql`e`)}
  FROM signer_embeds e JOIN envelope_signers s ON s.id = e.signer_id JOIN envelopes n ON n.id = s.envelope_id
    ${joinOrder(sql`n.order_id`)} WHERE ${where}`;

async function one(db: Sql, where: Statement): Promise<Embed | undefined> {
  const [embed] = await db.query<Embed>(selected(where));
  return embed;
}

export const embedOfTicket = (db: Sql, ticket: string) => one(db, sql`e.ticket_sha256 = ${tokenSha256(ticket)}`);
export const embedOfSession = (db: Sql, session: string) => one(db, sql`e.session_sha256 = ${tokenSha256(session)}`);

/**
 * Stores a signing page that the firm opens for a signer on one of its sites.
 * @param ticket 160 random bits, of which only a hash is stored
 */
export async function insertEmbed(
  tx: Tx,
  { signerId, origin, ticket, expiresAt }: { signerId: number; origin: string; ticket: string; expiresAt: Date },
): Promise<void> {
  const id = newUuid();
  await tx.query(sql`
    INSERT INTO signer_embeds (id, signer_id, link_id, origin, ticket_sha256, ticket_expires_at)
    SELECT ${id}, s.id, s.link_id, ${origin}, ${tokenSha256(ticket)}, ${expiresAt} FROM envelope_signers s WHERE s.id = ${signerId}`);
  await writeStateMacs(tx, embedState, sql`id = ${id}`);
}

/**
 * Exchanges a ticket for a session. A ticket works once.
 * @returns false when the ticket was already redeemed
 */
export const redeemEmbed = (
  tx: Tx,
  id: string,
  { session, expiresAt }: { session: string; expiresAt: Date },
): Promise<boolean> =>
  changeRowIf(
    tx,
    embedState,
    id,
    sql`session_sha256 = ${tokenSha256(session)}, session_expires_at = ${expiresAt}`,
    sql`session_sha256 IS NULL`,
  );

export const identifyEmbed = (tx: Tx, id: string, at: Date): Promise<void> =>
  changeRow(tx, embedState, id, sql`identified_at = ${at}`);

/** Deletes the rows of pages that ended more than a day ago. The trail still records what happened on these pages. */
export const sweepEmbeds = (db: Sql, now: Date) =>
  db.query(sql`
    DELETE FROM signer_embeds
    WHERE coalesce(session_expires_at, ticket_expires_at) < ${new Date(now.getTime() - dayMs)}`);

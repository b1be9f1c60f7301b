import type { Role } from "../../../kernel/identity/identity.ts";
import { dayMs } from "../../../kernel/platform/clock.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { isRevoked, revocationRow } from "../../../kernel/platform/revocations.ts";
import type { Members, RowMac } from "../../../kernel/platform/row-mac.ts";
import { joinFirm, verifiedFirm } from "../../partners/partners.ts";

const retentionMs = 30 * dayMs;

/** An invitation that was not accepted, withdrawn or replaced. It may have expired. */
export type Invitation = {
  invitationId: string;
  email: string;
  role: Role;
  liveAccess: boolean;
  invitedBy: string;
  createdAt: Date;
  expiresAt: Date;
  /** True if the inviter may still grant the offered access. Otherwise the invitation can't be accepted. */
  stands: boolean;
};

const stands = sql`EXISTS (SELECT FROM members o WHERE o.user_id = i.invited_by AND o.partner_id = i.partner_id
  AND o.role = 'owner' AND (o.live_access OR NOT i.live_access))`;

const columns = sql`i.id AS "invitationId", i.email, i.role, i.live_access AS "liveAccess", u.email AS "invitedBy",
  i.created_at AS "createdAt", i.expires_at AS "expiresAt", ${stands} AS stands`;

/** The firm's pending invitations, the latest first. */
export const selectPending = (db: Sql, partnerId: string) =>
  db.query<Invitation>(sql`
    SELECT ${columns} FROM invitations i JOIN users u ON u.id = i.invited_by
    WHERE i.partner_id = ${partnerId} AND i.ended_at IS NULL ORDER BY i.created_at DESC, i.id LIMIT 200`);

/** A pending invitation of the firm. The caller must have locked the firm. */
export async function selectOwn(tx: Tx, partnerId: string, invitationId: string): Promise<Invitation | undefined> {
  const [found] = await tx.query<Invitation>(sql`
    SELECT ${columns} FROM invitations i JOIN users u ON u.id = i.invited_by
    WHERE i.partner_id = ${partnerId} AND i.id = ${invitationId} AND i.ended_at IS NULL`);
  return found;
}

/** The pending invitation of the firm to an email address. The caller must have locked the firm. */
export async function selectOfAddress(tx: Tx, partnerId: string, email: string): Promise<Invitation | undefined> {
  const [found] = await tx.query<Invitation>(sql`
    SELECT ${columns} FROM invitations i JOIN users u ON u.id = i.invited_by
    WHERE i.partner_id = ${partnerId} AND i.email = ${email} AND i.ended_at IS NULL`);
  return found;
}

export type NewInvitation = {
  id: string;
  partnerId: string;
  email: string;
  role: Role;
  liveAccess: boolean;
  tokenSha256: Buffer;
  invitedBy: string;
  at: Date;
  expiresAt: Date;
};

const invitationTable = "invitations";

/** The fields of an invitation that its MAC covers; `invitedBy` is the inviter's id. */
export type InvitationFacts = Omit<NewInvitation, "at">;

export const invitationMembers = (facts: InvitationFacts): Members => ({
  id: facts.id,
  partnerId: facts.partnerId,
  email: facts.email,
  role: facts.role,
  liveAccess: facts.liveAccess,
  token: facts.tokenSha256.toString("hex"),
  invitedBy: facts.invitedBy,
  expiresAt: facts.expiresAt,
});

export const invitationColumns = sql`i.id, i.partner_id AS "partnerId", i.email, i.role, i.live_access AS "liveAccess",
  i.token_sha256 AS "tokenSha256", i.invited_by AS "invitedBy", i.expires_at AS "expiresAt", i.row_mac AS mac`;

type WithMac = InvitationFacts & { mac: Buffer | null };

const vouchesFor = (rowMac: RowMac, row: WithMac): boolean =>
  rowMac.holds(invitationTable, invitationMembers(row), row.mac);

export const insertInvitation = (tx: Tx, rowMac: RowMac, one: NewInvitation) =>
  tx.query(sql`
    INSERT INTO invitations (id, partner_id, email, role, live_access, token_sha256, invited_by, created_at, expires_at, row_mac)
    VALUES (${one.id}, ${one.partnerId}, ${one.email}, ${one.role}, ${one.liveAccess}, ${one.tokenSha256},
      ${one.invitedBy}, ${one.at}, ${one.expiresAt}, ${rowMac.of(invitationTable, invitationMembers(one))})`);

export const endInvitation = (tx: Tx, invitationId: string, at: Date, outcome: "withdrawn" | "replaced") =>
  tx.query(sql`
    WITH revoked AS (${revocationRow("invitation", invitationId, at)})
    UPDATE invitations SET ended_at = ${at}, outcome = ${outcome} WHERE id = ${invitationId}`);

/** The number of invitations that a firm has mailed since `since`: in total, and to one address. */
export async function countMailed(tx: Tx, partnerId: string, email: string, since: Date) {
  const [row] = await tx.query<{ all: number; toAddress: number }>(sql`
    SELECT count(*) AS all, count(*) FILTER (WHERE email = ${email}) AS "toAddress"
    FROM invitations WHERE partner_id = ${partnerId} AND created_at > ${since}`);
  return row ?? { all: 0, toAddress: 0 };
}

export async function isMember(tx: Tx, partnerId: string, email: string): Promise<boolean> {
  const found = await tx.query(sql`
    SELECT FROM members m JOIN users u ON u.id = m.user_id WHERE m.partner_id = ${partnerId} AND u.email = ${email}`);
  return found.length > 0;
}

export type Offer = {
  partnerId: string;
  firmName: string;
  email: string;
  role: Role;
  liveAccess: boolean;
  invitedBy: string;
};

const usable = (tokenSha256: Buffer, now: Date) =>
  sql`i.token_sha256 = ${tokenSha256} AND i.ended_at IS NULL AND i.expires_at > ${now} AND ${stands}
    AND NOT ${isRevoked(now, sql`i.id::text`)}`;

/** The offer of the invitation whose link has this token; undefined if the invitation can't be accepted. */
export async function selectOffer(db: Sql, rowMac: RowMac, tokenSha256: Buffer, now: Date): Promise<Offer | undefined> {
  const [found] = await db.query<{ firmName: string; inviter: string } & WithMac>(sql`
    SELECT ${invitationColumns}, p.name AS "firmName", u.email AS inviter, ${verifiedFirm}
    FROM invitations i ${joinFirm(sql`i.partner_id`)} JOIN users u ON u.id = i.invited_by
    WHERE ${usable(tokenSha256, now)}`);
  if (!found || !vouchesFor(rowMac, found)) return undefined;
  const { partnerId, firmName, email, role, liveAccess, inviter } = found;
  return { partnerId, firmName, email, role, liveAccess, invitedBy: inviter };
}

type ConsumedInvitation = { invitationId: string; role: Role; liveAccess: boolean; invitedBy: string };

/** Consumes an invitation; the caller must have locked its firm. Of two concurrent calls only one succeeds. */
export async function consumeInvitation(
  tx: Tx,
  rowMac: RowMac,
  tokenSha256: Buffer,
  email: string,
  at: Date,
): Promise<ConsumedInvitation | undefined> {
  const [consumed] = await tx.query<WithMac>(sql`
    UPDATE invitations i SET ended_at = ${at}, outcome = 'accepted'
    WHERE ${usable(tokenSha256, at)} AND i.email = ${email}
    RETURNING ${invitationColumns}`);
  if (!consumed || !vouchesFor(rowMac, consumed)) return undefined;
  const { id: invitationId, role, liveAccess, invitedBy } = consumed;
  await tx.query(revocationRow("invitation", invitationId, at));
  return { invitationId, role, liveAccess, invitedBy };
}

/** The facts for an invitation's mail; undefined for an ended invitation. */
export async function selectToMail(db: Sql, rowMac: RowMac, invitationId: string, now: Date) {
  const [found] = await db.query<{ firmName: string; inviter: string } & WithMac>(sql`
    SELECT ${invitationColumns}, p.name AS "firmName", u.email AS inviter, ${verifiedFirm}
    FROM invitations i ${joinFirm(sql`i.partner_id`)} JOIN users u ON u.id = i.invited_by
    WHERE i.id = ${invitationId} AND i.ended_at IS NULL AND i.expires_at > ${now}`);
  return found && vouchesFor(rowMac, found) ? found : undefined;
}

/** Deletes invitations that expired a month ago. */
export const sweepInvitations = (db: Sql, now: Date) =>
  db.query(sql`DELETE FROM invitations WHERE expires_at < ${new Date(now.getTime() - retentionMs)}`);

import { changeRow } from "../../../kernel/platform/database/change-rows.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { hex, instant, type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { type StateMac, verified, writeStateMacs } from "../../../kernel/platform/database/state-mac.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import { stateRows } from "../../../kernel/platform/protected-data.ts";
import { tokenSha256 } from "../../../kernel/platform/secrets.ts";

/**
 * The session of a turn can act for its signer, and the host is part of the evidence. So the MAC covers every column.
 */
const sittingState: StateMac = {
  table: sql`sittings`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (
    s,
  ) => sql`${s}.id, ${s}.envelope_id, ${s}.host_id, ${s}.host, ${hex(sql`${s}.token_sha256`)}, ${instant(sql`${s}.expires_at`)},
    ${s}.signer_id, ${s}.link_id, ${hex(sql`${s}.session_sha256`)}, ${instant(sql`${s}.session_expires_at`)},
    ${instant(sql`${s}.identified_at`)}`,
};

export const sittingTable = stateRows(sittingState);

/** A sitting: the signing of one document on a device of the firm that is passed from signer to signer. */
export type Sitting = {
  id: string;
  envelopeId: number;
  /** The id and the email address of the member who handed out the device. */
  hostId: string;
  host: string;
  expiresAt: Date;
  /** The signer who is using the device; null between two turns. */
  signerId: number | null;
  sessionExpiresAt: Date | null;
  identifiedAt: Date | null;
  /** True if the signer's link has not been replaced since the turn on the device began; false between two turns. */
  isCurrent: boolean;
};

const all = (db: Sql, where: Statement) =>
  db.query<Sitting>(sql`
    SELECT s.id, s.envelope_id AS "envelopeId", s.host_id AS "hostId", s.host, s.expires_at AS "expiresAt", s.signer_id AS "signerId",
      s.session_expires_at AS "sessionExpiresAt", s.identified_at AS "identifiedAt",
      coalesce(s.link_id = e.link_id, false) AS "isCurrent", ${verified(sittingState, sql`s`)}
    FROM sittings s LEFT JOIN envelope_signers e ON e.id = s.signer_id WHERE ${where} ORDER BY s.envelope_id`);

/** The sittings of a device: one for each document that is signed on it. */
export const sittingsOfToken = (db: Sql, token: string) => all(db, sql`s.token_sha256 = ${tokenSha256(token)}`);

/** All sittings on the same device as this sitting. */
export const sittingsOfDevice = (db: Sql, id: string) =>
  all(db, sql`s.token_sha256 = (SELECT token_sha256 FROM sittings WHERE id = ${id})`);

export async function sittingOfSession(db: Sql, session: string): Promise<Sitting | undefined> {
  const [sitting] = await all(db, sql`s.session_sha256 = ${tokenSha256(session)}`);
  return sitting;
}

type NewSitting = { envelopeId: number; hostId: string; host: string; token: string; expiresAt: Date };

/**
 * Stores a sitting: the signing of one document on a handed-over device.
 * @param token 160 random bits, of which only a hash is stored
 */
export async function insertSitting(tx: Tx, { envelopeId, hostId, host, token, expiresAt }: NewSitting): Promise<void> {
  const id = newUuid();
  await tx.query(sql`
    INSERT INTO sittings (id, envelope_id, host_id, host, token_sha256, expires_at)
    VALUES (${id}, ${envelopeId}, ${hostId}, ${host}, ${tokenSha256(token)}, ${expiresAt})`);
  await writeStateMacs(tx, sittingState, sql`id = ${id}`);
}

/** Begins a signer's turn. The session of the previous signer ends. */
export const giveTurn = (
  tx: Tx,
  id: string,
  { signerId, session, expiresAt }: { signerId: number; session: string; expiresAt: Date },
): Promise<void> =>
  changeRow(
    tx,
    sittingState,
    id,
    sql`signer_id = ${signerId}, link_id = (SELECT link_id FROM envelope_signers WHERE id = ${signerId}),
      session_sha256 = ${tokenSha256(session)}, session_expires_at = ${expiresAt}, identified_at = NULL`,
  );

/** Ends the turn. Until the next turn nobody is using the device. */
export const endTurn = (tx: Tx, id: string): Promise<void> =>
  changeRow(
    tx,
    sittingState,
    id,
    sql`signer_id = NULL, link_id = NULL, session_sha256 = NULL, session_expires_at = NULL, identified_at = NULL`,
  );

export const identifySitting = (tx: Tx, id: string, at: Date): Promise<void> =>
  changeRow(tx, sittingState, id, sql`identified_at = ${at}`);

/**
 * Ends all sittings on every device on which one of these envelopes is signed, because the device may be lost. Sittings
 * for other documents on these devices end, too.
 * @returns the envelope of each ended sitting
 */
export async function endDevices(tx: Tx, envelopeIds: readonly number[]): Promise<number[]> {
  const ended = await tx.query<{ envelopeId: number }>(sql`
    DELETE FROM sittings WHERE token_sha256 IN (SELECT token_sha256 FROM sittings WHERE envelope_id = ANY (${envelopeIds}::bigint[]))
    RETURNING envelope_id AS "envelopeId"`);
  return ended.map(({ envelopeId }) => envelopeId);
}

/** Deletes expired sittings. They are not needed as evidence, because the trail records the sittings. */
export const sweepSittings = (db: Sql, now: Date) => db.query(sql`DELETE FROM sittings WHERE expires_at < ${now}`);

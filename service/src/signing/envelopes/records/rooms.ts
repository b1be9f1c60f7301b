import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { hex, instant, type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { type StateMac, verified, writeStateMacs } from "../../../kernel/platform/database/state-mac.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import { stateRows } from "../../../kernel/platform/protected-data.ts";
import { tokenSha256 } from "../../../kernel/platform/secrets.ts";

/** The empty signature field for the notary in a prepared document. */
export type NotaryBlock = {
  readonly name: string;
  /** The object number of the field; generation 0. */
  readonly object: number;
  /** The size of the field's appearance before rotation, in units of user space (usually points). */
  readonly width: number;
  readonly height: number;
  /**
   * Set when signers meet the notary by audio and video, each on a device of their own. Absent when they meet in one
   * room.
   */
  readonly isRemote?: true;
};

/** The notary's field in a document that the signers sign by mailed links. The notary signs after them. */
type SignedBlock = Omit<NotaryBlock, "isRemote">;

export const envelopeRoomState: StateMac = {
  table: sql`envelope_rooms`,
  key: sql`envelope_id`,
  mac: sql`row_mac`,
  covered: (r) => sql`${r}.envelope_id, ${r}.block, ${instant(sql`${r}.opened_at`)}`,
};

/** Anyone with a turn's token can act for its signer. So the MAC covers every column. */
const signerRoomState: StateMac = {
  table: sql`signer_rooms`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (r) => sql`${r}.id, ${r}.signer_id, ${hex(sql`${r}.token_sha256`)}, ${r}.may_sign, ${r}.presence,
    ${instant(sql`${r}.opened_at`)}, ${instant(sql`${r}.expires_at`)}, ${instant(sql`${r}.closed_at`)}`,
};

const blockState: StateMac = {
  table: sql`envelope_blocks`,
  key: sql`envelope_id`,
  mac: sql`row_mac`,
  covered: (r) => sql`${r}.envelope_id, ${r}.block`,
};

export const roomTables = [stateRows(blockState), stateRows(envelopeRoomState), stateRows(signerRoomState)];

/**
 * Columns for a query on `envelopes e` with `joinRoom`. If somebody deletes an envelope's row in `envelope_rooms`, the
 * envelope looks like one with mailed links. That gives nobody access, because the order waits for a notary, not for
 * signatures.
 */
export const roomColumns = sql`room.envelope_id IS NOT NULL AS "isInRoom", ${verified(envelopeRoomState, sql`room`)}`;
export const joinRoom = sql`LEFT JOIN envelope_rooms room ON room.envelope_id = e.id`;

export async function insertRoom(tx: Tx, envelopeId: number, block: NotaryBlock, at: Date): Promise<void> {
  await tx.query(sql`
    INSERT INTO envelope_rooms (envelope_id, block, opened_at)
    VALUES (${envelopeId}, ${JSON.stringify(block)}::jsonb, ${at})`);
  await writeStateMacs(tx, envelopeRoomState, sql`envelope_id = ${envelopeId}`);
}

/**
 * The notary's block of an envelope that is signed in a notary's presence; undefined for any other envelope, even if
 * its document has a block (`signedBlockOf`).
 * @throws ServiceError `unavailable` for a row whose MAC is invalid
 */
export async function blockOf(db: Sql, envelopeId: number): Promise<NotaryBlock | undefined> {
  const [room] = await db.query<{ block: NotaryBlock }>(sql`
    SELECT block, ${verified(envelopeRoomState, sql`envelope_rooms`)} FROM envelope_rooms WHERE envelope_id = ${envelopeId}`);
  return room?.block;
}

export async function insertBlock(
  tx: Tx,
  envelopeId: number,
  { name, object, width, height }: SignedBlock,
): Promise<void> {
  const block: SignedBlock = { name, object, width, height };
  await tx.query(
    sql`INSERT INTO envelope_blocks (envelope_id, block) VALUES (${envelopeId}, ${JSON.stringify(block)}::jsonb)`,
  );
  await writeStateMacs(tx, blockState, sql`envelope_id = ${envelopeId}`);
}

/**
 * The notary's field in the document of an order whose signers have all signed by mailed links; undefined without one.
 * @throws ServiceError `unavailable` when its row has an invalid MAC
 */
export async function signedBlockOf(db: Sql, orderId: number): Promise<SignedBlock | undefined> {
  const [found] = await db.query<{ block: SignedBlock }>(sql`
    SELECT b.block, ${verified(blockState, sql`b`)} FROM envelope_blocks b JOIN envelopes e ON e.id = b.envelope_id
    WHERE e.order_id = ${orderId} AND e.outcome = 'Completed'
      AND e.attempt = (SELECT max(other.attempt) FROM envelopes other WHERE other.order_id = ${orderId}
        AND NOT EXISTS (SELECT FROM envelope_rooms room WHERE room.envelope_id = other.id))`);
  return found?.block;
}

/** A signer's turn in the notary's presence, on the notary's device or by audio and video. */
export type SignerRoom = {
  id: string;
  signerId: number;
  envelopeId: number;
  maySign: boolean;
  presence: string;
  isRemote: boolean;
};

/**
 * The open turn for a token; undefined when the turn has ended. A turn by audio and video ends with the lease of the
 * node that serves it. Leases use the database's clock, because the clocks of the nodes may differ.
 */
export async function openRoomOf(db: Sql, token: string, now: Date): Promise<SignerRoom | undefined> {
  const [room] = await db.query<SignerRoom>(sql`
    SELECT r.id, r.signer_id AS "signerId", s.envelope_id AS "envelopeId", r.may_sign AS "maySign", r.presence,
      coalesce((room.block ->> 'isRemote')::boolean, false) AS "isRemote", ${verified(signerRoomState, sql`r`)},
      ${verified(envelopeRoomState, sql`room`)}
    FROM signer_rooms r JOIN envelope_signers s ON s.id = r.signer_id JOIN envelope_rooms room ON room.envelope_id = s.envelope_id
    WHERE r.token_sha256 = ${tokenSha256(token)} AND r.closed_at IS NULL
      AND r.expires_at > CASE WHEN room.block ->> 'isRemote' = 'true' THEN clock_timestamp() ELSE ${now}::timestamptz END`);
  return room;
}

type NewRoom = { signerId: number; token: string; maySign: boolean; presence: string; at: Date; expiresAt: Date };

/**
 * Stores a signer's turn in the notary's presence.
 * @param room.token 160 random bits, of which only a hash is stored
 */
export async function insertSignerRoom(tx: Tx, room: NewRoom): Promise<void> {
  const id = newUuid();
  await tx.query(sql`
    INSERT INTO signer_rooms (id, signer_id, token_sha256, may_sign, presence, opened_at, expires_at)
    VALUES (${id}, ${room.signerId}, ${tokenSha256(room.token)}, ${room.maySign}, ${room.presence}, ${room.at}, ${room.expiresAt})`);
  await writeStateMacs(tx, signerRoomState, sql`id = ${id}`);
}

/** Ends the turns of an envelope's signers. */
export const closeSignerRooms = (tx: Tx, envelopeId: number, at: Date): Promise<void> =>
  changeOpenRooms(tx, envelopeId, sql`closed_at = ${at}`);

/** Allows or forbids signing in the open turns of an envelope. */
export const setMaySign = (tx: Tx, envelopeId: number, maySign: boolean): Promise<void> =>
  changeOpenRooms(tx, envelopeId, sql`may_sign = ${maySign}`);

/** Sets the time when the open turns end. */
export const setExpiry = (tx: Tx, envelopeId: number, until: Date): Promise<void> =>
  changeOpenRooms(tx, envelopeId, sql`expires_at = ${until}`);

async function changeOpenRooms(tx: Tx, envelopeId: number, set: Statement): Promise<void> {
  const open = sql`closed_at IS NULL AND signer_id IN (SELECT id FROM envelope_signers WHERE envelope_id = ${envelopeId})`;
  const changing = await tx.query<{ id: string }>(sql`
    SELECT id, ${verified(signerRoomState, sql`signer_rooms`)} FROM signer_rooms WHERE ${open} FOR NO KEY UPDATE`);
  for (const { id } of changing) {
    await tx.query(sql`UPDATE signer_rooms SET ${set} WHERE id = ${id}`);
    await writeStateMacs(tx, signerRoomState, sql`id = ${id}`);
  }
}

import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Database, Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { enqueue } from "../../../kernel/platform/jobs/jobs.ts";
import {
  correctionsOf,
  currentEmail,
  hasDocument,
  isOfFirm,
  ordersTable,
  verifiedSigner,
} from "../../../orders/order/order.ts";
import type { SigningLinks } from "../records/link-tokens.ts";
import {
  insertSession,
  joinSession,
  leaveSession,
  personOf,
  placeOfSigner,
  shareFailures,
} from "../records/sessions.ts";
import { signingMailQueue } from "./issue-link.ts";

/**
 * A closing room of the order's firm that contains the order. `orders` are the firm's orders in that room, in the
 * sequence of the room's list. `labels` are the labels of these orders in the room.
 */
export type Closing = {
  id: string;
  name: string;
  orders: readonly number[];
  labels: readonly (string | null)[];
};

/**
 * Returns the rooms of an order's own firm that contain the order. The module `closing/rooms` implements this function,
 * because `signing` must not import from `closing`.
 */
export type ClosingsOf = (db: Sql, orderId: number) => Promise<readonly Closing[]>;

export type JoinDeps = { db: Database; clock: Clock; links: Pick<SigningLinks, "tokenOf">; closingsOf: ClosingsOf };

/**
 * Groups a person's unsigned documents in a room into one session, if they have the same language. In the session, the
 * person signs them one after the other. Changes nothing for a signer who is already in a session, and for a person
 * with only one such document.
 *
 * Must be called outside of any transaction, because it locks the room before all other rows. Without that lock, two
 * concurrent calls for the same person could miss each other's document.
 */
export const findSession = ({ db, clock, links, closingsOf }: JoinDeps, signerId: number, orderId: number) =>
  db.transaction(async (tx) => {
    for (const closing of await closingsOf(tx, orderId)) {
      await lockRoom(tx, closing.id);
      if (await joinIn(tx, { links, at: clock() }, closing, signerId)) return;
    }
  });

/**
 * Groups a person's links to copies of notarized documents into one session, if they have the same language. One mail
 * then links to all of them. Most of these documents were signed only in the notary's presence. No mail asked for those
 * signatures, so the documents are in no session yet. Must be called outside of any transaction, as `findSession`.
 */
export const findCopySession = ({ db, clock, links, closingsOf }: JoinDeps, signerId: number, orderId: number) =>
  db.transaction(async (tx) => {
    if (await placeOfSigner(tx, signerId)) return;
    for (const { id: roomId, orders } of await closingsOf(tx, orderId)) {
      await lockRoom(tx, roomId);
      const copies = await tx.query<Copy>(sql`
        SELECT s.id, s.name, s.email, o.id AS "orderId", ${verifiedSigner}
        FROM envelope_signers own JOIN envelopes theirs ON theirs.id = own.envelope_id
          JOIN ${ordersTable} ON o.id = ANY (${orders}::bigint[]) AND ${isOfFirm(sql`theirs.order_id`, sql`o`)}
          JOIN envelopes e ON e.order_id = o.id AND e.outcome = 'Completed' AND ${hasDocument(sql`o.id`, "notarized")}
          JOIN envelope_signers s ON s.envelope_id = e.id AND s.language = own.language AND ${personOf(sql`s`)} = ${personOf(sql`own`)}
        WHERE own.id = ${signerId} AND s.issued_at IS NOT NULL AND s.token_sha256 IS NOT NULL
          AND NOT EXISTS (SELECT FROM session_signers m WHERE m.signer_id = s.id)
        ORDER BY array_position(${orders}::bigint[], o.id)`);
      const ids = await withAddressOf(tx, signerId, copies);
      if (!ids.includes(signerId) || ids.length < 2) continue;
      const sessionId = await insertSession(tx, links, roomId, signerId, clock());
      await joinSession(tx, sessionId, ids);
      await shareFailures(tx, sessionId);
      return;
    }
  });

type Copy = { id: number; orderId: number; name: string; email: string };

/**
 * `copies` are the rows of one person as a signer of several orders. Returns the ids of those rows whose current email
 * address equals that of the row `signerId`. An address that was corrected in an order counts as corrected.
 */
async function withAddressOf(tx: Tx, signerId: number, copies: readonly Copy[]): Promise<number[]> {
  const addresses = new Map<number, string>();
  for (const { id, orderId, ...person } of copies)
    addresses.set(id, currentEmail(await correctionsOf(tx, orderId), person).toLowerCase());
  return [...addresses].flatMap(([id, address]) => (address === addresses.get(signerId) ? [id] : []));
}

const lockRoom = (tx: Tx, roomId: string) =>
  tx.query(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`signing-session:${roomId}`}, 0))`);

type Candidate = { id: number; sessionId: string | null; isOfRoom: boolean; signed: boolean };

async function joinIn(
  tx: Tx,
  { links, at }: { links: Pick<SigningLinks, "tokenOf">; at: Date },
  { id: roomId, orders }: Closing,
  signerId: number,
): Promise<boolean> {
  if (await placeOfSigner(tx, signerId)) return true;
  // The signer's row may still be in the session of a replaced signer, so it is removed from that session first.
  await leaveSession(tx, signerId);
  const candidates = await tx.query<Candidate>(sql`
    SELECT s.id, g.id AS "sessionId", coalesce(g.room_id = ${roomId}, false) AS "isOfRoom", s.signed_at IS NOT NULL AS signed,
      ${verifiedSigner}
    FROM envelope_signers own JOIN envelopes theirs ON theirs.id = own.envelope_id
      JOIN ${ordersTable} ON o.id = ANY (${orders}::bigint[]) AND ${isOfFirm(sql`theirs.order_id`, sql`o`)}
        AND o.status IN ('EsignPending', 'OnHold')
      JOIN envelopes e ON e.order_id = o.id AND e.ended_at IS NULL
      JOIN envelope_signers s ON s.envelope_id = e.id AND s.language = own.language AND ${personOf(sql`s`)} = ${personOf(sql`own`)}
      LEFT JOIN session_signers m ON m.signer_id = s.id LEFT JOIN signing_sessions g ON g.id = m.session_id
    WHERE own.id = ${signerId} ORDER BY array_position(${orders}::bigint[], o.id)`);
  const unsigned = candidates.filter(({ signed }) => !signed);
  const alone = unsigned.filter(({ sessionId }) => sessionId === null).map(({ id }) => id);
  if (!alone.includes(signerId)) return false;
  // Only a session with unsigned documents can be joined. For a person who has signed everything, a new session begins.
  const open = unsigned.find(({ isOfRoom }) => isOfRoom)?.sessionId ?? null;
  if (open === null && alone.length < 2) return false;
  const sessionId = open ?? (await insertSession(tx, links, roomId, signerId, at));
  await joinSession(tx, sessionId, alone);
  await shareFailures(tx, sessionId);
  return true;
}

/**
 * Queues a search for each signer of an order that was added to a room. Skips signers without a link, and those who
 * have signed. The search looks for other documents in that room that the same person signs.
 */
export const findSessionsLater = (tx: Tx, orderId: number) =>
  tx.query(sql`
    SELECT enqueue_job(${signingMailQueue}, jsonb_build_object('signerId', s.id, 'moment', 'joined'), now())
    FROM envelopes e JOIN envelope_signers s ON s.envelope_id = e.id
    WHERE e.order_id = ${orderId} AND e.ended_at IS NULL AND s.issued_at IS NOT NULL AND s.signed_at IS NULL`);

/**
 * Call this when an order left a closing room. Removes the order's signers from the room's sessions, and mails each of
 * them a link of their own to the order. Signers who have already signed stay in the sessions.
 */
export async function leaveSessionsOf(tx: Tx, orderId: number, roomId: string, at: Date): Promise<void> {
  const left = await tx.query<{ signerId: number; linkId: string | null }>(sql`
    SELECT s.id AS "signerId", s.link_id AS "linkId"
    FROM signing_sessions g JOIN session_signers m ON m.session_id = g.id JOIN envelope_signers s ON s.id = m.signer_id
      JOIN envelopes e ON e.id = s.envelope_id
    WHERE g.room_id = ${roomId} AND e.order_id = ${orderId} AND e.ended_at IS NULL AND s.signed_at IS NULL ORDER BY s.id`);
  for (const { signerId, linkId } of left) {
    await leaveSession(tx, signerId);
    if (linkId !== null)
      await enqueue(tx, signingMailQueue, { signerId, moment: "request", linkId, at: at.toISOString() });
  }
}

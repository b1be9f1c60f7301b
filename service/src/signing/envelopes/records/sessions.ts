/**
 * A signing session groups the signatures of one person in the orders of one closing room. To avoid deadlocks, every
 * transaction locks in this sequence: orders, envelopes, the session, signers. A transaction that changes several
 * signers' rows must therefore lock the session first.
 */
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { hex, instant, nothing, type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { type StateMac, verified, writeStateMacs } from "../../../kernel/platform/database/state-mac.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import { stateRows } from "../../../kernel/platform/protected-data.ts";
import { tokenSha256 } from "../../../kernel/platform/secrets.ts";
import { verifiedSigner } from "../../../orders/order/order.ts";
import { type Consent, updateSigner } from "./envelope.ts";
import type { SigningLinks } from "./link-tokens.ts";

type Links = Pick<SigningLinks, "tokenOf">;

/** A session gives access to its person's documents, so the MAC covers all columns that select these documents. */
const sessionState: StateMac = {
  table: sql`signing_sessions`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (
    g,
  ) => sql`${g}.id, ${g}.room_id, ${hex(sql`${g}.person_sha256`)}, ${g}.link_id, ${hex(sql`${g}.token_sha256`)},
    ${hex(sql`${g}.session_sha256`)}, ${instant(sql`${g}.session_expires_at`)}, ${instant(sql`${g}.identified_at`)}, ${g}.consent,
    ${instant(sql`${g}.created_at`)}, ${g}.state_version`,
};

const memberState: StateMac = {
  table: sql`session_signers`,
  key: sql`signer_id`,
  mac: sql`row_mac`,
  covered: (m) => sql`${m}.signer_id, ${m}.session_id, ${m}.n`,
};

export const sessionTables = [stateRows(sessionState), stateRows(memberState)];

/**
 * A digest that is equal for two signers if they are the same person. It covers the name, the email address, the kind
 * of access step, and the phone number or access code for that step.
 */
export const personOf = (
  s: Statement,
): Statement => sql`sha256(convert_to(json_build_array(normalize(trim(${s}.name), NFC),
  lower(trim(${s}.email)), ${s}.auth, ${s}.phone, ${s}.access_code_hash)::text, 'UTF8'))`;

/** The digests of signers (`personOf`), by the ids of the signers. */
export async function personsOf(db: Sql, signerIds: readonly number[]): Promise<Map<number, string>> {
  const rows = await db.query<{ id: number; person: string }>(sql`
    SELECT s.id, ${hex(personOf(sql`s`))} AS person, ${verifiedSigner} FROM envelope_signers s
    WHERE s.id = ANY (${signerIds}::bigint[])`);
  return new Map(rows.map(({ id, person }) => [id, person]));
}

/** One document in a session, with its signer, and with the link and the state of the session. */
export type SessionPlace = {
  id: string;
  roomId: string;
  /** The document's number in the session, from 1. */
  n: number;
  signerId: number;
  envelopeId: number;
  linkId: string;
  tokenSha256: Buffer;
  sessionSha256: Buffer | null;
  sessionExpiresAt: Date | null;
  identifiedAt: Date | null;
  consent: Consent | null;
  /**
   * The time of the access step that the document's trail states; `createdAt` without such a step. Null while the trail
   * states none.
   */
  citedAt: Date | null;
  createdAt: Date;
};

/** A query for documents in sessions. Skips documents whose signer is no longer the session's person. */
const places = (where: Statement, lock: Statement): Statement => sql`
  SELECT g.id, g.room_id AS "roomId", m.n, m.signer_id AS "signerId", s.envelope_id AS "envelopeId", g.link_id AS "linkId", g.token_sha256 AS "tokenSha256",
    g.session_sha256 AS "sessionSha256", g.session_expires_at AS "sessionExpiresAt", g.identified_at AS "identifiedAt", g.consent,
    m.cited_at AS "citedAt", g.created_at AS "createdAt", ${verified(sessionState, sql`g`)}, ${verified(memberState, sql`m`)}
  FROM signing_sessions g JOIN session_signers m ON m.session_id = g.id JOIN envelope_signers s ON s.id = m.signer_id
  WHERE ${where} AND ${personOf(sql`s`)} = g.person_sha256 ORDER BY m.n ${lock}`;

const all = (db: Sql, where: Statement, lock = nothing) => db.query<SessionPlace>(places(where, lock));

/** The documents that a session's link opens; empty for an unknown link. */
export const placesOfToken = (db: Sql, token: string) => all(db, sql`g.token_sha256 = ${tokenSha256(token)}`);

export const placesOfSession = (db: Sql, id: string) => all(db, sql`g.id = ${id}`);

/** The places of an envelope's signers in their sessions. */
export const placesOfEnvelope = (db: Sql, envelopeId: number) => all(db, sql`s.envelope_id = ${envelopeId}`);

export const placeOfSigner = async (db: Sql, signerId: number) => (await all(db, sql`m.signer_id = ${signerId}`))[0];

/** As `placeOfSigner`, and locks the session, for a transaction that changes the session or its other signers. */
export const lockPlace = async (tx: Tx, signerId: number) =>
  (await all(tx, sql`m.signer_id = ${signerId}`, sql`FOR NO KEY UPDATE OF g`))[0];

/**
 * Changes data of a person, such as codes and wrong attempts, in the signer's row and in all others of the session.
 * @returns false when the signer's row does not meet the condition `only`
 */
export async function updatePerson(tx: Tx, signerId: number, set: Statement, only?: Statement): Promise<boolean> {
  const place = await lockPlace(tx, signerId);
  if (!(await updateSigner(tx, signerId, set, only))) return false;
  const others = place ? (await placesOfSession(tx, place.id)).filter((each) => each.signerId !== signerId) : [];
  for (const other of others) await updateSigner(tx, other.signerId, set);
  return true;
}

/**
 * The orders that a signer signs in one session. `n` is the person's number among the signers of that order. A signer
 * without a session has only one order.
 */
export const ordersOfPerson = (db: Sql, signerId: number) =>
  db.query<{ orderId: number; n: number }>(sql`
    SELECT e.order_id AS "orderId", s.n FROM envelope_signers s JOIN envelopes e ON e.id = s.envelope_id
    WHERE s.id = ${signerId} OR s.id IN (
      SELECT other.signer_id FROM session_signers own JOIN session_signers other ON other.session_id = own.session_id
      WHERE own.signer_id = ${signerId})`);

/**
 * Changes the row of a session, and writes its new MAC.
 * @throws ServiceError `unavailable` for a session whose MAC is invalid
 */
async function updateSession(tx: Tx, id: string, set: Statement): Promise<void> {
  await tx.query(
    sql`SELECT ${verified(sessionState, sql`g`)} FROM signing_sessions g WHERE id = ${id} FOR NO KEY UPDATE`,
  );
  await tx.query(sql`UPDATE signing_sessions SET ${set} WHERE id = ${id}`);
  await writeStateMacs(tx, sessionState, sql`id = ${id}`);
}

export const beginSession = (
  tx: Tx,
  id: string,
  { session, expiresAt, at }: { session: string; expiresAt: Date; at: Date },
) =>
  updateSession(
    tx,
    id,
    sql`session_sha256 = ${tokenSha256(session)}, session_expires_at = ${expiresAt}, identified_at = ${at}`,
  );

export const setSessionConsent = (tx: Tx, id: string, consent: Consent | null) =>
  updateSession(tx, id, sql`consent = ${consent && JSON.stringify(consent)}::jsonb`);

/** Stores that the document's trail now records when the person passed the access step. */
export const citeSession = (tx: Tx, signerId: number, at: Date) =>
  tx.query(sql`UPDATE session_signers SET cited_at = ${at} WHERE signer_id = ${signerId}`);

/** Replaces the link of a signer's session. The earlier link stops working for all documents of the session. */
export async function renewSessionLink(tx: Tx, links: Links, signerId: number): Promise<void> {
  const place = await lockPlace(tx, signerId);
  if (place) await renewLink(tx, links, place.id);
}

async function renewLink(tx: Tx, links: Links, sessionId: string): Promise<void> {
  const linkId = newUuid();
  const token = tokenSha256(links.tokenOf(linkId));
  const noBrowser = sql`session_sha256 = NULL, session_expires_at = NULL, identified_at = NULL`;
  await updateSession(tx, sessionId, sql`link_id = ${linkId}, token_sha256 = ${token}, ${noBrowser}`);
  await tx.query(sql`UPDATE session_signers SET asked_by = NULL WHERE session_id = ${sessionId}`);
}

/** Replaces the links of the signers' sessions. Locks the sessions, so it must run before any of the signers is locked. */
export async function renewLinks(tx: Tx, links: Links, signerIds: readonly number[]): Promise<void> {
  const sessions = await tx.query<{ id: string }>(sql`
    SELECT id FROM signing_sessions WHERE id IN (
      SELECT session_id FROM session_signers WHERE signer_id = ANY (${signerIds}::bigint[])) ORDER BY id FOR NO KEY UPDATE`);
  for (const { id } of sessions) await renewLink(tx, links, id);
}

/** Removes signers from their sessions. The sessions' links stop working, even for the documents that stay in them. */
export async function endAccess(tx: Tx, links: Links, signerIds: readonly number[]): Promise<void> {
  await renewLinks(tx, links, signerIds);
  await tx.query(sql`DELETE FROM session_signers WHERE signer_id = ANY (${signerIds}::bigint[])`);
}

/** Removes the signer from the session. From then on, this document has its own mails and its own link. */
export const leaveSession = (tx: Tx, signerId: number) =>
  tx.query<{ sessionId: string }>(
    sql`DELETE FROM session_signers WHERE signer_id = ${signerId} RETURNING session_id AS "sessionId"`,
  );

/**
 * Adds signers to a session. Document numbers are never reused. Otherwise the open page of a document that left the
 * session could sign another document.
 * @param signers in the order in which their documents are shown, after the documents that are in the session already
 * @throws ServiceError `unavailable` for a session, or a row in it, whose MAC is invalid
 */
export async function joinSession(tx: Tx, sessionId: string, signers: readonly number[]): Promise<void> {
  // Locks the signers before new rows refer to them, because a foreign key takes a weaker lock that could deadlock with
  // a change of a signer's link.
  await tx.query(sql`SELECT FROM envelope_signers WHERE id = ANY (${signers}::bigint[]) ORDER BY id FOR NO KEY UPDATE`);
  await tx.query(
    sql`SELECT ${verified(sessionState, sql`g`)} FROM signing_sessions g WHERE id = ${sessionId} FOR NO KEY UPDATE`,
  );
  await tx.query(sql`
    SELECT ${verified(memberState, sql`m`)} FROM session_signers m WHERE session_id = ${sessionId}
    ORDER BY signer_id FOR NO KEY UPDATE`);
  await tx.query(sql`
    WITH numbered AS (
      UPDATE signing_sessions SET last_n = ${signers.length}
        + greatest(last_n, (SELECT max(n) FROM session_signers WHERE session_id = ${sessionId}))
      WHERE id = ${sessionId} RETURNING last_n)
    INSERT INTO session_signers (session_id, signer_id, n)
    SELECT ${sessionId}, signer_id, last_n - ${signers.length} + position
    FROM numbered, unnest(${signers}::bigint[]) WITH ORDINALITY AS one (signer_id, position)`);
  await writeStateMacs(tx, memberState, sql`signer_id = ANY (${signers}::bigint[])`);
}

/**
 * Gives all documents of a session the highest count of wrong codes and the latest lock among them. So a document that
 * joins the session neither adds tries nor ends a lock.
 */
export async function shareFailures(tx: Tx, sessionId: string): Promise<void> {
  const signers = await tx.query<{ id: number; failures: number; lockedAt: Date | null }>(sql`
    SELECT s.id, s.failures, s.locked_at AS "lockedAt", ${verifiedSigner}
    FROM session_signers m JOIN envelope_signers s ON s.id = m.signer_id WHERE m.session_id = ${sessionId} ORDER BY s.id FOR NO KEY UPDATE OF s`);
  const failures = Math.max(...signers.map((each) => each.failures));
  const lockedAt = signers.reduce<Date | null>(
    (last, each) => ((each.lockedAt ?? 0) > (last ?? 0) ? each.lockedAt : last),
    null,
  );
  const differs = (each: (typeof signers)[number]) =>
    each.failures !== failures || each.lockedAt?.getTime() !== lockedAt?.getTime();
  for (const { id } of signers.filter(differs))
    await updateSigner(tx, id, sql`failures = ${failures}, locked_at = ${lockedAt}`);
}

/** Stores a session without documents for a signer's person. @returns the id of the session */
export async function insertSession(tx: Tx, links: Links, roomId: string, signerId: number, at: Date): Promise<string> {
  const [id, linkId] = [newUuid(), newUuid()];
  await tx.query(sql`
    INSERT INTO signing_sessions (id, room_id, person_sha256, link_id, token_sha256, created_at)
    SELECT ${id}, ${roomId}, ${personOf(sql`s`)}, ${linkId}, ${tokenSha256(links.tokenOf(linkId))}, ${at}
    FROM envelope_signers s WHERE s.id = ${signerId}`);
  await writeStateMacs(tx, sessionState, sql`id = ${id}`);
  return id;
}

/** For each kind of mail that can cover several documents: the column that names the mail that covers a document. */
const claims = { asked_by: sql`asked_by`, copied_by: sql`copied_by`, notarized_by: sql`notarized_by` } as const;

/**
 * Claims several documents of a person for one mail: all that `which` selects, unless another mail has claimed them. A
 * mail that is retried after a crash covers the same documents.
 * @returns the signers whose documents the mail covers
 */
export async function claimForMail(
  tx: Tx,
  sessionId: string,
  { column, mail, which }: { column: keyof typeof claims; mail: string; which: Statement },
): Promise<number[]> {
  const claimed = claims[column];
  await tx.query(sql`SELECT FROM signing_sessions WHERE id = ${sessionId} FOR NO KEY UPDATE`);
  await tx.query(sql`
    UPDATE session_signers m SET ${claimed} = ${mail} FROM envelope_signers s JOIN envelopes e ON e.id = s.envelope_id
    WHERE m.session_id = ${sessionId} AND m.${claimed} IS NULL AND s.id = m.signer_id AND ${which}`);
  const rows = await tx.query<{ signerId: number }>(sql`
    SELECT signer_id AS "signerId" FROM session_signers
    WHERE session_id = ${sessionId} AND ${claimed} = ${mail} ORDER BY n`);
  return rows.map(({ signerId }) => signerId);
}

/**
 * Releases documents that a mail with a signing request had claimed, and queues a separate mail for each that isn't
 * signed.
 * @param sessionId the session whose documents the mail keeps; null to release all documents of the mail
 */
export const releaseFromMail = (db: Sql, queue: string, mail: string, sessionId: string | null) =>
  db.query(sql`
    WITH released AS (
      UPDATE session_signers SET asked_by = NULL
      WHERE asked_by = ${mail} AND session_id IS DISTINCT FROM ${sessionId}::uuid RETURNING signer_id)
    SELECT enqueue_job(${queue}, jsonb_build_object('signerId', s.id, 'moment', 'request', 'linkId', s.link_id), now())
    FROM released JOIN envelope_signers s ON s.id = released.signer_id
    WHERE s.link_id IS NOT NULL AND s.signed_at IS NULL`);

/**
 * Claims the next reminder of a signing session, so that one mail reminds its person of all documents.
 * @returns false when another mail has reminded the person less than `betweenMs` ago
 */
export async function claimReminder(
  db: Sql,
  sessionId: string,
  mail: string,
  at: Date,
  betweenMs: number,
): Promise<boolean> {
  const rows = await db.query(sql`
    UPDATE signing_sessions SET reminded_by = ${mail}, reminded_at = ${at} WHERE id = ${sessionId}
      AND (reminded_at IS NULL OR reminded_at <= ${new Date(at.getTime() - betweenMs)} OR reminded_by = ${mail}) RETURNING 1`);
  return rows.length === 1;
}

import { joinFirm, verifiedFirm } from "../../../firms/partners/partners.ts";
import type { Environment } from "../../../kernel/identity/identity.ts";
import { dayMs } from "../../../kernel/platform/clock.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { isSealed, nothing, type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import {
  markedAll,
  type StateMac,
  verified,
  verifiedAll,
  writeStateMacs,
} from "../../../kernel/platform/database/state-mac.ts";
import type { Language } from "../../../kernel/platform/languages.ts";
import { isVerifyCode } from "../../../kernel/platform/text.ts";
import {
  fromDocuments,
  isHandedIn,
  isSigningSimulated,
  joinOrder,
  latestFirst,
  type OrderStatus,
  signerState,
  verifiedOrder,
  verifiedSigner,
} from "../../../orders/order/order.ts";
import type { SearchMethod } from "../../../orders/search/search.ts";
import type { PreparedField } from "../pdf/fields.ts";
import { envelopeRoomState, joinRoom, roomColumns } from "./rooms.ts";

/** The facts that all code about envelopes needs: the envelope, its order and its firm. */
export type Envelope = {
  id: number;
  attempt: number;
  verifyCode: string;
  fields: PreparedField[];
  pages: number;
  /** True if the service added a last page, for signatures that have no place in the document. */
  hasSignaturePage: boolean;
  createdAt: Date;
  expiresAt: Date;
  outcome: "Completed" | "Declined" | "Expired" | "Voided" | null;
  endedAt: Date | null;
  orderId: number;
  orderCode: string;
  orderStatus: OrderStatus;
  /** True if the sandbox completed the signing, so that nobody's signature is in the document. */
  isSimulated: boolean;
  /** True if an operator handed in the signed document, such as a scan of one that was signed on paper. */
  isTakenIn: boolean;
  /** True if a notary signs after the signers. */
  isNotarized: boolean;
  /** True if the envelope's signers sign in a notary's presence, without mailed links. */
  isInRoom: boolean;
  environment: Environment;
  externalReference: string | null;
  docSlug: string | null;
  /** The encrypted name of the document. */
  documentName: Buffer | null;
  /** The encrypted notices about parts of the document that people may overlook. */
  documentNotices: Buffer | null;
  partnerId: string;
  partnerName: string;
  /** The firm's contact email address; null when it has not set one. */
  partnerContact: string | null;
};

/**
 * The title of a document without a name: the firm's reference, otherwise the slug of the document's type, otherwise
 * `Document`.
 */
export const titleOf = ({ externalReference, docSlug }: Pick<Envelope, "externalReference" | "docSlug">): string =>
  externalReference ?? docSlug ?? "Document";

/** A signer's consent to electronic signatures. */
export type Consent = { version: string; language: Language; textSha256: string; at: string };

export type Auth = "link" | "mail_code" | "access_code" | "text_code";

/** A person who signs. Hashes of credentials are omitted; only the queries that compare these hashes read them. */
export type Signer = {
  id: number;
  n: number;
  name: string;
  email: string;
  /** The phone number in E.164 form. Pages show only its last digits. */
  phone: string | null;
  language: Language;
  routing: number;
  auth: Auth;
  issuedAt: Date | null;
  openedAt: Date | null;
  failures: number;
  lockedAt: Date | null;
  /**
   * The number of codes requested since the last reset. It is reset when the link is issued, when the signer enters a
   * correct code, and when the envelope ends.
   */
  codesRequested: number;
  /** The number of codes requested in the day that began at `codesDayAt`. */
  codesOfDay: number;
  codesDayAt: Date | null;
  consent: Consent | null;
  signedAt: Date | null;
  proposal: { name: string; email: string; at: string } | null;
};

/** The MAC covers all columns of an envelope except the time of its next reminder. */
export const envelopeState: StateMac = {
  table: sql`envelopes`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (
    e,
  ) => sql`${e}.id, ${e}.order_id, ${e}.attempt, ${e}.fields, ${e}.pages, extract(epoch FROM ${e}.created_at),
    extract(epoch FROM ${e}.expires_at), ${e}.outcome, extract(epoch FROM ${e}.ended_at), ${e}.state_version`,
  opened: { column: sql`verify_code`, kind: "envelope" },
};

/**
 * For the select list of a query on `envelopes e`: a column that makes the query throw if the envelope's MAC is not
 * valid.
 */
export const verifiedEnvelope: Statement = verified(envelopeState, sql`e`);

/**
 * True if the signers of the order `o` signed in the notary's presence, and the notary completed the act. The notarized
 * document then contains none of the signatures that they made before the act. The query must also select
 * `verifiedEnvelopesOf`.
 */
export const isSignedInRoom = sql`EXISTS (SELECT FROM envelopes e JOIN envelope_rooms room ON room.envelope_id = e.id
  WHERE e.order_id = o.id AND e.outcome = 'Completed')`;

/**
 * For a select list: verifies all envelopes of orders, and the `envelope_rooms` rows of these envelopes.
 * @param orderIds the orders' ids: a list, or a query
 */
export const verifiedEnvelopesOf = (orderIds: Statement): Statement => envelopesBy(verifiedAll, orderIds);

/**
 * For a select list on orders `o`: the member `isAuthentic`. It is true if the MACs of the order's envelopes, and of
 * their `envelope_rooms` rows, are valid.
 */
export const markedEnvelopes: Statement = envelopesBy(markedAll, sql`o.id`);

function envelopesBy(check: (state: StateMac, row: Statement, from: Statement) => Statement, orderIds: Statement) {
  const ofOrders = sql`e.order_id IN (${orderIds})`;
  // The alias is `act_room`, because callers use the name `room` for aliases and tables.
  const rooms = sql`FROM envelope_rooms AS act_room JOIN envelopes e ON e.id = act_room.envelope_id WHERE ${ofOrders}`;
  return sql`${check(envelopeState, sql`e`, sql`FROM envelopes e WHERE ${ofOrders}`)},
    ${check(envelopeRoomState, sql`act_room`, rooms)}`;
}

/** Finds orders by the email address of a signer, or by the verify code of the order's envelope. */
export const searchMethods: readonly SearchMethod[] = [
  ({ kind, lower }) =>
    kind === "email"
      ? sql`SELECT e.order_id FROM envelope_signers s JOIN envelopes e ON e.id = s.envelope_id WHERE lower(s.email) = ${lower}`
      : null,
  ({ kind, lower }) =>
    kind === "words" && isVerifyCode(lower)
      ? sql`SELECT order_id FROM envelopes WHERE ${isSealed(sql`verify_code`, "envelope", lower)}`
      : null,
];

const envelopeColumns = sql`e.id, e.attempt, e.verify_code AS "verifyCode@envelope", e.fields, e.pages,
  EXISTS (SELECT ${fromDocuments} WHERE d.order_id = o.id AND d.kind = 'original' AND d.pages < e.pages) AS "hasSignaturePage", e.created_at AS "createdAt",
  e.expires_at AS "expiresAt", e.outcome, e.ended_at AS "endedAt", o.id AS "orderId", o.code AS "orderCode@order",
  o.status AS "orderStatus", ${isSigningSimulated} AS "isSimulated", ${isHandedIn(sql`'sealed'`)} AS "isTakenIn", o.notarize AS "isNotarized", ${roomColumns}, o.environment, o.external_reference AS "externalReference", o.doc_slug AS "docSlug",
  o.document_name AS "documentName", o.document_notices AS "documentNotices", o.partner_id AS "partnerId", coalesce(p.brand_name, p.name) AS "partnerName",
  p.contact_email AS "partnerContact", ${verifiedEnvelope}, ${verifiedOrder}, ${verifiedFirm}`;

const fromEnvelopes = sql`FROM envelopes e ${joinOrder(sql`e.order_id`)} ${joinFirm(sql`o.partner_id`)} ${joinRoom}`;

const signerColumns = sql`id, n, name, email, phone, language, routing, auth, issued_at AS "issuedAt", opened_at AS "openedAt",
  failures, locked_at AS "lockedAt", codes_requested AS "codesRequested", codes_of_day AS "codesOfDay",
  codes_day_at AS "codesDayAt", consent, signed_at AS "signedAt", proposal`;

const one = async (db: Sql, where: Statement, lock: Statement = nothing): Promise<Envelope | undefined> => {
  const [envelope] = await db.query<Envelope>(sql`SELECT ${envelopeColumns} ${fromEnvelopes} WHERE ${where} ${lock}`);
  return envelope;
};

export const findEnvelope = (db: Sql, id: number) => one(db, sql`e.id = ${id}`);

export const findEnvelopeByCode = (db: Sql, verifyCode: string) =>
  one(db, isSealed(sql`e.verify_code`, "envelope", verifyCode));

/** The latest envelope of an order. */
export const findEnvelopeOf = (db: Sql, orderId: number) =>
  one(db, sql`e.order_id = ${orderId}`, sql`ORDER BY ${latestFirst(sql`e`)} LIMIT 1`);

/** The envelope of the order that has not ended. An order has at most one. */
export const findOpenEnvelope = (db: Sql, orderId: number) =>
  one(db, sql`e.order_id = ${orderId} AND e.ended_at IS NULL`);

/**
 * Locks the envelope until the transaction ends, so that only one transaction at a time appends to its trail. If the
 * transaction also locks the envelope's order, it must lock the order first.
 */
export const lockEnvelope = (tx: Tx, id: number) => one(tx, sql`e.id = ${id}`, sql`FOR NO KEY UPDATE OF e`);

export const findEnvelopes = (db: Sql, ids: readonly number[]): Promise<Envelope[]> =>
  db.query<Envelope>(sql`SELECT ${envelopeColumns} ${fromEnvelopes} WHERE e.id = ANY (${ids}::bigint[])`);

export const findSigners = (db: Sql, envelopeId: number) => findSignersOf(db, [envelopeId]);

/** The signers of several envelopes. */
export const findSignersOf = (db: Sql, envelopeIds: readonly number[]) =>
  db.query<Signer & { envelopeId: number }>(sql`
    SELECT ${signerColumns}, envelope_id AS "envelopeId", ${verifiedSigner} FROM envelope_signers s
    WHERE envelope_id = ANY (${envelopeIds}::bigint[]) ORDER BY n`);

/**
 * Changes a signer's row, and writes its new MAC.
 * @param only a further condition on the row
 * @returns false when the row does not meet the condition
 * @throws ServiceError `unavailable` for a row whose MAC is invalid
 */
export async function updateSigner(tx: Tx, id: number, set: Statement, only: Statement = sql`true`): Promise<boolean> {
  await tx.query(sql`SELECT ${verifiedSigner} FROM envelope_signers s WHERE s.id = ${id} FOR NO KEY UPDATE`);
  const rows = await tx.query(sql`UPDATE envelope_signers SET ${set} WHERE id = ${id} AND ${only} RETURNING id`);
  if (rows.length > 0) await vouchForSigners(tx, sql`id = ${id}`);
  return rows.length > 0;
}

export const vouchForSigners = (tx: Tx, which: Statement): Promise<void> => writeStateMacs(tx, signerState, which);

/** The signers whose turn it is: those with the lowest routing number among all who have not signed. */
export function signersInTurn<T extends Pick<Signer, "routing" | "signedAt">>(signers: readonly T[]): T[] {
  const left = signers.filter(({ signedAt }) => signedAt === null);
  const first = Math.min(...left.map(({ routing }) => routing));
  return left.filter(({ routing }) => routing === first);
}

/**
 * True if the deadline of an open envelope has passed before everybody signed. The sweep that ends such envelopes may
 * not have run yet.
 */
export const isOverdue = (
  { outcome, expiresAt }: Pick<Envelope, "outcome" | "expiresAt">,
  signers: readonly Pick<Signer, "signedAt">[],
  at: Date,
): boolean =>
  outcome === null && expiresAt.getTime() <= at.getTime() && signers.some(({ signedAt }) => signedAt === null);

/**
 * True if wrong codes have locked the link. A mailed entry link, or a texted long code, works even then and ends the
 * lock.
 *
 * A lock expires after a day, so that a stranger with the link can't lock anyone out permanently. Five guesses a day
 * are too few to find six digits. An access code is chosen by people and easier to guess. So its lock lasts until
 * somebody unlocks the link, or until a day after the lock if the envelope has ended.
 */
export const isLocked = (
  { lockedAt, auth }: Pick<Signer, "lockedAt" | "auth">,
  { endedAt }: Pick<Envelope, "endedAt">,
  at: Date,
): boolean =>
  lockedAt !== null && ((auth === "access_code" && endedAt === null) || lockedAt.getTime() > at.getTime() - dayMs);

export const vouchForEnvelopes = (tx: Tx, which: Statement): Promise<void> => writeStateMacs(tx, envelopeState, which);

/** Ends an envelope. The transaction must have locked it. @returns false when it had already ended */
export async function endEnvelope(
  tx: Tx,
  id: number,
  outcome: NonNullable<Envelope["outcome"]>,
  at: Date,
): Promise<boolean> {
  const ended = await tx.query(sql`
    UPDATE envelopes SET outcome = ${outcome}, ended_at = ${at}, remind_at = NULL
    WHERE id = ${id} AND ended_at IS NULL RETURNING id`);
  if (ended.length === 0) return false;
  await vouchForEnvelopes(tx, sql`id = ${id}`);
  // Resets the count of codes, because codes for the finished copies have a limit of their own.
  await tx.query(sql`UPDATE envelope_signers SET codes_requested = 0 WHERE envelope_id = ${id}`);
  return true;
}

/**
 * True if the signers can act now: the envelope is open and in time, and its order is EsignPending. False for signing
 * in a notary's presence.
 */
export const isOpenToSigners = (envelope: Envelope, signers: readonly Signer[], at: Date): boolean =>
  envelope.endedAt === null && envelope.orderStatus === "EsignPending" && !isOverdue(envelope, signers, at);

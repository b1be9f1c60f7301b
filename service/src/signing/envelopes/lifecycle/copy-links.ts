/** The links through which signers download the copies of a finished document. A firm can end such a link. */
import { auditLine, lastActor } from "../../../kernel/audit/audit.ts";
import type { Owner } from "../../../kernel/identity/identity.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { type Marked, marked, nullIfAltered } from "../../../kernel/platform/database/state-mac.ts";
import { AlteredRecordError, ServiceError } from "../../../kernel/platform/errors.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import { enqueueTimed } from "../../../kernel/platform/jobs/jobs.ts";
import { tokenSha256 } from "../../../kernel/platform/secrets.ts";
import { isCode } from "../../../kernel/platform/text.ts";
import {
  correctionsOf,
  currentEmail,
  documentsDeletedAt,
  fromOrders,
  hasDocument,
  hasOrderCode,
  lockUnalteredOrders,
  orderCodes,
  signerState,
  verifiedOrder,
  verifiedSigner,
} from "../../../orders/order/order.ts";
import type { EnvelopeDeps } from "../records/deps.ts";
import { type Envelope, lockEnvelope, type Signer, updateSigner } from "../records/envelope.ts";
import { leaveSession, ordersOfPerson, renewLinks } from "../records/sessions.ts";
import { signingMailQueue } from "./issue-link.ts";

/**
 * A signer's link to the copies. `attempt` is the number of the envelope, because an order can have several envelopes,
 * one after another.
 */
export type CopyLink = {
  attempt: number;
  /** The signer's number. */
  n: number;
  name: string;
  email: string;
  issuedAt: Date;
};

type Row = CopyLink & { id: number; envelopeId: number; orderId: number };

const rowsOf = (db: Sql, orderCode: string, { partnerId, environment }: Owner): Promise<Row[]> =>
  db.query<Row>(sql`
    SELECT s.id, e.id AS "envelopeId", o.id AS "orderId", e.attempt, s.n, s.name, s.email, s.issued_at AS "issuedAt", ${verifiedSigner}, ${verifiedOrder}
    ${fromOrders} JOIN envelopes e ON e.order_id = o.id JOIN envelope_signers s ON s.envelope_id = e.id
    WHERE ${hasOrderCode(orderCode)} AND o.partner_id = ${partnerId} AND o.environment = ${environment}
      AND e.outcome = 'Completed' AND s.token_sha256 IS NOT NULL ORDER BY s.n, e.attempt`);

/** The valid links to the copies of an order; empty until one of its envelopes is completed. */
export async function copyLinksOf(db: Sql, orderCode: string, owner: Owner): Promise<CopyLink[]> {
  const rows = await rowsOf(db, orderCode, owner);
  const corrections = rows[0] ? await correctionsOf(db, rows[0].orderId) : [];
  return rows.map(({ attempt, n, name, issuedAt, ...signer }) => {
    const email = currentEmail(corrections, { name, email: signer.email });
    return { attempt, n, name, email, issuedAt };
  });
}

/**
 * Creates a new link for a signer who has signed. It opens the copies once the envelope is completed. The signer's
 * earlier link and codes stop working, and a lock by wrong codes is removed. The caller must have locked the envelope
 * and the sessions. The trail gets no record of this link, because it records only links that request a signature.
 */
export async function issueCopyLink(
  tx: Tx,
  { links }: EnvelopeDeps["reach"],
  { envelope, signer: { id, n } }: { envelope: Envelope; signer: Pick<Signer, "id" | "n"> },
  { at, actor }: { at: Date; actor: string },
): Promise<void> {
  const linkId = newUuid();
  await updateSigner(
    tx,
    id,
    sql`link_id = ${linkId}, token_sha256 = ${tokenSha256(links.tokenOf(linkId))}, issued_at = ${at},
      session_sha256 = NULL, session_expires_at = NULL, code_id = NULL, code_sent_at = NULL, codes_requested = 0,
      codes_of_day = 0, codes_day_at = NULL, failures = 0, locked_at = NULL`,
  );
  const { partnerId, orderId, attempt } = envelope;
  const line = { at, action: "signer.copy_link_issued", actor, detail: { signer: n, attempt } };
  await tx.query(auditLine({ ...line, partnerId, orderId }));
}

/**
 * Queues mails with the new links of people who have signed. One mail covers a person's documents in a closing. Leaves
 * out orders whose documents were deleted. Also leaves out a document that others still have to sign, because its mail
 * follows later. If the sandbox simulated a notarization, the mail does not call the document notarized.
 */
export async function mailCopiesAgain(tx: Tx, signerIds: readonly number[]): Promise<void> {
  await tx.query(sql`
    UPDATE session_signers SET copied_by = NULL, notarized_by = NULL WHERE signer_id = ANY (${signerIds}::bigint[])`);
  const done = await tx.query<{ signerId: number; isNotarized: boolean; documentsDeletedAt: Date | null }>(sql`
    SELECT s.id AS "signerId", ${hasDocument(sql`e.order_id`, "notarized")}
        AND ${lastActor(sql`e.order_id`, "NotarizationComplete")} IS DISTINCT FROM 'sandbox' AS "isNotarized", ${documentsDeletedAt(sql`e.order_id`)}
    FROM envelope_signers s JOIN envelopes e ON e.id = s.envelope_id
    WHERE s.id = ANY (${signerIds}::bigint[]) AND e.outcome = 'Completed' AND s.token_sha256 IS NOT NULL ORDER BY s.id`);
  for (const { signerId, isNotarized, documentsDeletedAt } of done)
    if (documentsDeletedAt === null)
      await enqueueTimed(tx, signingMailQueue, { signerId, moment: isNotarized ? "notarized" : "signed" });
}

type EndRequest = { owner: Owner; orderCode: string; attempt: number; n: number; actor: string };

/**
 * Ends a signer's link to the copies at once, for example after it was mailed to a wrong address. A link to several
 * documents of a closing ends for all of them. Documents that the person has yet to sign get another link, which the
 * next reminder mails.
 *
 * The record of one of these other documents may have been altered. That record stays unchanged, but the ended link
 * doesn't open that document either.
 * @returns `isWhole` is false if such a record stayed unchanged
 * @throws ServiceError `not_found` for an unknown order or link; `conflict` when the closing changed at the same time
 */
export async function endCopyLink(
  { db, clock, reach }: Pick<EnvelopeDeps, "db" | "clock" | "reach">,
  { owner, orderCode, attempt, n, actor }: EndRequest,
): Promise<{ isWhole: boolean }> {
  return db.transaction(async (tx) => {
    const find = async () =>
      (isCode(orderCode) ? await rowsOf(tx, orderCode, owner) : []).find(
        (each) => each.attempt === attempt && each.n === n,
      );
    const notFound = new ServiceError("not_found", "There is no such link. Perhaps it was ended already.");
    const seen = await find();
    if (!seen) throw notFound;
    const orderIds = (await ordersOfPerson(tx, seen.id)).map(({ orderId }) => orderId);
    await lockUnalteredOrders(tx, [...(await orderCodes(tx, orderIds)).values()]);
    const link = await find();
    if (!link) throw notFound;
    const opened = await openedWith(tx, link.id);
    if (opened.some(({ orderId }) => !orderIds.includes(orderId)))
      throw new ServiceError("conflict", "The closing was changed at the same time. Try again.");
    // Locks are taken in the usual sequence: orders, envelopes, the session, signers.
    const intact: OpenedSigner[] = [];
    for (const each of opened) {
      const envelope = await lockEnvelope(tx, each.envelopeId).catch(nullIfAltered);
      if (envelope && each.isAuthentic) intact.push(each);
    }
    if (intact.every(({ id }) => id !== link.id)) throw new AlteredRecordError();
    await renewLinks(
      tx,
      reach.links,
      intact.map(({ id }) => id),
    );
    for (const each of intact) await endLink(tx, reach, each, { owner, actor, at: clock() });
    return { isWhole: intact.length === opened.length };
  });
}

type OpenedSigner = { id: number; n: number; envelopeId: number; attempt: number; orderId: number; isDone: boolean };

/** The signer's row, and the same person's rows for the other documents that the link opens. */
const openedWith = (tx: Tx, signerId: number) =>
  tx.query<OpenedSigner & Marked>(sql`
    SELECT s.id, s.n, e.id AS "envelopeId", e.attempt, e.order_id AS "orderId", e.ended_at IS NOT NULL AS "isDone", ${marked(signerState, sql`s`)}
    FROM envelope_signers s JOIN envelopes e ON e.id = s.envelope_id
    WHERE s.id = ${signerId} OR s.id IN (
      SELECT other.signer_id FROM session_signers own JOIN session_signers other ON other.session_id = own.session_id
      WHERE own.signer_id = ${signerId}) ORDER BY e.id, s.id`);

async function endLink(
  tx: Tx,
  { links }: EnvelopeDeps["reach"],
  { id, n, attempt, orderId, isDone }: OpenedSigner,
  { owner: { partnerId }, actor, at }: Pick<EndRequest, "owner" | "actor"> & { at: Date },
): Promise<void> {
  const linkId = isDone ? null : newUuid();
  const token = linkId && tokenSha256(links.tokenOf(linkId));
  if (isDone) await leaveSession(tx, id);
  await updateSigner(
    tx,
    id,
    sql`link_id = ${linkId}, token_sha256 = ${token}, session_sha256 = NULL, session_expires_at = NULL, code_id = NULL`,
  );
  const line = { at, action: "signer.copy_link_ended", actor, detail: { signer: n, attempt } };
  await tx.query(auditLine({ ...line, partnerId, orderId }));
}

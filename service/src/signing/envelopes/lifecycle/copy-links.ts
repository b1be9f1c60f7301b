/** The links through which signers download the copies of a finished document. A firm can end such a link. */
import { auditLine } from "../../../kernel/audit/audit.ts";
import type { Owner } from "../../../kernel/identity/identity.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { isCode } from "../../../kernel/platform/text.ts";
import { fromOrders, hasOrderCode, lockOrder, verifiedOrder, verifiedSigner } from "../../../orders/order/order.ts";
import type { EnvelopeDeps } from "../records/deps.ts";
import { lockEnvelope, updateSigner } from "../records/envelope.ts";
import { leaveSession } from "../records/sessions.ts";

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

type Row = CopyLink & { id: number; envelopeId: number };

const rowsOf = (db: Sql, orderCode: string, { partnerId, environment }: Owner): Promise<Row[]> =>
  db.query<Row>(sql`
    SELECT s.id, e.id AS "envelopeId", e.attempt, s.n, s.name, s.email, s.issued_at AS "issuedAt", ${verifiedSigner}, ${verifiedOrder}
    ${fromOrders} JOIN envelopes e ON e.order_id = o.id JOIN envelope_signers s ON s.envelope_id = e.id
    WHERE ${hasOrderCode(orderCode)} AND o.partner_id = ${partnerId} AND o.environment = ${environment}
      AND e.outcome = 'Completed' AND s.token_sha256 IS NOT NULL ORDER BY s.n, e.attempt`);

/** The valid links to the copies of an order; empty while people sign. */
export const copyLinksOf = async (db: Sql, orderCode: string, owner: Owner): Promise<CopyLink[]> =>
  (await rowsOf(db, orderCode, owner)).map(({ id: _, envelopeId: __, ...link }) => link);

type EndRequest = { owner: Owner; orderCode: string; attempt: number; n: number; actor: string };

/**
 * Ends a signer's link to the copies at once, for example after it was mailed to a wrong address. If the link opens
 * several documents of a closing, only this document is removed from it.
 * @throws ServiceError `not_found` for an unknown order or link
 */
export async function endCopyLink(
  { db, clock }: Pick<EnvelopeDeps, "db" | "clock">,
  request: EndRequest,
): Promise<void> {
  const { owner, orderCode, attempt, n, actor } = request;
  await db.transaction(async (tx) => {
    const order = isCode(orderCode) ? await lockOrder(tx, orderCode) : undefined;
    if (!order) throw new ServiceError("not_found", "Order not found.");
    const links = await rowsOf(tx, orderCode, owner);
    const link = links.find((each) => each.attempt === attempt && each.n === n);
    if (!link) throw new ServiceError("not_found", "There is no such link. Perhaps it was ended already.");
    await lockEnvelope(tx, link.envelopeId);
    await leaveSession(tx, link.id);
    await updateSigner(
      tx,
      link.id,
      sql`link_id = NULL, token_sha256 = NULL, session_sha256 = NULL, session_expires_at = NULL, code_id = NULL`,
    );
    const detail = { signer: n, attempt };
    const line = { at: clock(), action: "signer.copy_link_ended", actor, detail };
    await tx.query(auditLine({ ...line, partnerId: owner.partnerId, orderId: order.id }));
  });
}

/** Mails the people who signed an order's document that a notary has notarized it, with a link to their copies. */
import { auditLine, lastActor } from "../../../kernel/audit/audit.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import { enqueueAfter, enqueueTimed } from "../../../kernel/platform/jobs/jobs.ts";
import { joinOrder, verifiedOrder } from "../../../orders/order/order.ts";
import type { EnvelopeDeps } from "../records/deps.ts";
import { type Envelope, findSignersOf, lockEnvelope, type Signer, updateSigner } from "../records/envelope.ts";
import { tokenSha256 } from "../records/link-tokens.ts";
import { signingMailQueue } from "./issue-link.ts";

type NotarizedDeps = Pick<EnvelopeDeps, "db" | "clock" | "reach">;

/**
 * A completed envelope of an order. `isTakenIn`: an operator handed the notarized document in. `isSimulated`: the
 * sandbox made it, and no notary.
 */
type Completed = { id: number; client: string; isTakenIn: boolean; isSimulated: boolean };

/**
 * Queues a mail to everybody who signed the order's document, except its client, whose mail about the completed order
 * leads to all documents. Safe to run again after a crash: a signer keeps the link, and a repeated mail has the same id.
 */
export async function mailNotarized({ db, clock, reach }: NotarizedDeps, orderId: number): Promise<void> {
  await db.transaction(async (tx) => {
    // The newest comes first: people who signed again before the notary signed an envelope of their own there.
    const completed = await tx.query<Completed>(sql`
      SELECT e.id, lower(o.customer_email) AS client, 'notarized' = ANY (o.taken_in) AS "isTakenIn",
        ${lastActor(sql`o.id`, "NotarizationComplete")} = 'sandbox' AS "isSimulated", ${verifiedOrder}
      FROM envelopes e ${joinOrder(sql`e.order_id`)} WHERE e.order_id = ${orderId} AND e.outcome = 'Completed'
      ORDER BY e.attempt DESC`);
    const [newest] = completed;
    const envelope = newest && (await lockEnvelope(tx, newest.id));
    if (!envelope || envelope.isSimulated || newest.isSimulated) return;
    const all = await findSignersOf(
      tx,
      completed.map(({ id }) => id),
    );
    // The service does not disturb people at night for what an operator did. After an act before a notary here, they
    // wait for their copy.
    const waits = newest.isTakenIn && envelope.environment === "live";
    const nightMs = waits ? await reach.untilMorning(envelope.partnerId) : 0;
    for (const signer of all) {
      if (signer.envelopeId !== envelope.id || signer.email.toLowerCase() === newest.client) continue;
      const signerId = linkHolder(signer, all)?.id ?? (await issueCopyLink(tx, reach, envelope, signer, clock()));
      const mail = { signerId, moment: "notarized" } as const;
      if (nightMs > 0) await enqueueAfter(tx, signingMailQueue, mail, nightMs);
      else await enqueueTimed(tx, signingMailQueue, mail);
    }
  });
}

/** The row of the same person that has a link: of this envelope, or of one that they signed at home before. */
const linkHolder = ({ name, email }: Signer, all: readonly Signer[]): Signer | undefined =>
  all.findLast(
    (each) => each.issuedAt !== null && each.name === name && each.email.toLowerCase() === email.toLowerCase(),
  );

/**
 * Gives a signer a first link, after they signed before a notary. The envelope has ended, so the link can only open
 * copies, and its trail gets no record: the firm would be told that a signature was requested.
 * @returns the signer's id
 */
async function issueCopyLink(
  tx: Tx,
  { links }: EnvelopeDeps["reach"],
  { partnerId, orderId, attempt }: Envelope,
  { id, n }: Signer,
  at: Date,
): Promise<number> {
  const linkId = newUuid();
  const token = tokenSha256(links.tokenOf(linkId));
  await updateSigner(tx, id, sql`link_id = ${linkId}, token_sha256 = ${token}, issued_at = ${at}`);
  const detail = { signer: n, attempt };
  await tx.query(auditLine({ at, action: "signer.copy_link_issued", actor: "system", partnerId, orderId, detail }));
  return id;
}

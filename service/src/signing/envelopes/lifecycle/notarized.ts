/** Sends mails to the people who signed an order's document, after a notary has notarized it. */
import { lastActor } from "../../../kernel/audit/audit.ts";
import { dayMs, minuteMs } from "../../../kernel/platform/clock.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { enqueueAfter, enqueueTimed } from "../../../kernel/platform/jobs/jobs.ts";
import {
  correctionsOf,
  currentEmail,
  fromOrders,
  isHandedIn,
  isSigningSimulated,
  readSigning,
  signersOf,
  verifiedOrder,
} from "../../../orders/order/order.ts";
import type { EnvelopeDeps } from "../records/deps.ts";
import { type Envelope, findSignersOf, lockEnvelope, type Signer } from "../records/envelope.ts";
import {
  findUnnotified,
  insertNotified,
  isSamePerson,
  type MailKind,
  type Person,
} from "../records/notarized-mails.ts";
import { blockOf } from "../records/rooms.ts";
import { issueCopyLink } from "./copy-links.ts";
import { signingMailQueue } from "./issue-link.ts";

/** The queue of mails without a link; payload `{orderId, n}`, with the signer's number. */
export const notarizedNoticeQueue = "notarized-notice";

type NotarizedDeps = Pick<EnvelopeDeps, "db" | "clock" | "rowMac" | "reach">;

/**
 * `isTakenIn`: an operator uploaded the notarized document. `isSimulated`: the sandbox simulated the signature or the
 * notarization.
 */
type Notarized = Pick<Envelope, "partnerId" | "environment"> & { isTakenIn: boolean; isSimulated: boolean };

type SignerRow = Signer & { envelopeId: number };

/**
 * Queues a mail to everybody who signed the order's document, except its client. The client's own mail about the
 * completed order links to all documents. Queues no mails if the sandbox simulated the signature or the notarization.
 * Idempotent.
 *
 * A person gets a link if they already have one, or if they proved their email address. They proved it if they joined
 * the notary by audio and video, with a mailed code. All others get a notice without a link, because their address is
 * unverified.
 */
export async function mailNotarized({ db, clock, rowMac, reach }: NotarizedDeps, orderId: number): Promise<void> {
  await db.transaction(async (tx) => {
    const [order] = await tx.query<Notarized>(sql`
      SELECT o.partner_id AS "partnerId", o.environment, ${isHandedIn(sql`'notarized'`)} AS "isTakenIn",
        ${isSigningSimulated} OR ${lastActor(sql`o.id`, "NotarizationComplete")} IS NOT DISTINCT FROM 'sandbox' AS "isSimulated", ${verifiedOrder}
      ${fromOrders} WHERE o.id = ${orderId}`);
    if (!order) return;
    const { envelope, rows } = await completedOf(tx, orderId);
    const facts = await readSigning(tx, rowMac, orderId);
    const isRemote = envelope !== undefined && (await blockOf(tx, envelope.id))?.isRemote === true;
    const corrections = await correctionsOf(tx, orderId);
    const people = signersOf(facts).map((person, index) => {
      const isClient = currentEmail(corrections, person).toLowerCase() === facts.customerEmail.toLowerCase();
      const own = rows.find((row) => row.envelopeId === envelope?.id && isSamePerson(row, person));
      const holder = linkHolder(person, rows);
      const mailKind: MailKind =
        order.isSimulated || isClient ? "none" : holder || (isRemote && own?.signedAt) ? "link" : "notice";
      return { n: index + 1, mailKind, own, holder };
    });
    if (!(await insertNotified(tx, orderId, new Map(people.map(({ n, mailKind }) => [n, mailKind]))))) return;
    // After an operator's upload, no mail is sent at night. After an act by a notary of this service, the signers
    // expect their copy at once.
    const waits = order.isTakenIn && order.environment === "live";
    const nightMs = waits ? await reach.untilMorning(order.partnerId) : 0;
    const queue = (name: string, mail: object) =>
      nightMs > 0 ? enqueueAfter(tx, name, mail, nightMs) : enqueueTimed(tx, name, mail);
    for (const { n, mailKind, own, holder } of people) {
      if (mailKind === "notice") await queue(notarizedNoticeQueue, { orderId, n });
      if (mailKind !== "link" || !envelope) continue;
      if (!holder && own) await issueCopyLink(tx, reach, { envelope, signer: own }, { at: clock(), actor: "system" });
      const signerId = holder?.id ?? own?.id;
      if (signerId !== undefined) await queue(signingMailQueue, { signerId, moment: "notarized" });
    }
  });
}

/**
 * Locks the newest completed envelope of an order, and returns it. `rows` are the signers of all completed envelopes of
 * the order, newest envelope first. People who signed again in the notary's presence have a separate envelope for that.
 */
async function completedOf(tx: Tx, orderId: number): Promise<{ envelope?: Envelope; rows: readonly SignerRow[] }> {
  const completed = await tx.query<{ id: number }>(sql`
    SELECT e.id FROM envelopes e WHERE e.order_id = ${orderId} AND e.outcome = 'Completed' ORDER BY e.attempt DESC`);
  const [newest] = completed;
  const envelope = newest && (await lockEnvelope(tx, newest.id));
  if (!envelope) return { rows: [] };
  const ids = completed.map(({ id }) => id);
  return { envelope, rows: newestFirst(ids, await findSignersOf(tx, ids)) };
}

/** Sorts signers by the position of their envelope in `ids`. Signers of one envelope keep their order. */
export const newestFirst = <Row extends { envelopeId: number }>(ids: readonly number[], rows: readonly Row[]): Row[] =>
  rows.toSorted((one, other) => ids.indexOf(one.envelopeId) - ids.indexOf(other.envelopeId));

/**
 * The person's row that has a link: in the newest envelope, or in an earlier one that the person signed by a mailed
 * link.
 */
export const linkHolder = <Row extends Person & Pick<Signer, "issuedAt">>(person: Person, rows: readonly Row[]) =>
  rows.find((each) => each.issuedAt !== null && isSamePerson(each, person));

const sweptMs = 2 * dayMs;
const lateMs = 15 * minuteMs;

/**
 * Queues the mails for documents that a node of an earlier release notarized during a rolling update: such a node
 * queues no mails. Safe to run on several nodes at once.
 */
export async function mailForgotten(deps: NotarizedDeps & Pick<EnvelopeDeps, "log">, stopping?: AbortSignal) {
  const now = deps.clock().getTime();
  const [since, before] = [new Date(now - sweptMs), new Date(now - lateMs)];
  let last = 0;
  // Reads page by page, so that orders that fail don't keep later orders from being read.
  for (;;) {
    const orderIds = await findUnnotified(deps.db, since, before, last);
    for (const orderId of orderIds) {
      if (stopping?.aborted) return;
      // An order that fails is skipped, so that it doesn't delay the next ones.
      await mailNotarized(deps, orderId).catch((error: Error) =>
        deps.log.error({ err: error, orderId }, "the signers of a notarized order can't be mailed"),
      );
    }
    const next = orderIds.at(-1);
    if (next === undefined) return;
    last = next;
  }
}

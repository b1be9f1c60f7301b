/** The documents about money that a bank took back from payments, and their sum. */
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { creditPart, insertDocument, lockedBooks, type NewDocument, type Note } from "./documents.ts";

/** SQL expression: the cents that the document `d` adds to the loss of its payment; below zero for a reversal. */
export const lossCents = (d: Statement): Statement =>
  sql`CASE ${d}.kind WHEN 'loss' THEN ${d}.part_cents WHEN 'loss_reversal' THEN -${d}.part_cents ELSE 0 END`;

/**
 * SQL expression: the cents of a payment's losses that were not reversed. The banks did not return them, and no credit
 * note replaced them.
 */
export const lostCentsOf = (paymentId: Statement): Statement =>
  sql`(SELECT coalesce(sum(${lossCents(sql`l`)}), 0) FROM billing_documents l WHERE l.payment_id = ${paymentId})::float8`;

/**
 * Books the part of a payment that the bank finally took back. The document is a loss and not a credit note, because
 * the firm still owes the price.
 * @returns the cents of this payment that were lost
 */
export async function bookLoss(
  tx: Tx,
  paymentId: number,
  { dispute, cents }: { dispute: string; cents: number },
  at: Date,
): Promise<number> {
  const { subject, rest, notes } = await lockedBooks(tx, paymentId);
  const losses = lossesOf(notes, dispute);
  const last = losses.at(-1);
  if (last && (!isReversed(notes, last) || settlementOf(notes, last))) return last.partCents ?? 0;
  // The service may lose the same dispute again after the bank reversed its decision. So each loss has its own name.
  const name = last ? `${dispute}:${losses.length + 1}` : dispute;
  const lost = Math.min(cents, rest);
  if (lost > 0) await insertDocument(tx, subject, paymentId, { kind: "loss", refund: name, partCents: lost }, at);
  // If the order was refunded before, a credit note replaces this loss at once, because the firm doesn't owe the price.
  if (lost > 0 && subject.isRefunded) await settlePayment(tx, paymentId, at);
  return lost;
}

/**
 * The cents that the lost dispute took from the payment; null without a loss, or if it was reversed. A loss that a
 * credit note replaced still counts.
 */
export async function lossBy(tx: Tx, paymentId: number, dispute: string): Promise<number | null> {
  const { notes } = await lockedBooks(tx, paymentId);
  const last = lossesOf(notes, dispute).at(-1);
  return last && (!isReversed(notes, last) || settlementOf(notes, last)) ? (last.partCents ?? 0) : null;
}

/** The losses by a dispute, oldest first. All but the last are reversed. */
const lossesOf = (notes: readonly Note[], dispute: string): Note[] =>
  notes.filter(({ kind, refund }) => kind === "loss" && (refund === dispute || refund.startsWith(`${dispute}:`)));

const isReversed = (notes: readonly Note[], { refund }: Note): boolean =>
  notes.some((each) => each.refund === `reversed:${refund}`);

/** The credit note that replaced a loss; undefined when that credit note was reversed. */
const settlementOf = (notes: readonly Note[], { refund }: Note): Note | undefined =>
  notes.find((each) => each.refund === `settled:${refund}` && !isReversed(notes, each));

/**
 * Reverses a loss after the bank has reversed its decision. If a credit note replaced the loss because the order was
 * refunded, also reverses that credit note: the payer has not received the money, and the service owes it.
 * @returns the cents of that credit note; 0 for none
 */
export async function reverseLoss(tx: Tx, paymentId: number, dispute: string, at: Date): Promise<number> {
  const { subject, notes } = await lockedBooks(tx, paymentId);
  await unbookLoss(tx, paymentId, dispute, at);
  const settled = lossesOf(notes, dispute).flatMap((each) => settlementOf(notes, each) ?? [])[0];
  if (!settled) return 0;
  const partCents = settled.partCents ?? 0;
  const document = { kind: "credit_reversal", refund: `reversed:${settled.refund}`, partCents } as const;
  return (await insertDocument(tx, subject, paymentId, document, at)) ? partCents : 0;
}

/** Reverses a loss once. If a refund of the order replaced the loss by a credit note, that credit note stays. */
export async function unbookLoss(tx: Tx, paymentId: number, dispute: string, at: Date): Promise<void> {
  const { subject, notes } = await lockedBooks(tx, paymentId);
  const loss = lossesOf(notes, dispute).find((each) => !isReversed(notes, each));
  if (loss) await insertDocument(tx, subject, paymentId, reversalOf(loss), at);
}

const reversalOf = ({ refund, partCents }: Note): NewDocument => ({
  kind: "loss_reversal",
  refund: `reversed:${refund}`,
  partCents,
});

/** Replaces the loss documents of all payments of a refunded order by credit notes. @returns the credited cents */
export async function settleLosses(tx: Tx, orderId: number, at: Date): Promise<number> {
  const payments = await tx.query<{ id: number }>(sql`SELECT id FROM payments WHERE order_id = ${orderId} ORDER BY id`);
  let settled = 0;
  for (const { id } of payments) settled += await settlePayment(tx, id, at);
  return settled;
}

/**
 * Replaces the loss documents of a payment by credit notes. Call this when the payment's order was refunded: the firm
 * then no longer owes the price that the bank took back.
 * @returns the credited cents
 */
async function settlePayment(tx: Tx, paymentId: number, at: Date): Promise<number> {
  const { subject, notes } = await lockedBooks(tx, paymentId);
  let settled = 0;
  for (const loss of notes.filter(({ kind }) => kind === "loss")) {
    if (isReversed(notes, loss)) continue;
    await insertDocument(tx, subject, paymentId, reversalOf(loss), at);
    const credit = { refund: `settled:${loss.refund}`, partCents: loss.partCents ?? 0 };
    settled += await creditPart(tx, paymentId, credit, at);
  }
  return settled;
}

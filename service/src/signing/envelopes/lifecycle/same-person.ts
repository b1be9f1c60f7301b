import type { Owner } from "../../../kernel/identity/identity.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { nullIfAltered } from "../../../kernel/platform/database/state-mac.ts";
import { fromOrders, hasOrderCode, type LockedOrder, lockOrders, signersOf } from "../../../orders/order/order.ts";
import type { EnvelopeDeps } from "../records/deps.ts";
import { findOpenEnvelope, findSigners, lockEnvelope } from "../records/envelope.ts";
import { findSigning } from "../records/signing.ts";
import type { LockedSigner } from "./change-signer.ts";

/** The closings that contain an order, each with the ids of the firm's orders in it. */
export type ClosingsWith = (db: Sql, orderId: number) => Promise<readonly { orders: readonly number[] }[]>;

type Person = { name: string; email: string };

/** True if two signers are one person: the same name and email address, ignoring letter case. */
export const isSame = (one: Person, other: Person): boolean =>
  one.name.toLowerCase() === other.name.toLowerCase() && one.email.toLowerCase() === other.email.toLowerCase();

// Statuses in which a document is still to be signed, now or later.
const toBeSigned = [
  "ManualQuoteRequired",
  "QuoteReady",
  "AwaitingPayment",
  "PaymentFailed",
  "Paid",
  "EsignPending",
  "EsignDeclined",
  "EsignExpired",
];

// For an order on hold, the status to which it will return decides.
const isToBeSigned = sql`CASE o.status WHEN 'OnHold' THEN o.status_before_hold ELSE o.status END = ANY (${toBeSigned}::text[])`;

/** The codes of the firm's other orders that are in the same closings and are still to be signed. */
export async function othersOfClosing(
  db: Sql,
  closingsOf: ClosingsWith,
  orderCode: string,
  { partnerId, environment }: Owner,
): Promise<string[]> {
  const [own] = await db.query<{ id: number }>(sql`SELECT o.id ${fromOrders} WHERE ${hasOrderCode(orderCode)}`);
  const ids = own ? (await closingsOf(db, own.id)).flatMap(({ orders }) => orders) : [];
  const others = await db.query<{ code: string }>(sql`
    SELECT o.code AS "code@order" ${fromOrders}
    WHERE o.id = ANY (${ids}::bigint[]) AND o.id <> ${own?.id ?? 0} AND o.partner_id = ${partnerId}
      AND o.environment = ${environment} AND (o.sign OR o.notarize) AND ${isToBeSigned}`);
  return others.map(({ code }) => code);
}

/**
 * For each signer of an order, by number: how many other documents this person has to sign in the order's closings. A
 * signer without any is missing from the result. Orders with an altered record are not counted.
 */
export async function documentsElsewhere(
  db: Sql,
  closingsOf: ClosingsWith,
  { orderCode, owner, signers }: { orderCode: string; owner: Owner; signers: readonly (Person & { n: number })[] },
): Promise<ReadonlyMap<number, number>> {
  const counts = new Map<number, number>();
  if (signers.length === 0) return counts;
  for (const code of await othersOfClosing(db, closingsOf, orderCode, owner)) {
    const left = await signersLeft(db, code, owner).catch(nullIfAltered);
    if (left === null) continue;
    for (const signer of signers)
      if (left.some((other) => isSame(other, signer))) counts.set(signer.n, (counts.get(signer.n) ?? 0) + 1);
  }
  return counts;
}

/** The people who have yet to sign an order. */
async function signersLeft(db: Sql, code: string, owner: Owner): Promise<readonly Person[]> {
  const found = await findSigning(db, code, owner);
  if (!found) return [];
  const { envelope, order } = found;
  const open = envelope && envelope.endedAt === null ? await findSigners(db, envelope.id) : null;
  return open?.filter(({ signedAt }) => signedAt === null) ?? signersOf(order);
}

/**
 * The other orders that a person still has to sign: those with an open envelope, and those whose next envelope is not
 * open yet.
 */
export type Further = { open: LockedSigner[]; next: { order: LockedOrder; n: number }[] };

/**
 * Locks the other orders that a replaced signer (`former`) still has to sign, and their open envelopes. Skips orders in
 * which the replacement (`person`) is already a signer.
 */
export async function lockFurther(
  tx: Tx,
  {
    clock,
    readSigners,
  }: Pick<EnvelopeDeps, "clock"> & { readSigners: (orderId: number) => Promise<readonly Person[]> },
  codes: readonly string[],
  { former, person }: { former: Person; person: Person },
): Promise<Further> {
  const further: Further = { open: [], next: [] };
  for (const order of await lockOrders(tx, codes)) {
    const status = order.status === "OnHold" ? order.statusBeforeHold : order.status;
    if (status === null || !toBeSigned.includes(status)) continue;
    const found = await findOpenEnvelope(tx, order.id);
    const envelope = found && (await lockEnvelope(tx, found.id));
    if (envelope && envelope.endedAt === null) {
      const signers = await findSigners(tx, envelope.id);
      const signer = signers.find((each) => each.signedAt === null && isSame(each, former));
      if (signer && !signers.some((each) => isSame(each, person)))
        further.open.push({ envelope, signers, signer, at: clock() });
    } else {
      const signers = await readSigners(order.id);
      const index = signers.findIndex((each) => isSame(each, former));
      if (index >= 0 && !signers.some((each) => isSame(each, person))) further.next.push({ order, n: index + 1 });
    }
  }
  return further;
}

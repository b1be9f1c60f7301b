/**
 * The processor's account. After the operator configures another account, the new one doesn't have the objects of the
 * earlier one. So an unknown object doesn't prove that no money has moved.
 */
import type { Environment } from "../../../kernel/identity/identity.ts";
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Database, Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { type Marked, marked } from "../../../kernel/platform/database/state-mac.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { enqueue } from "../../../kernel/platform/jobs/jobs.ts";
import { fromOrders, orderState } from "../../order/order.ts";
import { type Processor, processorFor } from "./processor.ts";

/**
 * The processor at which the order is paid; null for none. Ignores the environment of an altered order, because a
 * checkout that may be open at the processor must still be closed.
 */
export async function processorOfOrder(
  db: Sql,
  processor: Processor | null,
  orderId: number,
): Promise<Processor | null> {
  const [order] = await db.query<{ environment: Environment } & Marked>(sql`
    SELECT o.environment, ${marked(orderState, sql`o`)} ${fromOrders} WHERE o.id = ${orderId}`);
  return order?.isAuthentic ? processorFor(processor, order.environment) : processor;
}

/** The queue of the job that runs after the processor's account was changed; the payload is empty. */
export const accountQueue = "processor-account";

type AccountDeps = { db: Database; clock: Clock; processor: Processor | null };

/**
 * For each processor: the name of its account; null for a key that may not read it. After a processor has answered, it
 * is not asked again by this process. A second answer could replace a newer account that another node has recorded
 * since. Only tests have several processors in one process.
 */
const names = new WeakMap<Processor, Promise<string | null>>();

/**
 * The name of the account that this process uses; null without a processor, or when it is unknown. A key that may not
 * read its account is treated as a key of the last recorded account. Asks the processor until it has answered once. The
 * first node that finds another account than the last one records it.
 * @throws ServiceError `processor_failed`; `unavailable` for a test-mode key that may not read its account, while a
 * live account is in use
 */
export async function presentAccount({ db, clock, processor }: AccountDeps): Promise<string | null> {
  if (!processor) return null;
  const found = names.get(processor) ?? register({ db, clock, processor });
  names.set(processor, found);
  found.catch(() => names.delete(processor));
  const name = await found;
  if (name !== null) return name;
  const why = await whyUnreadIsRefused(db, processor);
  if (why !== null) throw notAvailable(why);
  return (await lastOnRecord(db))?.account ?? null;
}

/** The reason why payments are refused with a key that may not read its account; null when they are allowed. */
export async function whyUnreadIsRefused(db: Sql, { testMode }: Pick<Processor, "testMode">): Promise<string | null> {
  if (!testMode) return null;
  const last = await lastOnRecord(db);
  const isLive = last?.account.endsWith(" live");
  const inUse = isLive ? `“${last?.account}”` : (await hadLivePage(db, last)) ? "a live account" : null;
  return inUse
    ? `STRIPE_SECRET_KEY is of the test mode and may not read its account, and ${inUse} is in use: set a live key, or let this key read its account and name it in STRIPE_ACCOUNT_AGAIN`
    : null;
}

/**
 * True if a checkout was opened with a live key since the last recorded account came into use, or ever if none is
 * recorded. The processor's ids of checkouts contain the mode. So this works even for a key that may not read its
 * account.
 */
async function hadLivePage(db: Sql, last: Used | undefined): Promise<boolean> {
  const found = await db.query(sql`
    SELECT FROM checkout_sessions WHERE starts_with(session_id, 'cs_live_')
      AND created_at > coalesce(${last?.since ?? null}::timestamptz, '-infinity') LIMIT 1`);
  return found.length > 0;
}

const isTest = (account: string): boolean => account.endsWith(" test");

/**
 * True if the account is in use: it is the last recorded one. False for a test-mode account if a checkout was opened
 * since with a live key that may not read its own account.
 */
const isInUse = async (db: Sql, account: string, last: Used | undefined): Promise<boolean> =>
  last?.account === account && !(isTest(account) && (await hadLivePage(db, last)));

const lock = sql`hashtextextended('account of the payment processor', 0)`;

async function register({ db, clock, processor }: AccountDeps & { processor: Processor }): Promise<string | null> {
  const account = await processor.account();
  if (account === null) return null;
  await db.transaction(async (tx) => {
    await tx.query(sql`SELECT pg_advisory_xact_lock(${lock})`);
    const last = await lastOnRecord(tx);
    if ((await isInUse(tx, account, last)) || (await isRefused(tx, account, processor))) return;
    const isChange = last !== undefined || (isTest(account) && (await hadLivePage(tx, last)));
    const since = isChange ? afterRequests(clock()) : sql`NULL`;
    await tx.query(sql`INSERT INTO processor_accounts (account, since) VALUES (${account}, ${since})`);
    if (last) await enqueue(tx, accountQueue, {});
  });
  return account;
}

/**
 * True if the key's account must not come into use, unless the setting STRIPE_ACCOUNT_AGAIN (`accountAgain`) names it.
 * This concerns an earlier account, and a test-mode account after a live one. A node may have been started with such a
 * key by mistake.
 */
export async function isRefused(
  db: Sql,
  account: string,
  { accountAgain }: Pick<Processor, "accountAgain">,
): Promise<boolean> {
  const last = await lastOnRecord(db);
  if (account === accountAgain || (await isInUse(db, account, last))) return false;
  const earlier = await db.query(sql`
    SELECT FROM processor_accounts WHERE account = ${account} OR (${isTest(account)} AND account LIKE '% live') LIMIT 1`);
  return earlier.length > 0 || (isTest(account) && (await hadLivePage(db, last)));
}

/**
 * SQL expression: the time of a change of the account. Clocks of nodes differ, so the time is later than all records of
 * the earlier accounts. `requireLastAccount` makes later records later than the change.
 */
const afterRequests = (now: Date): Statement => sql`greatest(${now}::timestamptz, interval '1 millisecond' + greatest(
  (SELECT max(sent_at) FROM firm_charges), (SELECT max(created_at) FROM checkout_sessions),
  (SELECT max(added_at) FROM payment_methods), (SELECT max(ended_at) FROM reconciliations),
  (SELECT max(since) FROM processor_accounts)))`;

/**
 * Requires that this node's key is of the account in use. Call this in the transaction that records a request, before
 * the request is sent, because the time of a request identifies its account. So while nodes are restarted with the key
 * of another account, a node with the earlier key sends nothing more.
 * @param account the result of `presentAccount`; null is not checked
 * @param now the time by this node's clock, which may be behind that of the node that noticed the account
 * @returns the time to record: not before the account was noticed
 * @throws ServiceError `unavailable` on a node with the earlier key
 */
export async function requireLastAccount(tx: Tx, account: string | null, now: Date): Promise<Date> {
  await tx.query(sql`SELECT pg_advisory_xact_lock_shared(${lock})`);
  const last = await lastOnRecord(tx);
  if (account !== null && !(await isInUse(tx, account, last))) throw notAvailable(howToReplace(account));
  return last?.since && last.since > now ? last.since : now;
}

/**
 * Requires that this node doesn't have an earlier key. Call this when the processor doesn't know an object, because the
 * account of the newer key may have it.
 * @returns the result of `presentAccount`
 * @throws ServiceError `unavailable` on a node with an earlier key
 */
export async function requireNewestKey(deps: AccountDeps): Promise<string | null> {
  const present = await presentAccount(deps);
  await deps.db.transaction((tx) => requireLastAccount(tx, present, deps.clock()));
  return present;
}

/** The refusal on a node with a wrong key. Callers learn nothing about the account; the log has the reason. */
const notAvailable = (why: string) =>
  new ServiceError("unavailable", "Payments are not available now. Try again later.", { cause: new Error(why) });

/** Instructs the operator how to handle a key of an account that is not in use. */
export const howToReplace = (account: string): string =>
  `STRIPE_SECRET_KEY is of the account “${account}”, and another one is in use, so nothing new is charged there: set a key of the account in use, or set STRIPE_ACCOUNT_AGAIN to “${account}” to change to this one`;

type Used = { account: string; since: Date | null };

async function lastOnRecord(db: Sql): Promise<Used | undefined> {
  const [last] = await db.query<Used>(sql`SELECT account, since FROM processor_accounts ORDER BY id DESC LIMIT 1`);
  return last;
}

/** SQL expression: the account that was in use at the time `at`; null if no account was recorded before that time. */
const accountAt = (at: Statement): Statement => sql`(SELECT a.account FROM processor_accounts a
  WHERE coalesce(a.since, '-infinity') <= ${at} ORDER BY a.id DESC LIMIT 1)`;

/** SQL condition: true if the account that was in use at the time `at` is not the last recorded one. */
export const wasOtherAccount = (at: Statement): Statement =>
  sql`coalesce(${accountAt(at)} <> ${accountAt(sql`'infinity'::timestamptz`)}, false)`;

/**
 * True if a request was sent to another processor account than this process uses. Only that account, its events, or a
 * person who checks it can report the result.
 * @param at when the request was sent; null for never
 * @throws ServiceError `unavailable` on a node with an earlier key, if the request was sent with another key
 */
export async function isOfOtherAccount(deps: AccountDeps, at: Date | null): Promise<boolean> {
  const present = at && (await presentAccount(deps));
  if (!present) return false;
  const [used] = await deps.db.query<{ account: string | null; last: string | null }>(sql`
    SELECT ${accountAt(sql`${at}::timestamptz`)} AS account, ${accountAt(sql`'infinity'::timestamptz`)} AS last`);
  if (used?.account == null || used.account === present) return false;
  if (used.last !== present) throw notAvailable(howToReplace(present));
  return true;
}

/** The time when the account was changed last; null for never. */
export const lastAccountChange = async (db: Sql): Promise<Date | null> => (await lastOnRecord(db))?.since ?? null;

/**
 * SQL expression: when a payment `p` was requested, which shows the account that has it. A bank debit clears days
 * later, when another account may be in use.
 */
export const requestedAt = (p: Statement): Statement => sql`coalesce(
  (SELECT min(c.sent_at) FROM firm_charges c WHERE c.payment_intent = ${p}.payment_intent),
  (SELECT s.created_at FROM checkout_sessions s WHERE s.session_id = ${p}.session_id), ${p}.received_at)`;

/** A common table expression: for each account, the time until which its books were copied here. */
export const copies = sql`copies AS MATERIALIZED (
  SELECT ${accountAt(sql`r.ended_at`)} AS account, max(r.ends_at) AS until FROM reconciliations r
  WHERE r.ended_at IS NOT NULL GROUP BY 1)`;

/**
 * SQL expression: the time until which the books of the account in use at `at` were copied; null for none. The
 * statement needs `copies`.
 */
export const copiedUntil = (at: Statement): Statement =>
  sql`(SELECT k.until FROM copies k WHERE k.account IS NOT DISTINCT FROM ${accountAt(at)})`;

/**
 * SQL expression: the time until which the books of any account had been copied when the account in use at `at` was
 * first used. Null for none.
 */
export const copiedBefore = (at: Statement): Statement => sql`(SELECT max(r.ends_at) FROM reconciliations r
  WHERE r.ended_at < (SELECT min(coalesce(a.since, '-infinity')) FROM processor_accounts a WHERE a.account = ${accountAt(at)}))`;

/**
 * SQL condition: true if the last copy of the account's books may be too old to contain a change to the payment. The
 * statement needs `copies`.
 * @param requested when the payment was requested
 * @param bookedWithin the longest time between a change and its booking at the processor
 */
export const isNotCopied = (requested: Statement, changedAt: Statement, bookedWithin: string): Statement =>
  sql`${changedAt} > coalesce(${copiedUntil(requested)}, '-infinity') - ${bookedWithin}::interval`;

/**
 * SQL condition: true if a change to a payment can't be compared with the processor's books any more, because another
 * account is in use now. If the payment's account is used again, its books are copied again. The parameters are those
 * of `isNotCopied`.
 */
export const isOutOfSight = (requested: Statement, changedAt: Statement, bookedWithin: string): Statement =>
  sql`(${wasOtherAccount(requested)} AND ${isNotCopied(requested, changedAt, bookedWithin)})`;

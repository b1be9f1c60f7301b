/**
 * The processor's account. If the operator configures another one, it doesn't know the objects of the account before
 * it. So when it doesn't know such an object, that says nothing about the object's money.
 */
import type { Environment } from "../../../kernel/identity/identity.ts";
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Database, Sql } from "../../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { type Marked, marked } from "../../../kernel/platform/database/state-mac.ts";
import { enqueue } from "../../../kernel/platform/jobs/jobs.ts";
import { orderState } from "../../order/order.ts";
import { type Processor, processorFor } from "./processor.ts";

/**
 * The processor at which the order is paid; null for none. Of an altered order, the environment doesn't count, because
 * a checkout that may be open at the processor has to be closed there.
 */
export async function processorOfOrder(
  db: Sql,
  processor: Processor | null,
  orderId: number,
): Promise<Processor | null> {
  const [order] = await db.query<{ environment: Environment } & Marked>(sql`
    SELECT environment, ${marked(orderState, sql`orders`)} FROM orders WHERE id = ${orderId}`);
  return order?.isAuthentic ? processorFor(processor, order.environment) : processor;
}

/** The queue of changes of the account; the payload is empty. */
export const accountQueue = "processor-account";

type AccountDeps = { db: Database; clock: Clock; processor: Processor | null };

/** For each processor of this process: since when its account is in use. */
const starts = new WeakMap<Processor, Promise<Date | null>>();

/**
 * Since when the processor's account is in use; null when there was none before it, or when the key may not read the
 * account. Asks the processor once per process. The first node that finds another account than before records it.
 */
export async function accountSince({ db, clock, processor }: AccountDeps): Promise<Date | null> {
  if (!processor) return null;
  const found = starts.get(processor) ?? register({ db, clock, processor });
  starts.set(processor, found);
  found.catch(() => starts.delete(processor));
  return found;
}

async function register({ db, clock, processor }: AccountDeps & { processor: Processor }): Promise<Date | null> {
  const account = await processor.account();
  if (account === null) return null;
  return db.transaction(async (tx) => {
    await tx.query(sql`SELECT pg_advisory_xact_lock(hashtextextended('account of the payment processor', 0))`);
    const [last] = await tx.query<{ account: string; since: Date | null }>(sql`
      SELECT account, since FROM processor_accounts ORDER BY id DESC LIMIT 1`);
    if (last?.account === account) return last.since;
    const since = last ? clock() : null;
    await tx.query(sql`INSERT INTO processor_accounts (account, since) VALUES (${account}, ${since})`);
    if (since !== null) await enqueue(tx, accountQueue, {});
    return since;
  });
}

/**
 * Whether something was sent to an earlier account of the processor. Only that account, its events, or a person who
 * looks there can tell what became of it.
 * @param at when it was sent; null for never
 */
export async function isOfEarlierAccount(deps: AccountDeps, at: Date | null): Promise<boolean> {
  const since = at && (await accountSince(deps));
  return at !== null && since !== null && at < since;
}

/** When the account was changed last; null for never. */
export async function lastAccountChange(db: Sql): Promise<Date | null> {
  const [last] = await db.query<{ since: Date | null }>(sql`
    SELECT since FROM processor_accounts ORDER BY id DESC LIMIT 1`);
  return last?.since ?? null;
}

/**
 * An expression: whether a change to a payment can't be compared with the processor's books any more. The account that
 * received the payment was replaced before its books about the change were copied.
 * @param bookedWithin a change may be missing in a copy that ends sooner than this after it
 */
export const isOutOfSight = (receivedAt: Statement, changedAt: Statement, bookedWithin: string): Statement => sql`
  EXISTS (SELECT FROM processor_accounts a WHERE a.since > ${receivedAt} AND ${changedAt} > coalesce(
    (SELECT max(r.ends_at) FROM reconciliations r WHERE r.ended_at <= a.since), '-infinity') - ${bookedWithin}::interval)`;

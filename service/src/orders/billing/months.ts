/** Closes months, and checks the stored sums of closed months against their documents. */
import { firmNameOf } from "../../firms/partners/partners.ts";
import type { Owner } from "../../kernel/identity/identity.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import type { Database, Sql, Tx } from "../../kernel/platform/database/database.ts";
import { nothing, sql } from "../../kernel/platform/database/sql.ts";
import { isAltered, writeStateMacs } from "../../kernel/platform/database/state-mac.ts";
import type { Log } from "../../kernel/platform/logs.ts";
import { keepTasks, type NeededTask } from "../../kernel/tasks/tasks.ts";
import { bookNow, bookTime } from "../../kernel/test-clock/test-clock.ts";
import { dollars } from "../dollars.ts";
import { billingDocuments, lockBilling, zoneOf } from "../payments/payments.ts";
import { linesOf, lossLines, owedUntil, type Sums, sumsOf } from "./lines.ts";
import { tellReaders } from "./mail.ts";
import { balanceState, closedMonths, statementState, sumsOfClosed } from "./statements.ts";

type JobDeps = { db: Database; clock: Clock; log: Log };

/**
 * Closes every month that has ended, and stores its sums, for every firm with receipts. Months of test orders end by
 * the firm's test clock. Safe to repeat and to run on several nodes.
 * @param partnerId only the months of this firm
 */
export async function closeMonths(
  { db, clock, log }: JobDeps,
  stopping: AbortSignal,
  partnerId?: string,
): Promise<void> {
  const now = bookTime(sql`${clock()}::timestamptz`, { partnerId: sql`d.partner_id`, environment: sql`d.environment` });
  const only = partnerId === undefined ? nothing : sql`WHERE d.partner_id = ${partnerId}`;
  // A month lasts at least 28 days, less an hour when daylight saving time begins. So every month that has ended began
  // more than 27 days ago.
  const firms = await db.query<Owner>(sql`
    SELECT d.partner_id AS "partnerId", d.environment FROM ${billingDocuments(sql`d`)} ${only} GROUP BY d.partner_id, d.environment
    HAVING coalesce((SELECT max(s.ends_at) FROM billing_statements s
        WHERE s.partner_id = d.partner_id AND s.environment = d.environment), '-infinity') <= ${now} - interval '27 days'
      OR EXISTS (SELECT FROM billing_statements s WHERE s.partner_id = d.partner_id AND s.environment = d.environment
        AND NOT EXISTS (SELECT FROM billing_balances b WHERE b.statement_id = s.id))`);
  for (const owner of firms) {
    let isBehind = true;
    while (isBehind && !stopping.aborted) isBehind = await db.transaction((tx) => closeNext(tx, owner, clock()));
    if (stopping.aborted) return;
    // An altered document of one firm must not stop the sums of the other firms.
    await storeSums(db, owner, clock()).catch((error: unknown) => logAltered(log, owner, error));
  }
}

function logAltered(log: Log, { partnerId, environment }: Owner, error: unknown): void {
  if (!isAltered(error)) throw error;
  log.error({ partnerId, environment }, "a row that a closed month is made of was altered in the database");
}

/**
 * Stores the sums of each closed month that lacks them. Stored sums never change: the next month's `corrections` fix an
 * error of an earlier release. The documents of a closed month don't change either, so they are read before acquiring
 * the lock, which blocks payments.
 */
async function storeSums(db: Database, owner: Owner, at: Date): Promise<void> {
  const isWaiting = ({ stored }: { stored: object | null }) => stored === null;
  if (!(await closedMonths(db, owner)).some(isWaiting)) return;
  const { months } = await sumsOfClosed(db, owner, await lossLines(db, owner));
  await db.transaction(async (tx) => {
    await lockBilling(tx, owner);
    const waiting = new Set((await closedMonths(tx, owner)).filter(isWaiting).map(({ id }) => id));
    for (const { id, sums, ...row } of months.filter((each) => waiting.has(each.id))) {
      await tellReaders(tx, owner, { ...row, sums, at });
      await tx.query(
        sql`INSERT INTO billing_balances (statement_id, sums) VALUES (${id}, ${JSON.stringify(sums)}::jsonb)`,
      );
      await writeStateMacs(tx, balanceState, sql`statement_id = ${id}`);
    }
  });
}

/**
 * Compares the stored sums of all closed months with the documents of these months. Logs each difference, and keeps a
 * task open for it until the difference is gone, or until a person closes the task. An altered row of a firm's months
 * gets a task, too.
 */
export async function checkMonths({ db, clock, log }: JobDeps, stopping: AbortSignal): Promise<void> {
  const firms = await db.query<NamedOwner>(sql`
    SELECT DISTINCT partner_id AS "partnerId", environment, ${firmNameOf(sql`partner_id`)} AS "firmName"
    FROM billing_statements ORDER BY 1, 2`);
  const tasks: NeededTask[] = [];
  for (const owner of firms) {
    if (stopping.aborted) return;
    try {
      tasks.push(...(await differencesOf(db, log, owner)).map((each) => taskOf(owner, each)));
    } catch (error) {
      logAltered(log, owner, error);
      tasks.push(alteredTask(owner));
    }
  }
  await db.transaction((tx) => keepTasks(tx, clock(), "statement_difference", async () => tasks));
}

type NamedOwner = Owner & { firmName: string };

/** A closed month whose stored sums differ from its documents. `parts` has one text for each differing sum. */
type Difference = { month: string; parts: readonly string[] };

/**
 * The differences in a firm's closed months. Leaves out a difference that a later month's `corrections` have settled.
 */
async function differencesOf(db: Sql, log: Log, owner: Owner): Promise<Difference[]> {
  const lost = await lossLines(db, owner);
  let before: Sums | undefined;
  let found: Difference[] = [];
  for (const { month, stored, ...row } of await closedMonths(db, owner)) {
    const sums: Sums = sumsOf(before, await linesOf(db, owner, row), { owed: owedUntil(lost, row.endsAt) });
    before = sums;
    if (stored === null) continue;
    const isSettled = (stored.corrections ?? 0) !== 0 && stored.closing === sums.closing;
    if (isSettled) found = [];
    const expected = isSettled ? { ...sums, opening: stored.opening, corrections: stored.corrections ?? 0 } : sums;
    const parts = Object.entries(stored).flatMap(([name, cents]) => {
      const documented = expected[name as keyof Sums];
      return documented === cents ? [] : `${name}: ${dollars(cents)} stored, ${dollars(documented)} by the documents`;
    });
    if (parts.length > 0) found.push({ month, parts });
  }
  const { partnerId, environment } = owner;
  for (const each of found)
    log.error({ partnerId, environment, ...each }, "the sums of a closed month are not those of its documents");
  return found;
}

function taskOf({ partnerId, environment, firmName }: NamedOwner, { month, parts }: Difference): NeededTask {
  return [
    `${partnerId} ${environment} ${month} ${parts.join(", ")}`,
    { reason: `The ${environment} statement of ${firmName} for ${month} differs: ${parts.join("; ")}.`, since: null },
  ];
}

const alteredTask = ({ partnerId, environment, firmName }: NamedOwner): NeededTask => [
  `${partnerId} ${environment} altered`,
  {
    reason: `A row of a closed ${environment} month of ${firmName} was altered outside the service, so its sums can’t be compared.`,
    since: null,
  },
];

/** Closes the firm's next month. @returns false when that month has not ended */
async function closeNext(tx: Tx, owner: Owner, at: Date): Promise<boolean> {
  const { partnerId, environment } = owner;
  await lockBilling(tx, owner);
  const now = await bookNow(tx, owner, at);
  const zone = await zoneOf(tx, partnerId);
  const own = sql`partner_id = ${partnerId} AND environment = ${environment}`;
  // In a new time zone, the end of the last closed month can fall on the last day of that same month. So 15 days are
  // added before truncating, which always gives the next month.
  const [closed] = await tx.query<{ id: number }>(sql`
    WITH start AS (
      SELECT coalesce((SELECT max(ends_at) FROM billing_statements WHERE ${own}),
        date_trunc('month', (SELECT min(d.booked_at) FROM ${billingDocuments(sql`d`)} WHERE ${own}) AT TIME ZONE ${zone}::text) AT TIME ZONE ${zone}::text) AS at
    ), month AS (
      SELECT at, date_trunc('month', (at + interval '15 days') AT TIME ZONE ${zone}::text) AS first FROM start
    )
    INSERT INTO billing_statements (partner_id, environment, month, starts_at, ends_at, zone, issuer_id, buyer_id, buyer_name, closed_at)
    SELECT ${partnerId}::uuid, ${environment}, to_char(first, 'YYYY-MM'), at, (first + interval '1 month') AT TIME ZONE ${zone}::text, ${zone},
      (SELECT max(id) FROM billing_parties WHERE partner_id IS NULL), (SELECT max(id) FROM billing_parties WHERE partner_id = ${partnerId}),
      ${firmNameOf(sql`${partnerId}::uuid`)}, ${now}::timestamptz
    FROM month WHERE (first + interval '1 month') AT TIME ZONE ${zone}::text <= ${now}::timestamptz RETURNING id`);
  if (!closed) return false;
  await writeStateMacs(tx, statementState, sql`id = ${closed.id}`);
  return true;
}

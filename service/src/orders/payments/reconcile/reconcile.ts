import { type Clock, dayMs } from "../../../kernel/platform/clock.ts";
import type { Database, Sql, Tx } from "../../../kernel/platform/database/database.ts";
import type { Jobs } from "../../../kernel/platform/jobs/jobs.ts";
import type { Log } from "../../../kernel/platform/logs.ts";
import { keepTasks, type NeededTask } from "../../../kernel/tasks/tasks.ts";
import { dollars } from "../../dollars.ts";
import { applyEvent } from "../events/apply-event.ts";
import { lastAccountChange, requireLastAccount, requireNewestKey } from "../processor/account.ts";
import type { Movement } from "../processor/balance.ts";
import { readMessage } from "../processor/message.ts";
import type { Processor } from "../processor/processor.ts";
import { overdueDisputes } from "../records/disputes.ts";
import { askForDay, endDay, lockComparison, lockDay, markDay, reconcileQueue, windowOf } from "./days.ts";
import { compareNext, comparePayments, type Difference, insertMovements, leftInAccount } from "./store.ts";

type ReconcileDeps = { db: Database; clock: Clock; log: Log; processor: Processor | null };

/** Queues this day's comparison with the processor's books, once for all nodes. */
export const scheduleReconciliation = ({ db, clock }: Pick<ReconcileDeps, "db" | "clock">): Promise<void> =>
  askForDay(db, clock());

/** The periodic tasks about the processor's account and its books; none without a processor. */
export function processorTasks({ db, clock, processor }: Pick<ReconcileDeps, "db" | "clock" | "processor">) {
  if (!processor) return [];
  const everyMs = 600_000;
  return [
    // Asks for the account once per process, and again while the processor does not answer. Fails on a node with an
    // earlier key, so that the log shows it.
    {
      name: "account of the payment processor",
      everyMs,
      atStart: true,
      work: () => requireNewestKey({ db, clock, processor }),
    },
    // This task does not run at the start, because a starting node has other work.
    { name: "books of the payment processor", everyMs, work: () => scheduleReconciliation({ db, clock }) },
  ];
}

export const reconcileJobs = (jobs: Jobs, deps: ReconcileDeps): void =>
  jobs.work<{ day: string }>(reconcileQueue, ({ day }, { signal }) => reconcile(deps, day, signal));

const copiedAtOnce = 100;

/**
 * Copies the processor's movements in the period, and compares them with our rows. Opens one task for each difference.
 * Before the comparison, asks the processor about disputes that have been open for long; only their outcomes can move
 * orders. An interrupted run can be repeated: each movement is copied once, and the tasks commit together with the end
 * of the period.
 */
export async function reconcile(deps: ReconcileDeps, day: string, stopping?: AbortSignal): Promise<void> {
  const { db, clock, log, processor } = deps;
  if (!processor) throw new Error("payments are not configured: the comparison waits");
  const present = await requireNewestKey(deps);
  const window = await windowOf(db, day, clock());
  if (!window) return;
  let batch: Movement[] = [];
  const copy = async () => {
    const copied = batch;
    batch = [];
    await db.transaction((tx) => insertMovements(tx, copied));
  };
  for await (const movement of processor.movements(window)) {
    batch.push(movement);
    if (batch.length === copiedAtOnce) await copy();
    if (stopping?.aborted) throw stops();
  }
  await copy();
  await endDisputes(deps, processor, day, stopping);
  await unmarkAgreeing(deps, present, stopping);
  await db.transaction(async (tx) => {
    await lockComparison(tx);
    // Fails if another account was recorded in the meantime, because the copied books are then those of an earlier
    // account.
    const at = await requireLastAccount(tx, present, clock());
    if (!(await lockDay(tx, day))) return;
    const differences = await comparePayments(tx, at);
    await endDay(tx, day, window, differences.length, at);
    const left = await taskOfEarlierAccount(tx, at);
    await keepTasks(tx, at, "money_difference", async () => [...differences.map(taskOf), ...(left ? [left] : [])]);
    const line = { day, differences: differences.length };
    if (differences.length > 0) log.error(line, "the books differ from those of the payment processor");
    else log.info(line, "the books agree with those of the payment processor");
  });
}

/**
 * Marks the payments that are due for another comparison (after an upgrade, all of them), and unmarks those without a
 * difference. Works in short transactions, so an interrupted run loses only one of them. Payments with a difference
 * stay marked for the last transaction of the comparison, which opens their tasks.
 */
async function unmarkAgreeing({ db, clock }: ReconcileDeps, present: string | null, stopping?: AbortSignal) {
  const locked = <T>(work: (tx: Tx, at: Date) => Promise<T>) => {
    if (stopping?.aborted) throw stops();
    return db.transaction(async (tx) => {
      await lockComparison(tx);
      return work(tx, await requireLastAccount(tx, present, clock()));
    });
  };
  while (await locked((tx) => markDay(tx)));
  for (let last: string | null = ""; last !== null; ) {
    const after: string = last;
    last = await locked(async (tx, at) => (await compareNext(tx, after, at)).last);
  }
}

const stops = () => new Error("the node stops: another one compares");

const failuresInARow = 3;

/**
 * Asks for the outcome of disputes that have been open for long. Failed requests don't stop the comparison, even if all
 * of them fail: the next day asks again. After three failures in a row, stops asking.
 */
async function endDisputes(deps: ReconcileDeps, processor: Processor, day: string, stopping?: AbortSignal) {
  const { db, clock, log } = deps;
  const overdue = await overdueDisputes(db, clock());
  // Starts with another dispute each day, so that disputes that always fail don't starve the others.
  const first = Math.floor(Date.parse(day) / dayMs) % Math.max(1, overdue.length);
  const disputes = [...overdue.slice(first), ...overdue.slice(0, first)];
  let failures = 0;
  for (const [asked, { id: dispute, isAuthentic }] of disputes.entries()) {
    if (stopping?.aborted) throw stops();
    if (!isAuthentic) {
      log.error({ dispute }, "a dispute was altered in the database");
      continue;
    }
    const object = await processor.dispute(dispute).catch((error: unknown) => {
      log.error({ err: error, dispute }, "asking for the outcome of a dispute failed");
      return undefined;
    });
    if (object === null) log.warn({ dispute }, "the payment processor does not know a dispute that is open here");
    else if (object)
      await endDispute(deps, { dispute, day, object }).catch((error: unknown) =>
        log.error({ err: error, dispute }, "booking the outcome of a dispute failed"),
      );
    failures = object === undefined ? failures + 1 : 0;
    if (failures < failuresInARow) continue;
    const left = disputes.length - asked - 1;
    log.error({ left }, "stopped asking for the outcome of disputes: look them up at the processor, or wait a day");
    return;
  }
}

/**
 * Applies the processor's answer about a dispute that is open for long, because its last event may be lost. The answer
 * is applied as that event would be: a decision is booked, and a dispute without one stays open.
 */
async function endDispute(
  { db, clock, log }: ReconcileDeps,
  { dispute, day, object }: { dispute: string; day: string; object: object },
): Promise<void> {
  const at = clock();
  const created = Math.floor(at.getTime() / 1000);
  const event = { id: `reconciled:${day}:${dispute}`, type: "charge.dispute.updated", created, data: { object } };
  const message = readMessage(event);
  // Ignores an answer without a decision, which would only make the dispute look changed.
  if (message?.kind !== "disputed" || message.disputeId !== dispute || message.state === "opened") return;
  const options = { at, log, actor: "processor" } as const;
  await db.transaction((tx) => applyEvent(tx, event, options));
}

/**
 * The task about open objects in an earlier processor account; null when nothing is open there. A person must
 * check that account, because the present one can't read its objects.
 */
async function taskOfEarlierAccount(db: Sql, now: Date): Promise<NeededTask | null> {
  const since = await lastAccountChange(db);
  if (since === null) return null;
  const { charges, checkouts, refunds, disputes, payments, cents } = await leftInAccount(db, now);
  const open = [
    countText(charges, "charge"),
    countText(checkouts, "payment page"),
    countText(refunds, "refund"),
    countText(disputes, "dispute"),
  ].filter((text) => text !== null);
  const unseen = countText(payments, "payment");
  if (open.length === 0 && unseen === null) return null;
  const sentences = [
    `The account of the payment processor was changed on ${since.toISOString().slice(0, 10)}.`,
    ...(open.length > 0
      ? [
          `Open in the account before it: ${open.join(", ")}. Keep the secret of its endpoint, also after they have ended: banks take payments back for months.`,
        ]
      : []),
    ...(unseen === null
      ? []
      : [`Not compared with its books: ${unseen} of ${dollars(cents)} in all. Compare them there.`]),
  ];
  // The subject contains the counts. So changed counts open a new task, even after a person ended the earlier one.
  const subject = [since.toISOString(), ...open, unseen === null ? null : `${unseen} unseen, ${cents} cents`];
  return [
    `account ${subject.filter((text) => text !== null).join(", ")}`,
    { reason: sentences.join(" "), since: null },
  ];
}

const countText = (count: number, of: string): string | null =>
  count === 0 ? null : `${count} ${of}${count === 1 ? "" : "s"}`;

/** The task's subject contains the amounts. So if a difference changes, a new task is opened. */
function taskOf(difference: Difference): NeededTask {
  const { kind, source, hereCents, thereCents, hereCurrency, thereCurrency, isAuthentic } = difference;
  const here = hereCents === null ? "none" : `${hereCents} ${hereCurrency}`;
  const there = thereCents === null ? "none" : `${thereCents} ${thereCurrency}`;
  const altered = isAuthentic ? "" : " A row of it was altered outside the service.";
  return [`${kind} ${source} here ${here} there ${there}`, { reason: `${wordsOf(difference)}${altered}`, since: null }];
}

const names: Readonly<Record<Movement["kind"], string>> = { charge: "charge", refund: "refund", dispute: "dispute" };

/** Describes a difference in words, with cents and the processor's ids. */
function wordsOf(difference: Difference): string {
  const { kind, source, paymentIntent, hereCents, thereCents, hereCurrency, thereCurrency } = difference;
  const which = `the ${names[kind]} ${source}${source === paymentIntent ? "" : ` of ${paymentIntent}`}`;
  const here = `${hereCents} cents ${hereCurrency?.toUpperCase()}`;
  const there = `${thereCents} cents ${thereCurrency?.toUpperCase()}`;
  if (hereCents === null && hereCurrency === null)
    return `Missing here: the payment processor has ${which} with ${there}. Send its event again there.`;
  if (thereCents === null)
    return `Missing there: ${which} has ${here} here, and the payment processor has no such movement.`;
  if (hereCurrency !== null && hereCurrency !== thereCurrency)
    return `The currency differs: ${which} has ${here} here, and ${there} at the payment processor.`;
  const byWhat = hereCents === null ? "" : ` They are ${countText(Math.abs(thereCents - hereCents), "cent")} apart.`;
  return `The amount differs: ${which} has ${hereCents === null ? "no sum" : here} here, and ${there} at the payment processor.${byWhat}`;
}

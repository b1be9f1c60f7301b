import { auditLine } from "../audit/audit.ts";
import type { Clock } from "../platform/clock.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";
import { invalid, ServiceError } from "../platform/errors.ts";
import { isPlainLines } from "../platform/text.ts";
import { dueAgain } from "./due.ts";
import type { TaskKind } from "./kinds.ts";
import { openTask } from "./open-close.ts";
import { changeTasks, verifiedTask } from "./store.ts";

export type TaskDeps = { db: Database; clock: Clock };

type Locked = { kind: TaskKind; state: string; claimedBy: string | null; orderId: number | null; subject: string };

/** The kinds of tasks that a person closes with a note. For these, no event reliably shows that the work is done. */
const endedByWord: ReadonlySet<TaskKind> = new Set([
  "delivery_trouble",
  // The lock may expire while the task is open. Then the task stays open until the signer enters a code.
  "signer_locked",
  "refund_asked",
  "technology_fee",
  "refund_by_hand",
  "debit_failed",
  "dispute",
  "refund_failed",
  "money_difference",
  "statement_difference",
  "receipt_issuer",
  "order_altered",
  "document_altered",
  "closing_seal",
  "key_expiry",
  "job_dead",
]);

/**
 * True if staff may answer a task of this kind with "not known yet". Then a task with the same question is opened, due
 * later.
 */
export const mayAskAgain = (kind: TaskKind): boolean => kind === "arrival";

/**
 * The name of the job queue for tasks that a provider can do instead of staff. Its jobs are about live orders; payload
 * `{orderId}`.
 */
export const dispatchQueue = "dispatch";

/** The kinds of tasks that a provider can do instead of staff. */
const dispatched: readonly TaskKind[] = ["label_print", "packet_print", "fax_send"];

/** Queues jobs for released tasks that a provider can do, so that the providers are tried again. */
const dispatchAgain = (tx: Tx, ids: readonly number[]) =>
  tx.query(sql`
    SELECT enqueue_job(${dispatchQueue}, jsonb_build_object('orderId', order_id)) FROM tasks
    WHERE id = ANY (${ids}::bigint[]) AND kind = ANY (${dispatched}::text[]) AND environment = 'live' AND state = 'open'`);

export const endsByWord = (kind: TaskKind): boolean => endedByWord.has(kind);

type Change = { action: string; by: string };
type Judge = (tx: Tx, task: Locked, at: Date) => Promise<object>;

const change = ({ db, clock }: TaskDeps, id: number, about: Change, judge: Judge): Promise<void> =>
  db.transaction((tx) => changeIn(tx, id, { ...about, clock }, judge));

async function changeIn(
  tx: Tx,
  id: number,
  { action, by, clock }: Change & { clock: Clock },
  judge: Judge,
): Promise<void> {
  // Locks the order before its task, as every transition does. Otherwise a change of the task and a transition could
  // deadlock.
  await tx.query(sql`SELECT FROM orders WHERE id = (SELECT order_id FROM tasks WHERE id = ${id}) FOR NO KEY UPDATE`);
  const [task] = await tx.query<Locked>(sql`
    SELECT kind, state, claimed_by AS "claimedBy", order_id AS "orderId", subject, ${verifiedTask} FROM tasks WHERE id = ${id} FOR NO KEY UPDATE`);
  if (!task) throw new ServiceError("not_found", "No such task.");
  if (task.state === "done" || task.state === "dropped")
    throw new ServiceError("conflict", "This task has ended already.");
  if (task.state === "paused")
    throw new ServiceError("conflict", "This task waits: the order is on hold, or a provider is doing its work.");
  const at = clock();
  const detail = await judge(tx, task, at);
  await tx.query(
    auditLine({ at, action, actor: by, orderId: task.orderId, detail: { task: id, kind: task.kind, ...detail } }),
  );
}

/**
 * Claims a task. Only one of two concurrent claims succeeds.
 * @throws ServiceError for a task that has ended, is paused, or is already claimed, even by the same person;
 * `unavailable` for a task whose MAC is invalid
 */
export const claimTask = (deps: TaskDeps, id: number, by: string): Promise<void> =>
  change(deps, id, { action: "task.claimed", by }, claiming(id, by));

/** Claims a task for a person, in the caller's transaction. The caller must have locked the task's order already. */
export const claimTaskIn = (
  tx: Tx,
  id: number,
  { by, actor, at }: { by: string; actor: string; at: Date },
): Promise<void> => changeIn(tx, id, { action: "task.claimed", by: actor, clock: () => at }, claiming(id, by));

const claiming =
  (id: number, by: string): Judge =>
  async (tx, { claimedBy }, at) => {
    if (claimedBy !== null)
      throw new ServiceError(
        "conflict",
        claimedBy === by ? "You have claimed this task." : "Somebody else has claimed this task.",
      );
    await changeTasks(tx, sql`t.id = ${id}`, sql`state = 'claimed', claimed_by = ${by}, claimed_at = ${at}`);
    return {};
  };

/**
 * Releases a claimed task.
 * @param mayAnyone true if another person's claim may be released too
 * @throws ServiceError for another person's claim, and for a task that is unclaimed, paused or ended
 */
export const releaseTask = (deps: TaskDeps, id: number, by: string, mayAnyone = false): Promise<void> =>
  change(deps, id, { action: "task.released", by }, releasing(id, by, mayAnyone));

/**
 * Releases a task that the person `by` claimed, in the caller's transaction. The caller must have locked the task's
 * order already.
 */
export const releaseTaskIn = (
  tx: Tx,
  id: number,
  { by, actor, at }: { by: string; actor: string; at: Date },
): Promise<void> => changeIn(tx, id, { action: "task.released", by: actor, clock: () => at }, releasing(id, by, false));

const releasing =
  (id: number, by: string, mayAnyone: boolean): Judge =>
  async (tx, { claimedBy }) => {
    if (claimedBy === null) throw new ServiceError("conflict", "Nobody has claimed this task.");
    if (claimedBy !== by && !mayAnyone) throw new ServiceError("conflict", "Somebody else has claimed this task.");
    await changeTasks(tx, sql`t.id = ${id}`, sql`state = 'open', claimed_by = NULL, claimed_at = NULL`);
    await dispatchAgain(tx, [id]);
    return { claimedBy };
  };

/**
 * Releases the claims of a person who loses the right to do certain tasks, in the transaction of that change. `keep`
 * names the kinds of tasks that the person may still do.
 */
export async function releaseClaims(
  tx: Tx,
  { claimedBy, keep, by, at }: { claimedBy: string; keep: readonly TaskKind[]; by: string; at: Date },
): Promise<void> {
  const which = sql`
    t.claimed_by = ${claimedBy} AND t.state IN ('claimed', 'paused') AND NOT t.kind = ANY (${keep}::text[])`;
  // Locks the orders before their tasks, as every transition does, to prevent deadlocks.
  await tx.query(sql`
    SELECT FROM orders WHERE id IN (SELECT order_id FROM tasks t WHERE ${which}) ORDER BY id FOR NO KEY UPDATE`);
  const set = sql`state = CASE state WHEN 'claimed' THEN 'open' ELSE state END, claimed_by = NULL, claimed_at = NULL`;
  const released = await changeTasks(tx, which, set);
  await dispatchAgain(
    tx,
    released.map(({ id }) => id),
  );
  for (const { id, kind, orderId } of released)
    await tx.query(
      auditLine({ at, action: "task.released", actor: by, orderId, detail: { task: id, kind, claimedBy } }),
    );
}

/** For an advanced test clock: makes the claims on tasks of a firm's test orders this many seconds older. */
export const bringClaimsNearer = (tx: Tx, partnerId: string, seconds: number) =>
  changeTasks(
    tx,
    sql`t.environment = 'test' AND t.state IN ('claimed', 'paused') AND t.claimed_at IS NOT NULL
      AND t.order_id IN (SELECT id FROM orders WHERE partner_id = ${partnerId})`,
    sql`claimed_at = t.claimed_at - make_interval(secs => ${seconds})`,
  );

/**
 * Closes a task with a person's note, if the task's kind is one that a note closes. Another person's claim doesn't
 * prevent that.
 * @param outcome the note, of 1 to 500 characters
 * @param book records in the books what the person did, and returns details for the audit line; required for tasks
 * about failed refunds
 * @throws ServiceError for a task of another kind, for a paused or ended task, for an invalid note, and for a missing
 * required `book`
 */
export const finishTask = (deps: TaskDeps, id: number, by: string, outcome: string, book?: Judge): Promise<void> =>
  change(deps, id, { action: "task.done", by }, async (tx, task, at) => {
    const { kind } = task;
    if (!endsByWord(kind)) throw new ServiceError("conflict", "This task ends when its work is done.");
    if (kind === "refund_failed" && !book)
      throw new ServiceError("conflict", "End this task in the console, which asks how the money went back.");
    if (outcome.trim() === "" || outcome.length > 500 || !isPlainLines(outcome))
      throw invalid("outcome must have 1 to 500 characters.");
    const end = sql`state = 'done', ended_at = ${at}, ended_by = ${by}, outcome = ${outcome.trim()}`;
    await changeTasks(tx, sql`t.id = ${id}`, end);
    return { outcome, ...(await book?.(tx, task, at)) };
  });

/**
 * Ends a task whose question can't be answered yet. Opens a task with the same question, due in two business days.
 * @throws ServiceError for a kind of task that can't be asked again, and for another person's claim
 */
export const askAgain = (deps: TaskDeps, id: number, by: string): Promise<void> =>
  change(deps, id, { action: "task.asked_again", by }, async (tx, { kind, claimedBy }, at) => {
    if (!mayAskAgain(kind)) throw new ServiceError("conflict", "This task ends when its work is done.");
    if (claimedBy !== null && claimedBy !== by)
      throw new ServiceError("conflict", "Somebody else has claimed this task.");
    const set = sql`state = 'done', ended_at = ${at}, ended_by = ${by}, outcome = 'It is not known yet.'`;
    await changeTasks(tx, sql`t.id = ${id}`, set);
    const due = dueAgain(at);
    const columns = {
      environment: sql`t.environment`,
      orderId: sql`t.order_id`,
      subject: sql`t.subject`,
      reason: sql`t.reason`,
    };
    await openTask(tx, { kind, at, due, ...columns }, sql`tasks t WHERE t.id = ${id}`);
    return { due: due.toISOString() };
  });

import { auditLine } from "../../kernel/audit/audit.ts";
import { type Clock, hourMs } from "../../kernel/platform/clock.ts";
import type { Database } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { invalid, ServiceError } from "../../kernel/platform/errors.ts";
import { hasJob } from "../../kernel/platform/jobs/jobs.ts";
import { isPlainText } from "../../kernel/platform/text.ts";
import { openTask, openTasksOf } from "../../kernel/tasks/tasks.ts";
import { type ProviderName, providerNames } from "../names.ts";
import type { ProviderFinding } from "./act.ts";
import type { ActDeps } from "./deps.ts";
import { endIntent } from "./end.ts";
import { maxLooks } from "./look.ts";
import { actQueueOf, enqueueIntent, type IntentState, lockIntent } from "./store.ts";

/** An act whose look-up has been overdue for this long counts as stranded. */
const strandedMs = hourMs;
const batchSize = 500;

/** True if an act is stranded because its look-up did not run. A person may then record the act's outcome. */
export const isStranded = (
  { state, begunAt, lookAt }: { state: IntentState; begunAt: Date | null; lookAt: Date | null },
  now: Date,
): boolean => state === "begun" && begunAt !== null && (lookAt ?? begunAt).getTime() + strandedMs <= now.getTime();

/**
 * Queues acts that have no job any more, for example because the job's last attempt failed. Otherwise nobody could
 * continue their orders, not even manually. Leaves out acts after their last look-up, which wait for staff. Also opens
 * a task for each act whose look-up has been overdue for `strandedMs`.
 */
export async function resumeStranded({ db, clock }: { db: Database; clock: Clock }): Promise<void> {
  const lost = await db.query<{ id: number; provider: ProviderName }>(sql`
    SELECT id, provider FROM provider_calls c
    WHERE ended_at IS NULL AND (state <> 'unknown' OR looks <= ${maxLooks}) AND NOT ${hasJob(
      actQueueOf(sql`c.provider`),
      sql`(payload ->> 'intentId')::bigint = c.id`,
    )}
    ORDER BY id LIMIT ${batchSize}`);
  for (const intent of lost) await enqueueIntent(db, intent, 0);
  const at = clock();
  const before = new Date(at.getTime() - strandedMs);
  const stranded = await db.query<{ id: number; act: string; provider: ProviderName; orderId: number }>(sql`
    SELECT id, act, provider, order_id AS "orderId" FROM provider_calls
    WHERE ended_at IS NULL AND state = 'begun' AND coalesce(look_at, begun_at) <= ${before} ORDER BY id LIMIT ${batchSize}`);
  for (const { id, act, provider, orderId } of stranded) {
    const reason = `${act} at ${providerNames[provider]} began and has no end: its job fails, as the log says.`;
    const subject = String(id);
    const task = { kind: "provider_unclear", at, environment: "live", orderId, subject, reason } as const;
    await db.transaction((tx) => openTask(tx, task));
  }
}

type Unclear = { orderId: number; intentId: number };

/**
 * Ends an act whose outcome is unknown, or that is stranded, with the result of a person's look-up at the provider.
 * @param finding the result of the look-up; null when the act was not done, so that staff do the work
 * @throws ServiceError `not_found`; `conflict` unless staff were asked to look, or when another person has claimed the
 * task; `validation` for a malformed finding
 */
export async function resolveIntent(
  deps: ActDeps,
  { orderId, intentId }: Unclear,
  finding: ProviderFinding | null,
  by: string,
): Promise<void> {
  if (finding !== null) requirePlain(finding);
  await deps.db.transaction(async (tx) => {
    const intent = await lockIntent(tx, deps.sealed, intentId);
    if (intent?.orderId !== orderId) throw new ServiceError("not_found", "No such act.");
    if (intent.state !== "unknown" && !isStranded(intent, deps.clock()))
      throw new ServiceError("conflict", "The outcome of this act is known already.");
    const [task] = await openTasksOf(tx, { orderId, kinds: ["provider_unclear"], subject: String(intentId) });
    if (task?.claimedBy && task.claimedBy !== by)
      throw new ServiceError("conflict", "Somebody else has claimed this task.");
    const act = deps.acts.get(intent.act);
    if (!act) throw new ServiceError("conflict", `This release does not know ${intent.act}.`);
    const detail = { act: intent.act, attempt: intent.attempt, done: finding !== null, id: finding?.id ?? null };
    await tx.query(auditLine({ at: deps.clock(), action: "provider.resolved", actor: by, orderId, detail }));
    const end =
      finding === null
        ? ({ kind: "failed", code: "not_done", why: "A person found that it was not done." } as const)
        : ({ kind: "done", result: act.resultOf(finding, intent) } as const);
    await endIntent(deps, tx, act, intent, end, by);
  });
}

const maxLength = 200;

function requirePlain({ id, tracking }: ProviderFinding): void {
  if (id === "" || id.length > maxLength || !isPlainText(id)) throw invalid("The id must have 1 to 200 characters.");
  if (tracking !== null && (tracking.length > maxLength || !isPlainText(tracking)))
    throw invalid("The tracking number must have at most 200 characters.");
}

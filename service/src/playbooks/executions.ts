import { actorOf, type Principal } from "../identity/identity.ts";
import type { Clock } from "../platform/clock.ts";
import type { Database, Sql } from "../platform/database.ts";
import { invalid, ServiceError } from "../platform/errors.ts";
import { newUuid } from "../platform/ids.ts";
import type { Log } from "../platform/logs.ts";
import { argumentsOf, returnedOf } from "./arguments.ts";
import { type Callbacks, isToken, tokenSha256 } from "./callback.ts";
import { readableText } from "./form.ts";
import { executionIdOf, isExecutionId, executionName as nameOf } from "./names.ts";
import { playbookOf } from "./registry.ts";
import * as store from "./store.ts";

export type PlaybookDeps = { db: Database; clock: Clock; log: Log; callbacks: Callbacks };

/** The outcome of a decision that said nothing (contract, States). */
export const unspecified = "unspecified";

const maxDecision = 200;
// Few enough that no decision waits long behind a batch.
const sweepBatch = 1_000;

function attemptOf(principal: Principal, at: Date, playbook: string, executionName: string | null) {
  const { partnerId } = principal;
  return { at, actor: actorOf(principal), partnerId, detail: { playbook: readableText(playbook), executionName } };
}

/** Writes down an attempt that started nothing. */
export const recordRefusedRun = ({ db, clock }: PlaybookDeps, principal: Principal, key: string): Promise<void> =>
  store.insertRunAttempt(db, attemptOf(principal, clock(), key, null));

/**
 * Starts an execution: one row, which waits until it is decided on or its time is over.
 * @returns its name, which says nothing else.
 * @throws ServiceError for an unknown playbook, fields that break its rules, or a start that could not be confirmed.
 */
export async function runPlaybook(
  { db, clock, log, callbacks }: PlaybookDeps,
  principal: Principal,
  key: string,
  readFields: () => Promise<[string, string][]>,
): Promise<{ executionName: string }> {
  const playbook = playbookOf(key);
  if (!playbook) throw new ServiceError("not_found", "Unknown playbook.");
  const values = argumentsOf(playbook.parameters, await readFields());
  const id = newUuid();
  const at = clock();
  const execution = {
    id,
    environment: principal.environment,
    playbook: key,
    arguments: returnedOf(playbook.parameters, values),
    callbackSha256: tokenSha256(callbacks.tokenOf(id)),
    expiresAt: new Date(at.getTime() + playbook.waitSeconds * 1000),
  };
  try {
    await store.insertExecution(db, execution, attemptOf(principal, at, key, nameOf(id)));
  } catch (error) {
    log.error({ err: error, playbook: key }, "a playbook could not be started");
    throw invalid("The playbook could not be started.");
  }
  return { executionName: nameOf(id) };
}

/**
 * The outcome of a callback's body: its `decision`, or `unspecified` when there is none.
 * @throws ServiceError for a decision that is no text of at most 200 characters.
 */
export function outcomeOf(body: unknown): string {
  if (body === undefined || body === null) return unspecified;
  if (typeof body !== "object" || Array.isArray(body)) throw invalid("The body must be a JSON object.");
  const { decision } = body as { decision?: unknown };
  return decision === undefined || decision === null ? unspecified : decisionText(decision);
}

function decisionText(decision: unknown): string {
  const text = typeof decision === "number" || typeof decision === "boolean" ? String(decision) : decision;
  if (typeof text !== "string" || text === "" || text.length > maxDecision || /[\p{Cc}\p{Cs}]/u.test(text))
    throw invalid(`decision must be a text of 1 to ${maxDecision} characters.`);
  return text;
}

async function decide(
  { db, clock }: Pick<PlaybookDeps, "db" | "clock">,
  which: store.Which,
  outcome: string,
  actor: string,
  unknown: string,
) {
  const ended = await store.decideExecution(db, which, { outcome, at: clock(), actor });
  if (ended) return { executionName: nameOf(ended.id), outcome, ...ended.arguments };
  if (await store.executionExists(db, which)) throw new ServiceError("conflict", "This execution has ended.");
  throw new ServiceError("not_found", unknown);
}

/** Ends an execution through its callback. @throws ServiceError for an unknown token or an execution that has ended. */
export async function decideByCallback(deps: PlaybookDeps, token: string, body: unknown) {
  const outcome = outcomeOf(body);
  if (!isToken(token)) throw new ServiceError("not_found", "Not found.");
  return decide(deps, { callbackSha256: tokenSha256(token) }, outcome, "callback", "Not found.");
}

/** Ends an execution by the operator. @throws ServiceError for an unknown execution or one that has ended. */
export async function decideByOperator(
  deps: Pick<PlaybookDeps, "db" | "clock">,
  executionName: string,
  decision: string,
) {
  const id = executionIdOf(executionName);
  if (!isExecutionId(id)) throw new ServiceError("not_found", "No such execution.");
  return decide(deps, { id }, decisionText(decision), "operator", "No such execution.");
}

/** Ends what has waited its full time, with the outcome `expired`; stops between batches once `signal` is aborted. @returns how many. */
export async function sweepExecutions(sql: Sql, now: Date, signal?: AbortSignal): Promise<number> {
  let ended = 0;
  for (;;) {
    const batch = await store.expireExecutions(sql, now, sweepBatch);
    ended += batch;
    if (batch < sweepBatch || signal?.aborted) return ended;
  }
}

/** Executions as the operator sees them: those that wait, the first to expire at the top, or all, newest first. */
export async function listExecutions(sql: Sql, { all, limit }: { all: boolean; limit: number }) {
  const rows = await (all ? store.selectNewest(sql, limit) : store.selectWaiting(sql, limit));
  return rows.map(({ id, outcome, arguments: values, ...row }) => ({
    executionName: nameOf(id),
    ...row,
    state: outcome === null ? "Waiting" : "Completed",
    outcome,
    ...values,
  }));
}

import type { Clock } from "../platform/clock.ts";
import type { Database, Sql } from "../platform/database/database.ts";
import { invalid, ServiceError } from "../platform/errors.ts";
import { isCode, isPlainText, isUuid } from "../platform/text.ts";
import { tokenSha256 } from "./callback-token.ts";
import { executionIdOf, executionName as nameOf } from "./names.ts";
import { decideExecution, executionExists, expireExecutions, type Which } from "./store.ts";

export type DecideDeps = { db: Database; clock: Clock };

/** The outcome of a decision that said nothing (contract, States). */
export const unspecified = "unspecified";

const maxDecision = 200;
// Few enough that no decision waits long behind a batch.
const sweepBatch = 1_000;

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
  if (typeof text !== "string" || text === "" || text.length > maxDecision || !isPlainText(text))
    throw invalid(`decision must be a text of 1 to ${maxDecision} characters.`);
  return text;
}

async function decide({ db, clock }: DecideDeps, which: Which, outcome: string, actor: string, unknown: string) {
  const ended = await decideExecution(db, which, { outcome, at: clock(), actor });
  if (ended) return { executionName: nameOf(ended.id), outcome, ...ended.arguments };
  if (await executionExists(db, which)) throw new ServiceError("conflict", "This execution has ended.");
  throw new ServiceError("not_found", unknown);
}

/** Ends an execution through its callback. @throws ServiceError for an unknown token or an execution that has ended. */
export async function decideByCallback(deps: DecideDeps, token: string, body: unknown) {
  const outcome = outcomeOf(body);
  if (!isCode(token)) throw new ServiceError("not_found", "Not found.");
  return decide(deps, { callbackSha256: tokenSha256(token) }, outcome, "callback", "Not found.");
}

/** Ends an execution by an operator. @param actor for the audit log @throws ServiceError for an unknown execution or one that has ended. */
export async function decideByOperator(deps: DecideDeps, executionName: string, decision: string, actor = "operator") {
  const id = executionIdOf(executionName);
  if (!isUuid(id)) throw new ServiceError("not_found", "No such execution.");
  return decide(deps, { id }, decisionText(decision), actor, "No such execution.");
}

/** Ends what has waited its full time, with the outcome `expired`; stops between batches once `signal` is aborted. @returns how many. */
export async function sweepExecutions(db: Sql, now: Date, signal?: AbortSignal): Promise<number> {
  let ended = 0;
  for (;;) {
    const batch = await expireExecutions(db, now, sweepBatch);
    ended += batch;
    if (batch < sweepBatch || signal?.aborted) return ended;
  }
}

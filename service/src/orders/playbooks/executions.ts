import { actorOf, type Principal } from "../../kernel/identity/identity.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import type { Database } from "../../kernel/platform/database/database.ts";
import { invalid, ServiceError } from "../../kernel/platform/errors.ts";
import { newUuid } from "../../kernel/platform/ids.ts";
import type { Log } from "../../kernel/platform/logs.ts";
import { tokenSha256 } from "../../kernel/platform/secrets.ts";
import { isCode, isPlainText, isUuid, shownText } from "../../kernel/platform/text.ts";
import { argumentsOf, returnedOf } from "./arguments.ts";
import type { Callbacks } from "./callback-token.ts";
import { executionIdOf, executionName as nameOf } from "./names.ts";
import { playbookOf } from "./registry.ts";
import type { PlaybookStarted } from "./schemas.ts";
import * as store from "./store.ts";

export type PlaybookDeps = { db: Database; clock: Clock; log: Log; callbacks: Callbacks };

function attemptOf(principal: Principal, at: Date, playbook: string, executionName: string | null): store.RunAttempt {
  const { partnerId } = principal;
  return { at, actor: actorOf(principal), partnerId, detail: { playbook: shownText(playbook), executionName } };
}

export const recordRefusedRun = ({ db, clock }: PlaybookDeps, principal: Principal, key: string): Promise<void> =>
  store.insertRunAttempt(db, attemptOf(principal, clock(), key, null));

/**
 * Starts an execution: writes its row, audit line and task. It then waits for a decision until it expires.
 * @returns only the execution's name
 * @throws ServiceError for an unknown playbook, fields that break its rules, or a start that could not be confirmed
 */
export async function runPlaybook(
  { db, clock, log, callbacks }: PlaybookDeps,
  principal: Principal,
  key: string,
  readFields: () => Promise<[string, string][]>,
): Promise<PlaybookStarted> {
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

type DecideDeps = { db: Database; clock: Clock };

/** The outcome when a callback has no decision (contract, States). */
const unspecified = "unspecified";

const maxDecision = 200;
// The most rows in one batch, so that a decision waits only briefly for the batch's locks.
const sweepBatch = 1_000;

/**
 * The outcome in a callback's body: its `decision`, or `unspecified` when it has none.
 * @throws ServiceError for a body that is not an object. Also for a decision that is not a text, number or boolean, or
 * whose text is empty, too long or not plain
 */
function outcomeOf(body: unknown): string {
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

async function decide({ db, clock }: DecideDeps, which: store.Which, outcome: string, actor: string, unknown: string) {
  const ended = await store.decideExecution(db, which, { outcome, at: clock(), actor });
  if (ended) return { executionName: nameOf(ended.id), outcome, ...ended.arguments };
  if (await store.executionExists(db, which)) throw new ServiceError("conflict", "This execution has ended.");
  throw new ServiceError("not_found", unknown);
}

/**
 * Ends an execution through its callback.
 * @throws ServiceError for an unknown token, an ended or expired execution, and as `outcomeOf`
 */
export async function decideByCallback(deps: DecideDeps, token: string, body: unknown) {
  const outcome = outcomeOf(body);
  if (!isCode(token)) throw new ServiceError("not_found", "Not found.");
  return decide(deps, { callbackSha256: tokenSha256(token) }, outcome, "callback", "Not found.");
}

/**
 * Ends an execution on behalf of an operator.
 * @param actor for the audit log
 * @throws ServiceError for an unknown, ended or expired execution, and for a decision that `decisionText` refuses
 */
export async function decideByOperator(deps: DecideDeps, executionName: string, decision: string, actor = "operator") {
  const id = executionIdOf(executionName);
  if (!isUuid(id)) throw new ServiceError("not_found", "No such execution.");
  return decide(deps, { id }, decisionText(decision), actor, "No such execution.");
}

/**
 * Ends expired executions with the outcome `expired`. Stops after the current batch once `signal` is aborted.
 * @returns the number of ended executions
 */
export async function sweepExecutions(db: Database, now: Date, signal?: AbortSignal): Promise<number> {
  let ended = 0;
  for (;;) {
    const batch = await store.expireExecutions(db, now, sweepBatch);
    ended += batch;
    if (batch < sweepBatch || signal?.aborted) return ended;
  }
}

import { actorOf, type Principal } from "../identity/identity.ts";
import type { Clock } from "../platform/clock.ts";
import type { Database } from "../platform/database/database.ts";
import { invalid, ServiceError } from "../platform/errors.ts";
import { newUuid } from "../platform/ids.ts";
import type { Log } from "../platform/logs.ts";
import { shownText } from "../platform/text.ts";
import { argumentsOf, returnedOf } from "./arguments.ts";
import { type Callbacks, tokenSha256 } from "./callback-token.ts";
import { executionName as nameOf } from "./names.ts";
import { playbookOf } from "./registry.ts";
import type { PlaybookStarted } from "./schemas.ts";
import * as store from "./store.ts";

export type PlaybookDeps = { db: Database; clock: Clock; log: Log; callbacks: Callbacks };

function attemptOf(principal: Principal, at: Date, playbook: string, executionName: string | null): store.RunAttempt {
  const { partnerId } = principal;
  return { at, actor: actorOf(principal), partnerId, detail: { playbook: shownText(playbook), executionName } };
}

/** Records an attempt that started nothing. */
export const recordRefusedRun = ({ db, clock }: PlaybookDeps, principal: Principal, key: string): Promise<void> =>
  store.insertRunAttempt(db, attemptOf(principal, clock(), key, null));

/**
 * Starts an execution: one row, which waits until it is decided on or expires.
 * @returns its name, which says nothing else.
 * @throws ServiceError for an unknown playbook, fields that break its rules, or a start that could not be confirmed.
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

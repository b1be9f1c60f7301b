import type { Call, Caller, CallOutcome, Exchange } from "../calls/call.ts";
import type { AnyAct } from "./act.ts";
import type { ActDeps } from "./deps.ts";
import { whyTooLate } from "./fence.ts";
import type { IntentRow } from "./store.ts";

/** The outcome of an attempt. `error`: this service failed before the provider could act. */
export type Performed =
  | { kind: "done"; result: unknown }
  | Exclude<CallOutcome, { kind: "answered" }>
  | { kind: "error"; why: string };

/**
 * Makes one attempt of an act that is recorded as begun.
 * @returns the outcome, and the last request that was sent, with its response
 */
export async function performAct(
  deps: ActDeps,
  act: AnyAct,
  intentRow: IntentRow,
  caller: Caller,
): Promise<{ outcome: Performed; exchange: Exchange | undefined }> {
  const exchanges: Exchange[] = [];
  const call = caller.watched((exchange) => exchanges.push(exchange));
  const fenced: Call = async (request) => {
    const why = request.method === "GET" ? null : await whyTooLate(deps, act, intentRow, caller);
    return why === null ? call(request) : { kind: "unavailable", why, retryAfterMs: null };
  };
  let outcome: Performed;
  try {
    outcome = await act.perform(intentRow, fenced);
  } catch (error) {
    outcome = afterError(wordsOf(error), new Set(exchanges.map((each) => each.outcome.kind)));
  }
  return { outcome, exchange: exchanges.findLast(({ requestSha256 }) => requestSha256 !== null) };
}

/**
 * After an error in this service, the outcomes of the requests sent so far determine whether the provider may have
 * acted.
 */
function afterError(why: string, outcomes: ReadonlySet<CallOutcome["kind"]>): Performed {
  if (outcomes.has("answered") || outcomes.has("unknown")) return { kind: "unknown", why };
  return outcomes.has("unavailable") ? { kind: "unavailable", why, retryAfterMs: null } : { kind: "error", why };
}

export const wordsOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).slice(0, 500);

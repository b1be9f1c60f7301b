import type { Fetch } from "../platform/bounds/bounded-request.ts";
import type { Clock } from "../platform/clock.ts";
import type { Database, Sql, Tx } from "../platform/database/database.ts";
import { invalid } from "../platform/errors.ts";
import type { Jobs } from "../platform/jobs/jobs.ts";
import type { Log } from "../platform/logs.ts";
import type { SecretBytes } from "../platform/secrets.ts";
import { hasNulEscape } from "../platform/text.ts";
import type { Account } from "./account.ts";
import type { Act, ActEnd, AnyAct, Intent, NewIntent, SaidDone } from "./acts/act.ts";
import { concludeIntent } from "./acts/conclude.ts";
import { leavesWithinMs } from "./acts/fence.ts";
import { resolveIntent } from "./acts/resolve.ts";
import { runIntent } from "./acts/run.ts";
import { actQueueOf, insertIntent } from "./acts/store.ts";
import { type Call, type Caller, type CallerDeps, createCaller } from "./calls/call.ts";
import { type EventOutcome, eventQueue, insertEvent, type RawEvent, rawEvents } from "./inbound/store.ts";
import type { Headers } from "./inbound/verifier.ts";
import { type EventHandler, workEvent } from "./inbound/work.ts";
import { allProviders, type ProviderName } from "./names.ts";
import { callColumn, eventColumn, sealedJson } from "./sealed-json.ts";

export type ProvidersDeps = {
  db: Database;
  clock: Clock;
  log: Log;
  secrets: SecretBytes;
  fetch: Fetch;
  /** Counts requests to providers. */
  countCall?: CallerDeps["count"];
  /** Counts what became of their events. */
  countEvent?: (provider: ProviderName, outcome: EventOutcome) => void;
};

/** What came of the bytes that a provider, or somebody else, sent. */
export type Taken = { outcome: "stored" | "repeated" } | { outcome: "forged"; why: string };

/** The accounts at providers: what is asked of them, what is done by them once only, and what they tell. */
export type Providers = {
  has: (provider: ProviderName) => boolean;
  /** For requests that may be repeated. Acts are handed a call of their own. @throws Error without an account */
  callOf: (provider: ProviderName) => Call;
  /**
   * The same with a breaker and a pause of its own, and the usual time for a request: for what people wait for, and the failures of
   * other requests are not to stop.
   */
  separateCallOf: (provider: ProviderName) => Call;
  /** At the start, before any job runs; also without an account, for intents of before. */
  defineAct: <R>(act: Act<R>) => void;
  /** Writes the intent of an act, and the job that begins it, in the caller's transaction. The same one again changes nothing. */
  intend: (tx: Tx, intent: NewIntent) => Promise<void>;
  /**
   * Ends an act of which an event shows what came of it, before its own answer or a look did. The order's row is locked.
   * @returns false when there is none, or it has ended
   */
  conclude: <R>(
    tx: Tx,
    which: Pick<Intent, "act" | "orderId" | "attempt">,
    end: Exclude<ActEnd<R>, { kind: "unclear" }>,
  ) => Promise<boolean>;
  /**
   * Ends an act of which nobody knew by what a person found at the provider; null: it was not done.
   * @throws ServiceError when it is known already, is somebody else's task, or for an id that cannot be
   */
  resolve: (which: { orderId: number; intentId: number }, said: SaidDone | null, by: string) => Promise<void>;
  /** A handler of the provider's events; several may be set, each says `irrelevant` to what is not its own. */
  onEvent: (provider: ProviderName, handler: EventHandler) => void;
  takesEvents: (provider: ProviderName) => boolean;
  takeEvent: (provider: ProviderName, raw: Buffer, headers: Headers) => Promise<Taken>;
  /** Events as they came, for evidence. */
  rawEvents: (db: Sql, ids: readonly number[]) => Promise<RawEvent[]>;
  /** Has the jobs of acts and events worked on. */
  work: (jobs: Jobs) => void;
  /** The accounts with how their last requests went. */
  accounts: () => { account: Account; caller: Caller }[];
};

/** On each node, of one provider: each may hold a document of 35 MB several times over. */
const actsAtOnce = 2;

/** @param accounts those that are configured */
export function openProviders(deps: ProvidersDeps, accounts: readonly Account[]): Providers {
  const { db, clock, log, secrets, fetch, countCall, countEvent } = deps;
  const [calls, events] = [sealedJson(secrets, callColumn), sealedJson(secrets, eventColumn)];
  const acts = new Map<string, AnyAct>();
  const handlers = new Map<ProviderName, EventHandler[]>();
  const callerDeps = { fetch, clock, log, ...(countCall && { count: countCall }) };
  const opened = new Map(
    accounts.map((account) => [account.provider, { account, caller: createCaller(callerDeps, account) }]),
  );
  const callerOf = (provider: ProviderName) => opened.get(provider)?.caller ?? null;
  const actDeps = { db, clock, log, sealed: calls, acts, callerOf };
  const handlersOf = (provider: ProviderName) => handlers.get(provider) ?? [];
  const eventDeps = { db, clock, sealed: events, handlersOf, ...(countEvent && { count: countEvent }) };
  return {
    has: (provider) => opened.has(provider),
    callOf(provider) {
      const caller = callerOf(provider);
      if (!caller) throw new Error(`there is no account at ${provider}`);
      return caller.call;
    },
    separateCallOf(provider) {
      const account = opened.get(provider)?.account;
      if (!account) throw new Error(`there is no account at ${provider}`);
      const { baseUrl, authorization } = account;
      return createCaller(callerDeps, { provider, baseUrl, authorization }).call;
    },
    defineAct(act) {
      const caller = callerOf(act.provider);
      if (caller && leavesWithinMs(act, caller) <= 0)
        throw new Error(`${act.name} is looked up before its request can have ended`);
      acts.set(act.name, act);
    },
    intend: (tx, intent) => insertIntent(tx, calls, intent),
    conclude: (tx, which, end) => concludeIntent(actDeps, tx, which, end),
    resolve: (which, said, by) => resolveIntent(actDeps, which, said, by),
    onEvent: (provider, handler) => void handlers.set(provider, [...handlersOf(provider), handler]),
    takesEvents: (provider) => Boolean(opened.get(provider)?.account.verify),
    async takeEvent(provider, raw, headers) {
      const at = clock();
      const verified = opened.get(provider)?.account.verify?.(raw, headers, at) ?? { ok: false, why: "no account" };
      if (!verified.ok) return { outcome: "forged", why: verified.why };
      if (hasNulEscape(raw.toString())) throw invalid("An event's texts must not contain NUL.");
      const isNew = await insertEvent(db, events, { provider, raw, headers, event: verified, at });
      return { outcome: isNew ? "stored" : "repeated" };
    },
    rawEvents: (reader, ids) => rawEvents(reader, events, ids),
    work(jobs) {
      for (const provider of allProviders) {
        const concurrency = actsAtOnce;
        jobs.work<{ intentId: number }>(actQueueOf(provider), ({ intentId }) => runIntent(actDeps, intentId), {
          concurrency,
        });
      }
      jobs.work<{ eventRow: number; tries?: number }>(eventQueue, (job) => workEvent(eventDeps, job));
    },
    accounts: () => [...opened.values()],
  };
}

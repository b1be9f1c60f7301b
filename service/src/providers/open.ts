import type { Fetch } from "../kernel/platform/bounds/bounded-request.ts";
import type { Clock } from "../kernel/platform/clock.ts";
import type { Database, Sql, Tx } from "../kernel/platform/database/database.ts";
import { invalid } from "../kernel/platform/errors.ts";
import type { Jobs } from "../kernel/platform/jobs/jobs.ts";
import type { Log } from "../kernel/platform/logs.ts";
import type { SecretBytes } from "../kernel/platform/secrets.ts";
import { hasNulEscape } from "../kernel/platform/text.ts";
import type { Account } from "./account.ts";
import type { Act, ActEnd, AnyAct, Intent, NewIntent, ProviderFinding } from "./acts/act.ts";
import { concludeIntent } from "./acts/end.ts";
import { leavesWithinMs } from "./acts/fence.ts";
import { runIntent } from "./acts/run.ts";
import { actQueueOf, insertIntent } from "./acts/store.ts";
import { resolveIntent } from "./acts/stranded.ts";
import { type Call, type Caller, type CallerDeps, createCaller } from "./calls/call.ts";
import { type EasyPostSettings, easypostAccount } from "./easypost/account.ts";
import { type QuizSettings, quizAccount } from "./identity/quiz.ts";
import { type StripeIdentitySettings, stripeIdentityAccount } from "./identity/stripe.ts";
import { type EventOutcome, eventQueue, insertEvent, type RawEvent, rawEvents } from "./inbound/store.ts";
import type { Headers } from "./inbound/verifier.ts";
import { type EventHandler, workEvent } from "./inbound/work.ts";
import { type LobSettings, lobAccount } from "./lob/account.ts";
import { allProviders, type ProviderName, providerNames } from "./names.ts";
import { callColumn, eventColumn, sealedJson } from "./sealed-json.ts";
import { type TelnyxSettings, telnyxAccount } from "./telnyx/account.ts";

export type ProvidersDeps = {
  db: Database;
  clock: Clock;
  log: Log;
  secrets: SecretBytes;
  fetch: Fetch;
  countCall?: CallerDeps["count"];
  countEvent?: (provider: ProviderName, outcome: EventOutcome) => void;
};

/** The result of verifying and storing an incoming event. */
type EventReceipt = { outcome: "stored" | "repeated" } | { outcome: "forged"; why: string };

/** The accounts at providers: requests, acts (irreversible requests) that must happen once, and signed events. */
export type Providers = {
  has: (provider: ProviderName) => boolean;
  /**
   * The call for requests that are safe to repeat. Acts are performed with other calls, whose last request is recorded.
   * @throws Error without an account
   */
  callOf: (provider: ProviderName) => Call;
  /**
   * A call with a separate circuit breaker and the default time-out, for requests that people wait for. So failures of
   * background work don't block people.
   */
  separateCallOf: (provider: ProviderName) => Call;
  /**
   * Registers a kind of act. Must be called at startup, before any job runs, even if the provider has no account: older
   * intents must still be able to end.
   */
  defineAct: <R>(act: Act<R>) => void;
  /** Writes the intent of an act and its job in the caller's transaction. Idempotent. */
  intend: (tx: Tx, intent: NewIntent) => Promise<void>;
  /**
   * Ends an act with the outcome that an event reports, possibly before the provider's response or a look-up. The
   * order's row must be locked.
   * @returns false for an unknown act, and for one that has not begun or has already ended
   */
  conclude: <R>(
    tx: Tx,
    which: Pick<Intent, "act" | "orderId" | "attempt">,
    end: Exclude<ActEnd<R>, { kind: "unclear" }>,
  ) => Promise<boolean>;
  /**
   * Ends an act whose outcome is unknown, or that is stranded, with a person's findings at the provider; null means
   * that the act was not done.
   * @throws ServiceError `not_found`; `conflict` unless staff were asked to look, or when another person has claimed
   * the task; `validation` for malformed findings
   */
  resolve: (which: { orderId: number; intentId: number }, finding: ProviderFinding | null, by: string) => Promise<void>;
  /** Adds a handler of the provider's events. A handler returns `irrelevant` for an event that it does not handle. */
  onEvent: (provider: ProviderName, handler: EventHandler) => void;
  acceptsEvents: (provider: ProviderName) => boolean;
  acceptEvent: (provider: ProviderName, raw: Buffer, headers: Headers) => Promise<EventReceipt>;
  /** Reads events of providers as received, for evidence. */
  rawEvents: (db: Sql, ids: readonly number[]) => Promise<RawEvent[]>;
  /** Registers the workers of the jobs. */
  work: (jobs: Jobs) => void;
  /** For each provider with an account: the account, and the caller, which tracks the provider's health. */
  accounts: () => { account: Account; caller: Caller }[];
};

/**
 * The most simultaneous acts on a node for each provider, because one act may hold several copies of a 35 MB document
 * in memory.
 */
const actsAtOnce = 2;

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
    resolve: (which, finding, by) => resolveIntent(actDeps, which, finding, by),
    onEvent: (provider, handler) => void handlers.set(provider, [...handlersOf(provider), handler]),
    acceptsEvents: (provider) => Boolean(opened.get(provider)?.account.verify),
    async acceptEvent(provider, raw, headers) {
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

type Settings = {
  easypost: EasyPostSettings | null;
  lob: LobSettings | null;
  telnyx: TelnyxSettings | null;
  identity?: StripeIdentitySettings | null;
  quiz?: QuizSettings | null;
};

/** Opens the configured accounts. */
export function accountsOf({ easypost, lob, telnyx, identity, quiz }: Settings): Account[] {
  return [
    easypost && easypostAccount(easypost),
    lob && lobAccount(lob),
    telnyx && telnyxAccount(telnyx),
    identity && stripeIdentityAccount(identity),
    quiz && quizAccount(quiz),
  ].filter((account) => account !== null && account !== undefined);
}

export type CheckedAccount = {
  provider: ProviderName;
  name: string;
  ok: boolean;
  /** A summary of the provider's response, or the reason why the check failed. */
  detail: string;
  /** True if the service accepts the provider's events. If false, it polls the provider, or needs no events. */
  takesEvents: boolean;
};

const timeoutMs = 5_000;

/** Checks all accounts concurrently. Buys and changes nothing. Never rejects. */
export const checkAccounts = (
  accounts: readonly Account[],
  deps: Pick<CallerDeps, "fetch" | "clock" | "log">,
): Promise<CheckedAccount[]> =>
  Promise.all(
    accounts.map(async (account) => {
      const { provider, verify } = account;
      const { call } = createCaller(deps, { ...account, timeoutMs });
      const found = await account.check(call);
      const detail = found.ok ? found.detail : found.why;
      return { provider, name: providerNames[provider], ok: found.ok, detail, takesEvents: verify !== null };
    }),
  );

/**
 * Requests that may be retried: the work for each key is done once, and for a day every retry gets the same response
 * (contract, Idempotency-Key).
 *
 * A row claims the key and stores the result. Duplicates wait until the result is final. If the process with the claim
 * seems to have died, one duplicate takes over the claim and continues from the stored result, unless `refuseAbandoned`
 * forbids that. If the first process was only slow, it responds with the duplicate's result instead of its own.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "./clock.ts";
import type { Sql } from "./database/database.ts";
import type { Statement } from "./database/sql.ts";
import { isOutcomeUnknown, waitedForRowOf } from "./database/sql-errors.ts";
import { ServiceError } from "./errors.ts";
import {
  abandonKey,
  claimStatement,
  completeKey,
  findKey,
  type KeyClaim,
  type RequestKey,
  reclaimKey,
  releaseKey,
} from "./idempotency-keys.ts";
import { newUuid } from "./ids.ts";

const duplicateTimeoutMs = 5_000;
const pollMs = 50;

/** The response to a request with a key: the stored status, and the result from which the caller builds the body. */
export type Answer<Result> = { status: number; result: Result; replayed: boolean };

/** The stored result of the work so far. If it is not final, `finish` continues from it. */
type Progress<Result extends object = object> = { result: Result; final: boolean };

/**
 * Builds the INSERT that claims a key. The INSERT returns a row if this request has claimed the key, and no row if a
 * duplicate was first.
 */
type Claim = (progress: Progress | typeof nothingDone) => Statement;

const nothingDone = { result: null, final: false } as const;

export type OnceDeps = { db: Sql; clock: Clock };

type Answered<Result> = {
  status: number;
  /** Parses a result that an earlier release stored as a text and not as a JSON object. */
  readText?: (text: string) => Result;
};

export type Work<Result> = Answered<Result> & {
  work: () => Promise<Result>;
  /** The message that refuses a retry when the work may have been done; null for work that is safe to repeat. */
  refuseAbandoned: string | null;
};

/**
 * Claims the request's key, then performs the work once. An error of `work` is not stored. After an error, the key is
 * released, unless the work may have been committed.
 * @throws ServiceError when the key was used with another body, or when a duplicate is still in progress after 5 s.
 * Also when the work may have been done and `refuseAbandoned` is set
 */
export const once = <Result extends object>(
  deps: OnceDeps,
  key: RequestKey | null,
  { work, ...rest }: Work<Result>,
): Promise<Answer<Result>> =>
  run<Result, null>(deps, key, {
    ...rest,
    begin: async (claim) => {
      const claimed = claim ? await deps.db.query(claim(nothingDone)) : [true];
      return claimed.length === 1 ? nothingDone : null;
    },
    finish: work,
  });

export type Steps<Result extends object> = Answered<Result> & {
  /**
   * Performs the first part of the work, and claims the key in the same statement or transaction.
   * @param claim null for a request without a key
   * @returns null when the key was already claimed; nothing was written then
   */
  begin: (claim: Claim | null) => Promise<Progress<Result> | null>;
  /**
   * Completes the result. If `finish` fails, or if this process dies first, a later request with the key calls it
   * again.
   */
  finish: (soFar: Result) => Promise<Result>;
};

/**
 * Like `once`, for work whose first part also writes the claim. When `finish` fails, the claim stays. Once the claim
 * counts as abandoned, a request with the key continues from the stored result.
 */
export const onceInSteps = <Result extends object>(
  deps: OnceDeps,
  key: RequestKey | null,
  steps: Steps<Result>,
): Promise<Answer<Result>> => run<Result, Result>(deps, key, steps);

/** Stores a request's result in the transaction of its work, so that both commit or neither does. */
export type RecordResult = (tx: Sql, result: object) => Promise<void>;

export const recordNothing: RecordResult = async () => {};

/**
 * Like `once`, for work that ends in a transaction. The work calls `record` with its result inside that transaction.
 */
export const onceRecorded = <Result extends object>(
  deps: OnceDeps,
  key: RequestKey | null,
  { status, work }: { status: number; work: (record: RecordResult) => Promise<Result> },
): Promise<Answer<Result>> =>
  onceInSteps<Result>(deps, key, {
    status,
    begin: async (claim) => {
      try {
        return { result: await work(claim ? recordWith(claim) : recordNothing), final: true };
      } catch (error) {
        if (error instanceof AlreadyClaimed) return null;
        throw error;
      }
    },
    finish: async (result) => result,
  });

/** Thrown to roll back the work's transaction when a duplicate was first. */
class AlreadyClaimed extends Error {}

const recordWith =
  (claim: Claim): RecordResult =>
  async (tx, result) => {
    const claimed = await tx.query(claim({ result, final: true }));
    if (claimed.length === 0) throw new AlreadyClaimed("the key was claimed by an earlier request");
  };

/** The steps of a request. `SoFar` is null for work that claims its key before it starts. */
type Plan<Result extends object, SoFar extends Result | null> = Answered<Result> & {
  begin: (claim: Claim | null) => Promise<FirstStep<Result, SoFar> | null>;
  finish: (soFar: SoFar) => Promise<Result>;
  refuseAbandoned?: string | null;
};
type FirstStep<Result, SoFar> = { result: Result; final: true } | { result: SoFar; final: false };

async function run<Result extends object, SoFar extends Result | null>(
  deps: OnceDeps,
  key: RequestKey | null,
  plan: Plan<Result, SoFar>,
): Promise<Answer<Result>> {
  const { status, begin, finish, readText } = plan;
  const claimed = key && { key, id: newUuid() };
  const firstStep = claimed ? await beginOrReplay(deps, claimed, plan) : await begin(null);
  if (firstStep === null) throw new Error("work without a key did not begin");
  if ("replayed" in firstStep) return firstStep;
  if (firstStep.final) return { status, result: firstStep.result, replayed: false };
  const result = await finish(firstStep.result).catch(async (error) => {
    if (claimed && firstStep.result === null)
      await (isOutcomeUnknown(error) ? abandonKey : releaseKey)(deps.db, claimed);
    throw error;
  });
  if (claimed && !(await completeKey(deps.db, claimed, { status, result })))
    return await replayOf<Result>(deps, claimed.key, readText);
  return { status, result, replayed: false };
}

/** The result of the request that took over the claim, so that all requests with the key get the same response. */
async function replayOf<Result extends object>(
  { db, clock }: OnceDeps,
  key: RequestKey,
  readText: Answered<Result>["readText"],
): Promise<Answer<Result>> {
  for (let waitedMs = 0; waitedMs <= duplicateTimeoutMs; waitedMs += pollMs) {
    const stored = await findKey(db, key, clock(), readText);
    if (stored && !stored.isPending) return { status: stored.status, result: stored.result as Result, replayed: true };
    if (!stored || stored.isAbandoned) break;
    await sleep(pollMs);
  }
  throw inFlight();
}

async function beginOrReplay<Result extends object, SoFar extends Result | null>(
  { db, clock }: OnceDeps,
  claimed: KeyClaim,
  { status, begin, readText, refuseAbandoned = null }: Plan<Result, SoFar>,
): Promise<FirstStep<Result, SoFar> | Answer<Result>> {
  for (let waitedMs = 0; waitedMs <= duplicateTimeoutMs; waitedMs += pollMs) {
    const now = clock();
    const stored = await findKey(db, claimed.key, now, readText);
    if (stored && !stored.isPending) return { status: stored.status, result: stored.result as Result, replayed: true };
    if (stored?.isAbandoned && refuseAbandoned !== null) throw new ServiceError("conflict", refuseAbandoned);
    if (stored?.isAbandoned && (await reclaimKey(db, claimed))) return { result: stored.result as SoFar, final: false };
    if (stored) await sleep(pollMs);
    else {
      const claim: Claim = ({ result, final }) => claimStatement(claimed, { status, result }, final, now);
      const firstStep = await begin(claim).catch((error) => {
        // If the lock time-out ended a wait for a duplicate's row, the duplicate counts as still in progress. A
        // time-out on another lock, such as a migration's, gives a 503.
        throw waitedForRowOf("idempotency_keys", error) ? inFlight() : error;
      });
      if (firstStep) return firstStep;
    }
  }
  throw inFlight();
}

const inFlight = (): ServiceError =>
  new ServiceError("idempotency_in_flight", "A request with this Idempotency-Key is still in progress.");

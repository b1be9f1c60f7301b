/**
 * Requests that may be sent again: done once for each key, and answered alike each time (contract, Idempotency-Key).
 *
 * A key is claimed by a row that also keeps the result. While that is not final, duplicates wait for it; when the process that
 * claimed it died, one of them takes over and continues from the stored result. A request that was only slow then leaves the claim
 * alone, and answers with what the other one stores.
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
  releaseKey,
  takeOver,
} from "./idempotency-keys.ts";
import { newUuid } from "./ids.ts";

const duplicateTimeoutMs = 5_000;
const pollMs = 50;

/** The replay of a key: the first response's status, and the result from which the caller makes the body. */
export type Answer<Result> = { status: number; result: Result; replayed: boolean };

/** The result so far; one that is not final is handed to `finish`. */
export type Progress<Result extends object = object> = { result: Result; final: boolean };

/** The insert that claims a key. It returns a row when the key is ours, and none when a duplicate was first. */
export type Claim = (progress: Progress | typeof nothingDone) => Statement;

const nothingDone = { result: null, final: false } as const;

export type OnceDeps = { db: Sql; clock: Clock };

type Answered<Result> = {
  status: number;
  /** Reads what an earlier release stored as a text of its own instead of a JSON object. */
  readText?: (text: string) => Result;
};

export type Work<Result> = Answered<Result> & {
  work: () => Promise<Result>;
  /** Refuses a retry, with this message, where the work may have been done; null for work that does no harm when it is repeated. */
  refuseAbandoned: string | null;
};

/**
 * Does a request's work once for its key, which is claimed before. What `work` throws is not kept: the key is free again, unless
 * the work may have been committed.
 * @throws ServiceError when the key was used with another body, or a duplicate is still in progress after 5 s
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
   * Does the first part of the work, and claims the key in the very statement that does it.
   * @param claim null for a request without a key
   * @returns null when the key was already claimed; then nothing was written
   */
  begin: (claim: Claim | null) => Promise<Progress<Result> | null>;
  /** Makes the final result; repeated by another request when the process dies before its end. */
  finish: (soFar: Result) => Promise<Result>;
};

/** Like `once`, for work whose first part writes the claim. When `finish` fails, the next request with the key goes on from there. */
export const onceInSteps = <Result extends object>(
  deps: OnceDeps,
  key: RequestKey | null,
  steps: Steps<Result>,
): Promise<Answer<Result>> => run<Result, Result>(deps, key, steps);

/** Keeps a request's result in the transaction that does its work, so that both are there or neither is. */
export type RecordResult = (tx: Sql, result: object) => Promise<void>;

export const recordNothing: RecordResult = async () => {};

/** Like `once`, for work that ends in a transaction: that transaction calls `record` with the result. */
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

/** Rolls the work's transaction back: a duplicate was first. */
class AlreadyClaimed extends Error {}

const recordWith =
  (claim: Claim): RecordResult =>
  async (tx, result) => {
    const claimed = await tx.query(claim({ result, final: true }));
    if (claimed.length === 0) throw new AlreadyClaimed("the key was claimed by an earlier request");
  };

/** `SoFar` is null for work that claims its key before it does anything. */
type Plan<Result extends object, SoFar extends Result | null> = Answered<Result> & {
  begin: (claim: Claim | null) => Promise<Begun<Result, SoFar> | null>;
  finish: (soFar: SoFar) => Promise<Result>;
  refuseAbandoned?: string | null;
};
type Begun<Result, SoFar> = { result: Result; final: true } | { result: SoFar; final: false };

async function run<Result extends object, SoFar extends Result | null>(
  deps: OnceDeps,
  key: RequestKey | null,
  plan: Plan<Result, SoFar>,
): Promise<Answer<Result>> {
  const { status, begin, finish, readText } = plan;
  const claimed = key && { key, id: newUuid() };
  const begun = claimed ? await beginOrReplay(deps, claimed, plan) : await begin(null);
  if (begun === null) throw new Error("work without a key did not begin");
  if ("replayed" in begun) return begun;
  if (begun.final) return { status, result: begun.result, replayed: false };
  const result = await finish(begun.result).catch(async (error) => {
    if (claimed && begun.result === null) await (isOutcomeUnknown(error) ? abandonKey : releaseKey)(deps.db, claimed);
    throw error;
  });
  if (claimed && !(await completeKey(deps.db, claimed, { status, result })))
    return await replayOf<Result>(deps, claimed.key, readText);
  return { status, result, replayed: false };
}

/** The answer of the request that took the claim over: every request with the key answers alike. */
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
): Promise<Begun<Result, SoFar> | Answer<Result>> {
  for (let waitedMs = 0; waitedMs <= duplicateTimeoutMs; waitedMs += pollMs) {
    const now = clock();
    const stored = await findKey(db, claimed.key, now, readText);
    if (stored && !stored.isPending) return { status: stored.status, result: stored.result as Result, replayed: true };
    if (stored?.isAbandoned && refuseAbandoned !== null) throw new ServiceError("conflict", refuseAbandoned);
    if (stored?.isAbandoned && (await takeOver(db, claimed))) return { result: stored.result as SoFar, final: false };
    if (stored) await sleep(pollMs);
    else {
      const claim: Claim = ({ result, final }) => claimStatement(claimed, { status, result }, final, now);
      const begun = await begin(claim).catch((error) => {
        // The statement waited for a duplicate's transaction until the lock timeout. Other locks, as a migration's, make it 503.
        throw waitedForRowOf("idempotency_keys", error) ? inFlight() : error;
      });
      if (begun) return begun;
    }
  }
  throw inFlight();
}

const inFlight = (): ServiceError =>
  new ServiceError("idempotency_in_flight", "A request with this Idempotency-Key is still in progress.");

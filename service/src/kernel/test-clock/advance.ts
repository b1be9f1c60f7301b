import { auditLine } from "../audit/audit.ts";
import { actorOf, type Principal } from "../identity/identity.ts";
import type { Clock } from "../platform/clock.ts";
import { type Database, longStatements, type Tx } from "../platform/database/database.ts";
import { invalid, ServiceError } from "../platform/errors.ts";
import { enqueue, type Jobs } from "../platform/jobs/jobs.ts";
import type { Leap } from "./fields.ts";
import { type ClockState, insertAdvance, lastUnsettled, lockClock, readClock, resetAdvances, settle } from "./store.ts";

/** Makes the due times of a partner's test objects this many seconds earlier, in the caller's transaction. */
export type BringNearer = (tx: Tx, partnerId: string, seconds: number) => Promise<unknown>;

export type TestClockDeps = {
  db: Database;
  clock: Clock;
  /** One function for each kind of object that has due times. */
  nearer: readonly BringNearer[];
};

/**
 * The name of the job queue for clocks that were advanced and whose due work is not finished yet; payload
 * `{partnerId}`.
 */
const testClockQueue = "test-clock";

/** The state of a test clock. */
export type TestClock = {
  status: "ready" | "advancing";
  testTime: string;
  realTime: string;
  advancedSeconds: number;
};

/** The furthest that a clock may be ahead, in seconds: five years. */
const maxSeconds = 5 * 365 * 24 * 3600;
const maxInADay = 500;

const shown = ({ seconds, advancing }: ClockState, now: Date): TestClock => ({
  status: advancing ? "advancing" : "ready",
  testTime: new Date(now.getTime() + seconds * 1000).toISOString(),
  realTime: now.toISOString(),
  advancedSeconds: seconds,
});

/** Reads the clock of the principal's firm. @throws ServiceError for a live key */
export async function showTestClock({ db, clock }: TestClockDeps, principal: Principal): Promise<TestClock> {
  const now = clock();
  return shown(await readClock(db, requireTest(principal), now), now);
}

/**
 * Advances the clock of the principal's firm: moves the due times of its test objects, and queues the work that becomes
 * due.
 * @throws ServiceError for a live key, for a time before the clock's, for a time too far ahead, and for too many
 * advances in 24 hours
 */
export async function advanceTestClock(deps: TestClockDeps, principal: Principal, leap: Leap): Promise<TestClock> {
  const partnerId = requireTest(principal);
  return deps.db.transaction(async (tx) => {
    await lockClock(tx, partnerId);
    const at = deps.clock();
    const before = await readClock(tx, partnerId, at);
    const seconds = secondsOf(leap, at.getTime() + before.seconds * 1000);
    if (before.seconds + seconds > maxSeconds)
      throw invalid("The test clock must not be more than 5 years ahead of real time; DELETE resets it.");
    if (before.lately >= maxInADay)
      throw new ServiceError("conflict", `The test clock can be advanced ${maxInADay} times in 24 hours.`);
    for (const bring of deps.nearer) await bring(tx, partnerId, seconds);
    await insertAdvance(tx, partnerId, seconds, at);
    await tx.query(
      auditLine({ at, action: "test_clock.advanced", actor: actorOf(principal), partnerId, detail: { seconds } }),
    );
    await enqueue(tx, testClockQueue, { partnerId });
    return shown({ ...before, seconds: before.seconds + seconds, advancing: true }, at);
  }, longStatements);
}

/**
 * Sets the clock back to real time. Work that the advances caused is not undone, and due times that were moved stay
 * moved.
 */
export async function resetTestClock(deps: TestClockDeps, principal: Principal): Promise<TestClock> {
  const partnerId = requireTest(principal);
  return deps.db.transaction(async (tx) => {
    await lockClock(tx, partnerId);
    const at = deps.clock();
    if (await resetAdvances(tx, partnerId, at))
      await tx.query(auditLine({ at, action: "test_clock.reset", actor: actorOf(principal), partnerId }));
    return shown(await readClock(tx, partnerId, at), at);
  });
}

/**
 * The id of the principal's firm.
 * @throws ServiceError for live credentials, which have no test clock
 */
function requireTest({ environment, partnerId }: Principal): string {
  if (environment !== "test") throw new ServiceError("conflict", "The test clock is for test keys only.");
  return partnerId;
}

function secondsOf(leap: Leap, testTime: number): number {
  if ("seconds" in leap) return leap.seconds;
  const seconds = Math.ceil((leap.to.getTime() - testTime) / 1000);
  if (seconds < 1) throw invalid("to must be later than the test clock's time: it goes forward only.");
  return seconds;
}

/** Does the work that is due for a firm's test objects. A sweep may be repeated, and several sweeps may run at once. */
export type Sweep = (partnerId: string, stopping: AbortSignal) => Promise<unknown>;

// The lease of the job that does the due work. If a node is killed, another node continues after this time. It is
// short, because a developer is waiting.
const leaseMs = 5_000;

// The most time for one sweep of one firm's clock. Clocks of other firms must not wait long.
const sliceMs = 15_000;

/** Sets up the jobs that do the due work after an advance and then mark the advance as finished. */
export function testClockJobs(
  jobs: Jobs,
  { db, clock, sweeps }: { db: Database; clock: Clock; sweeps: readonly Sweep[] },
): void {
  const work = async ({ partnerId }: { partnerId: string }, { signal }: { signal: AbortSignal }) => {
    const last = await lastUnsettled(db, partnerId);
    if (last === null) return;
    for (const sweep of sweeps) await inSlice(sweep, partnerId, signal);
    signal.throwIfAborted();
    await settle(db, partnerId, last, clock());
  };
  jobs.work<{ partnerId: string }>(testClockQueue, work, { concurrency: 2, leaseMs });
}

/**
 * Runs a sweep, and aborts its signal after the time slice. A sweep that ignores the signal runs longer. The regular
 * sweeps do the work that remains.
 * @throws an error of the sweep, if it occurs within the time slice
 */
export async function inSlice(sweep: Sweep, partnerId: string, stopping: AbortSignal, ms = sliceMs): Promise<void> {
  const slice = AbortSignal.timeout(ms);
  try {
    await sweep(partnerId, AbortSignal.any([stopping, slice]));
  } catch (error) {
    // Ignores every error after the time slice. Such an error usually means that a statement was canceled.
    if (!slice.aborted) throw error;
  }
}

import { auditLine } from "../audit/audit.ts";
import { actorOf, type Principal } from "../identity/identity.ts";
import type { Clock } from "../platform/clock.ts";
import { type Database, longStatements, type Tx } from "../platform/database/database.ts";
import { invalid, ServiceError } from "../platform/errors.ts";
import { enqueue } from "../platform/jobs/jobs.ts";
import type { Leap } from "./fields.ts";
import { type ClockState, insertAdvance, lockClock, readClock, resetAdvances } from "./store.ts";

/** Makes what comes due of a partner's test objects come due so many seconds earlier, in the caller's transaction. */
export type BringNearer = (tx: Tx, partnerId: string, seconds: number) => Promise<unknown>;

export type TestClockDeps = {
  db: Database;
  clock: Clock;
  /** Of everything that a partner would have to wait for. */
  nearer: readonly BringNearer[];
};

/** The queue of clocks whose leaps have consequences to see to; payload `{partnerId}`. */
export const testClockQueue = "test-clock";

/** What the clock shows. */
export type TestClock = {
  status: "ready" | "advancing";
  testTime: string;
  realTime: string;
  advancedSeconds: number;
};

/** Five years. */
const mostSeconds = 5 * 365 * 24 * 3600;
const mostInADay = 500;

const shown = ({ seconds, advancing }: ClockState, now: Date): TestClock => ({
  status: advancing ? "advancing" : "ready",
  testTime: new Date(now.getTime() + seconds * 1000).toISOString(),
  realTime: now.toISOString(),
  advancedSeconds: seconds,
});

/** @throws ServiceError for a live key */
export async function showTestClock({ db, clock }: TestClockDeps, principal: Principal): Promise<TestClock> {
  const now = clock();
  return shown(await readClock(db, requireTest(principal), now), now);
}

/**
 * Advances the clock of the principal's firm: what comes due of its test objects is brought nearer at once, and what is due by then
 * happens soon after.
 * @throws ServiceError for a live key, for a way back, and too far ahead
 */
export async function advanceTestClock(deps: TestClockDeps, principal: Principal, leap: Leap): Promise<TestClock> {
  const partnerId = requireTest(principal);
  return deps.db.transaction(async (tx) => {
    await lockClock(tx, partnerId);
    const at = deps.clock();
    const before = await readClock(tx, partnerId, at);
    const seconds = secondsOf(leap, at.getTime() + before.seconds * 1000);
    if (before.seconds + seconds > mostSeconds)
      throw invalid("The test clock must not be more than 5 years ahead of real time; DELETE resets it.");
    if (before.lately >= mostInADay)
      throw new ServiceError("conflict", `The test clock can be advanced ${mostInADay} times in 24 hours.`);
    for (const bring of deps.nearer) await bring(tx, partnerId, seconds);
    await insertAdvance(tx, partnerId, seconds, at);
    await tx.query(
      auditLine({ at, action: "test_clock.advanced", actor: actorOf(principal), partnerId, detail: { seconds } }),
    );
    await enqueue(tx, testClockQueue, { partnerId });
    return shown({ ...before, seconds: before.seconds + seconds, advancing: true }, at);
  }, longStatements);
}

/** Has the clock show real time again. What happened has happened, and what came nearer stays there. */
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

/** The firm. @throws ServiceError for live, whose time is the world's */
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

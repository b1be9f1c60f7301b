import type { Clock } from "../platform/clock.ts";
import type { Database } from "../platform/database/database.ts";
import type { Jobs } from "../platform/jobs/jobs.ts";
import { testClockQueue } from "./advance.ts";
import { lastUnsettled, settle } from "./store.ts";

/** Does what has come due of a firm's test objects; safe beside itself, and when it was done before. */
export type Sweep = (partnerId: string, stopping: AbortSignal) => Promise<unknown>;

// A leap of a killed node is waited for by a developer.
const leaseMs = 5_000;

// How long one sweep may hold up the clocks of others.
const sliceMs = 15_000;

/** Sees to the consequences of leaps: what came due happens, then the clock is ready. */
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
 * Has a sweep stop after a while; what is not done by then is left to the sweeps that run anyway.
 * @throws what the sweep throws within its time
 */
export async function inSlice(sweep: Sweep, partnerId: string, stopping: AbortSignal, ms = sliceMs): Promise<void> {
  const slice = AbortSignal.timeout(ms);
  try {
    await sweep(partnerId, AbortSignal.any([stopping, slice]));
  } catch (error) {
    // A statement that took longer was ended.
    if (!slice.aborted) throw error;
  }
}

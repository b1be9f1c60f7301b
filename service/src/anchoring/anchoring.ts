import type { Counter } from "prom-client";
import type { Fetch } from "../platform/bounded-request.ts";
import type { Clock } from "../platform/clock.ts";
import type { Sql } from "../platform/database.ts";
import type { Log } from "../platform/logs.ts";
import type { Metrics } from "../platform/metrics.ts";
import { upgradeProof } from "./calendar-upgrade.ts";
import { createCalendarSubmission } from "./calendars.ts";
import { type Anchor, claimDueAnchors, type DueAnchor, updateAnchor } from "./store.ts";

export { probeCalendar } from "./calendar-probe.ts";

/** The way of a sealed document's hash into a Bitcoin block. */
export type Anchoring = {
  /** Hands a SHA-256 digest (32 bytes) to all calendars; null when none took it. Never rejects. */
  submit: (digest: Uint8Array) => Promise<Anchor | null>;
  /** Asks the calendars about every proof that is due. Any number of nodes may do so at once. @returns how many were looked at */
  upgradePending: (now: Date) => Promise<number>;
};

export type AnchoringDeps = {
  /** URLs, at least one. */
  calendars: readonly string[];
  db: Sql;
  fetch: Fetch;
  clock: Clock;
  log: Log;
  metrics: Metrics;
};

const minutes = 60_000;
const days = 24 * 60 * minutes;
const batchSize = 8;
// A node that dies with a claimed batch delays it by this much, and loses nothing.
const claimMs = 10 * minutes;

/** Blocks come in about ten minutes, calendars settle in hours: the older a proof, the less it is asked about. */
function nextLook(submittedAt: Date, now: Date): Date {
  const age = now.getTime() - submittedAt.getTime();
  return new Date(now.getTime() + Math.min(Math.max(age / 4, 10 * minutes), days));
}

export function openAnchoring(deps: AnchoringDeps): Anchoring {
  const { calendars, db, fetch, clock, log, metrics } = deps;
  const outcomes = metrics.counter(
    "calendar_answers_total",
    "What calendars said to a hash, or to a proof that waits.",
    ["calendar", "outcome"],
  );
  const submitToAll = createCalendarSubmission({
    calendars,
    fetch,
    clock,
    onRefusal({ calendar, why }) {
      log.warn({ calendar, why }, "a calendar did not take a hash");
      outcomes.inc({ calendar, outcome: "refused" });
    },
  });
  return {
    async submit(digest) {
      const submitted = await submitToAll(digest);
      const [calendar] = submitted?.calendars ?? [];
      if (!submitted || calendar === undefined) return null;
      for (const each of submitted.calendars) outcomes.inc({ calendar: each, outcome: "submitted" });
      const submittedAt = clock();
      return { proof: submitted.proof, calendar, submittedAt, nextLookAt: nextLook(submittedAt, submittedAt) };
    },
    async upgradePending(now) {
      for (let looked = 0; ; ) {
        const due = await claimDueAnchors(db, now, new Date(now.getTime() + claimMs), batchSize);
        if (due.length === 0) return looked;
        await Promise.all(due.map((anchor) => look(deps, outcomes, anchor, now)));
        looked += due.length;
      }
    },
  };
}

async function look(
  { calendars, db, fetch, log }: AnchoringDeps,
  outcomes: Counter<"calendar" | "outcome">,
  anchor: DueAnchor,
  now: Date,
): Promise<void> {
  const { passportId } = anchor;
  try {
    const { proof, promises } = await upgradeProof({ calendars, fetch }, anchor.proof);
    const heights = promises.flatMap((promise) => (promise.state === "confirmed" ? [promise.height] : []));
    const blockHeight = heights.length > 0 ? Math.min(...heights) : null;
    const nextLookAt = blockHeight === null ? nextLook(anchor.submittedAt, now) : null;
    await updateAnchor(db, anchor, { proof, blockHeight, nextLookAt });
    for (const promise of promises) {
      outcomes.inc({ calendar: promise.calendar, outcome: promise.state });
      if (promise.state === "confirmed" || promise.state === "pending") continue;
      log.warn({ passportId, ...promise }, "a calendar's promise stands open");
    }
  } catch (error) {
    // The claim lets it be looked at again; the others of the batch go on.
    log.error({ err: error, passportId }, "an anchor could not be looked at");
  }
}

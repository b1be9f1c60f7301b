import type { Counter } from "prom-client";
import type { Fetch } from "../platform/bounds/bounded-request.ts";
import type { Clock } from "../platform/clock.ts";
import type { Sql } from "../platform/database/database.ts";
import type { Log } from "../platform/logs.ts";
import type { Metrics } from "../platform/metrics.ts";
import type { RowMac } from "../platform/row-mac.ts";
import { createCalendarSubmission } from "./calendars.ts";
import { type Anchor, claimDueAnchors, type DueAnchor, isAsWritten, updateAnchor } from "./store.ts";
import { upgradeProof } from "./upgrade-proof.ts";

export { probeCalendar } from "./calendar-probe.ts";
export { type Anchor, type AnchorFacts, anchorMembers, anchorRow, pendingAnchorGauges } from "./store.ts";

/** The way of a sealed document's hash into a Bitcoin block. */
export type Anchoring = {
  /** Hands a SHA-256 digest (32 bytes) to all calendars; null when none took it. Never rejects. */
  submit: (digest: Uint8Array) => Promise<Anchor | null>;
  /**
   * Asks the calendars about every proof that is due. Any number of nodes may do so at once.
   * @param stopping when aborted no further proofs are taken
   * @returns how many were asked about
   */
  upgradePending: (now: Date, stopping?: AbortSignal) => Promise<number>;
};

export type AnchoringDeps = {
  /** URLs, at least one. */
  calendars: readonly string[];
  db: Sql;
  rowMac: RowMac;
  fetch: Fetch;
  clock: Clock;
  log: Log;
  metrics: Metrics;
};

type Outcomes = Counter<"calendar" | "outcome">;

const minutes = 60_000;
const days = 24 * 60 * minutes;
const batchSize = 8;
// A node that dies with a claimed batch delays it by this much, and loses nothing.
const claimMs = 10 * minutes;

/** Blocks come in about ten minutes, calendars settle in hours: the older a proof, the less it is asked about. */
function nextUpgrade(submittedAt: Date, now: Date): Date {
  const age = now.getTime() - submittedAt.getTime();
  return new Date(now.getTime() + Math.min(Math.max(age / 4, 10 * minutes), days));
}

export function openAnchoring(deps: AnchoringDeps): Anchoring {
  const { db, clock, metrics } = deps;
  const outcomes = metrics.counter(
    "calendar_answers_total",
    "What calendars said to a hash, or to a proof that waits.",
    ["calendar", "outcome"],
  );
  const missing = metrics.counter("seals_without_anchor_total", "Seals whose hash no calendar took.", []);
  const submitToAll = submission(deps, outcomes);
  return {
    async submit(digest) {
      const submitted = await submitToAll(digest);
      const [calendar] = submitted?.calendars ?? [];
      if (!submitted || calendar === undefined) {
        missing.inc();
        return null;
      }
      for (const each of submitted.calendars) outcomes.inc({ calendar: each, outcome: "submitted" });
      const submittedAt = clock();
      return { proof: submitted.proof, calendar, submittedAt, nextUpgradeAt: nextUpgrade(submittedAt, submittedAt) };
    },
    async upgradePending(now, stopping) {
      for (let upgraded = 0; ; ) {
        const due = await claimDueAnchors(db, now, new Date(now.getTime() + claimMs), batchSize);
        await Promise.all(due.map((anchor) => upgradeAnchor(deps, outcomes, anchor, now)));
        upgraded += due.length;
        if (due.length === 0 || stopping?.aborted) return upgraded;
      }
    },
  };
}

function submission({ calendars, fetch, clock, log }: AnchoringDeps, outcomes: Outcomes) {
  return createCalendarSubmission({
    calendars,
    fetch,
    clock,
    onRefusal({ calendar, why }) {
      log.warn({ calendar, why }, "a calendar did not take a hash");
      outcomes.inc({ calendar, outcome: "refused" });
    },
  });
}

/** Never rejects: the claim lets a proof that failed be upgraded again, and the others of the batch go on. */
async function upgradeAnchor(deps: AnchoringDeps, outcomes: Outcomes, anchor: DueAnchor, now: Date): Promise<void> {
  const { log } = deps;
  const { passportId } = anchor;
  if (!isAsWritten(deps.rowMac, anchor)) {
    log.error({ passportId }, "an anchor is not what was written: it is not upgraded");
    return;
  }
  try {
    const { proof, attestations } = await upgradeProof(deps, anchor.proof);
    const heights = attestations.flatMap((each) => (each.state === "confirmed" ? [each.height] : []));
    const blockHeight = heights.length > 0 ? Math.min(...heights) : null;
    const nextUpgradeAt = blockHeight === null ? nextUpgrade(anchor.submittedAt, now) : null;
    await updateAnchor(deps, anchor, { proof, blockHeight, nextUpgradeAt });
    for (const attestation of attestations) {
      const { calendar, state } = attestation;
      outcomes.inc({ calendar, outcome: state });
      if (state !== "confirmed" && state !== "pending")
        log.warn({ passportId, ...attestation }, "a calendar's attestation stays pending");
    }
  } catch (error) {
    log.error({ err: error, passportId }, "an anchor could not be upgraded");
  }
}

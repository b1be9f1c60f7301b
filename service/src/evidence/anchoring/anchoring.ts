import type { Counter } from "prom-client";
import { type Fetch, requestBounded } from "../../kernel/platform/bounds/bounded-request.ts";
import { type Clock, dayMs, minuteMs } from "../../kernel/platform/clock.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import type { Log } from "../../kernel/platform/logs.ts";
import type { Metrics } from "../../kernel/platform/metrics.ts";
import type { RowMac } from "../../kernel/platform/row-mac.ts";
import { createCalendarSubmission } from "./calendars.ts";
import { type Anchor, claimDueAnchors, type DueAnchor, isAsWritten, type Learned, updateAnchor } from "./store.ts";
import { upgradeProof } from "./upgrade-proof.ts";

export {
  type Anchor,
  type AnchorFacts,
  anchorMembers,
  anchorRow,
  leftJoinAnchor,
  pendingAnchorGauges,
  protectedTables,
} from "./store.ts";

/** Anchors the hashes of sealed documents in Bitcoin blocks through OpenTimestamps calendars. */
export type Anchoring = {
  /**
   * Submits a SHA-256 digest to all calendars, except those that keep failing. Null if none accepts it. Never rejects.
   */
  submit: (digest: Uint8Array) => Promise<Anchor | null>;
  /**
   * Asks the calendars about every due proof. Several nodes can run this at the same time.
   * @param stopping once aborted, no further proofs are claimed
   * @returns the number of proofs that this node claimed
   */
  upgradePending: (now: Date, stopping?: AbortSignal) => Promise<number>;
  /** Calendars for another feature's digests. That feature stores the proofs itself. */
  calendars: Calendars;
};

/** Submits digests, and upgrades the proofs that the caller stores. */
export type Calendars = {
  /** Submits a digest to the calendars, as `Anchoring.submit` does. */
  submit: (digest: Uint8Array) => Promise<Anchor | null>;
  /**
   * Asks the calendars whether a proof can be upgraded.
   * @param about names the proof in the service's own log
   * @throws EvidenceError when the proof can't be read
   */
  upgrade: (pending: Pick<Anchor, "proof" | "submittedAt">, now: Date, about: object) => Promise<Learned>;
};

export type AnchoringDeps = {
  /** The URLs of the calendars, at least one. */
  calendars: readonly string[];
  db: Sql;
  rowMac: RowMac;
  fetch: Fetch;
  clock: Clock;
  log: Log;
  metrics: Metrics;
};

type Outcomes = Counter<"calendar" | "outcome">;

const batchSize = 8;
// The claim of a node that stopped expires after this time. Other nodes can then claim the same proofs.
const claimMs = 10 * minuteMs;

/**
 * The time of the next attempt to upgrade a proof. The older the proof is, the longer the wait. A Bitcoin block takes
 * about ten minutes, but a calendar puts its digests into a block only every few hours.
 */
function nextUpgrade(submittedAt: Date, now: Date): Date {
  const age = now.getTime() - submittedAt.getTime();
  return new Date(now.getTime() + Math.min(Math.max(age / 4, 10 * minuteMs), dayMs));
}

export function openAnchoring(deps: AnchoringDeps): Anchoring {
  const { db, metrics } = deps;
  const outcomes = metrics.counter(
    "calendar_answers_total",
    "What calendars said to a hash, or to a proof that waits.",
    ["calendar", "outcome"],
  );
  const missing = metrics.counter("seals_without_anchor_total", "Seals whose hash no calendar took.", []);
  const calendars = createCalendars(deps, outcomes);
  return {
    calendars,
    async submit(digest) {
      const anchor = await calendars.submit(digest);
      if (anchor === null) missing.inc();
      return anchor;
    },
    async upgradePending(now, stopping) {
      for (let upgraded = 0; ; ) {
        const due = await claimDueAnchors(db, now, new Date(now.getTime() + claimMs), batchSize);
        await Promise.all(due.map((anchor) => upgradeAnchor(deps, calendars, anchor, now)));
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

function createCalendars(deps: AnchoringDeps, outcomes: Outcomes): Calendars {
  const submitToAll = submission(deps, outcomes);
  return {
    async submit(digest) {
      const submitted = await submitToAll(digest);
      const [calendar] = submitted?.calendars ?? [];
      if (!submitted || calendar === undefined) return null;
      for (const each of submitted.calendars) outcomes.inc({ calendar: each, outcome: "submitted" });
      const submittedAt = deps.clock();
      return { proof: submitted.proof, calendar, submittedAt, nextUpgradeAt: nextUpgrade(submittedAt, submittedAt) };
    },
    async upgrade({ proof: before, submittedAt }, now, about) {
      const { proof, attestations } = await upgradeProof(deps, before);
      for (const attestation of attestations) {
        const { calendar, state } = attestation;
        outcomes.inc({ calendar, outcome: state });
        if (state !== "confirmed" && state !== "pending")
          deps.log.warn({ ...about, ...attestation }, "a calendar's attestation stays pending");
      }
      const heights = attestations.flatMap((each) => (each.state === "confirmed" ? [each.height] : []));
      const blockHeight = heights.length > 0 ? Math.min(...heights) : null;
      return { proof, blockHeight, nextUpgradeAt: blockHeight === null ? nextUpgrade(submittedAt, now) : null };
    },
  };
}

/**
 * Upgrades one anchor's proof. Never rejects, so that the rest of the batch is processed. After a failure, the proof is
 * tried again when its claim expires.
 */
async function upgradeAnchor(deps: AnchoringDeps, calendars: Calendars, anchor: DueAnchor, now: Date): Promise<void> {
  const { log } = deps;
  const { passportId } = anchor;
  if (!isAsWritten(deps.rowMac, anchor)) {
    log.error({ passportId }, "an anchor is not what was written: it is not upgraded");
    return;
  }
  try {
    await updateAnchor(deps, anchor, await calendars.upgrade(anchor, now, { passportId }));
  } catch (error) {
    log.error({ err: error, passportId }, "an anchor could not be upgraded");
  }
}

const maxPageBytes = 1024 * 1024;

/**
 * Tests whether a calendar responds. Fetches its home page, because that submits nothing.
 * @throws Error with the reason
 */
export async function probeCalendar(
  url: string,
  { fetch, timeoutMs }: { readonly fetch: Fetch; readonly timeoutMs: number },
): Promise<void> {
  const answer = await requestBounded(fetch, `${url}/`, { method: "GET" }, { timeoutMs, maxBytes: maxPageBytes });
  if (!answer.ok) throw new Error(answer.why);
  // A calendar that responds may have no home page, so a 404 counts as success.
  if (answer.status >= 500) throw new Error(`the answer has the HTTP status ${answer.status}`);
}

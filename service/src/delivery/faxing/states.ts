import type { TelnyxFaxStatus } from "../../providers/providers.ts";

/**
 * The state of a fax attempt. `waiting`: not sent to Telnyx yet. `withdrawn`: will never be sent to Telnyx. `refused`:
 * Telnyx did not accept it, or the service refused it before (a packet too large, for example). All other states are
 * Telnyx's own.
 */
export type FaxState = "waiting" | "withdrawn" | "refused" | TelnyxFaxStatus;

/**
 * The rank of each state. Events and responses may arrive in any order and repeatedly. A report never changes a fax to
 * a state of lower rank.
 */
const ranks: Readonly<Record<FaxState, number>> = {
  waiting: 0,
  withdrawn: 1,
  refused: 2,
  queued: 3,
  "media.processed": 4,
  originated: 5,
  sending: 6,
  failed: 7,
  // Delivered has the highest rank, because the receiving machine's confirmation is final.
  delivered: 8,
};

/** True if Telnyx has accepted the fax and the fax has not ended. */
export const isUnderWay = (state: FaxState): boolean => ranks[state] >= ranks.queued && ranks[state] < ranks.failed;

/**
 * False once Telnyx has reported the fax. The report proves that Telnyx accepted it, whatever the response to the
 * request says.
 */
export const mayBeRefused = (state: FaxState): boolean => ranks[state] <= ranks.refused;

export const isOver = (state: FaxState): boolean => state !== "waiting" && !isUnderWay(state);

/** The progress of an attempt, as far as it was reported. */
export type FaxProgress = {
  state: FaxState;
  /** The reason of a failure or a refusal: Telnyx's own, or ours. */
  reason: string | null;
  /** The number of pages that the receiving machine confirmed, and the duration of the call. */
  pages: number | null;
  seconds: number | null;
  /** The time at which Telnyx began the call. */
  startedAt: Date | null;
  endedAt: Date | null;
};

/** A response or event about a fax, with its time. */
export type FaxReport = Pick<FaxProgress, "reason" | "pages" | "seconds"> & { state: TelnyxFaxStatus; at: Date };

/** Merges a report into the progress. The result doesn't depend on the order of reports. */
export function advance(progress: FaxProgress, report: FaxReport): FaxProgress {
  const startedAt = report.state === "sending" ? earlier(progress.startedAt, report.at) : progress.startedAt;
  if (ranks[report.state] < ranks[progress.state]) return { ...progress, startedAt };
  const isEnd = report.state === "failed" || report.state === "delivered";
  const before = report.state === progress.state ? progress : unsaid;
  return {
    state: report.state,
    reason: lesser(before.reason, report.state === "failed" ? report.reason : null),
    pages: greater(before.pages, report.pages),
    seconds: greater(before.seconds, report.seconds),
    startedAt,
    endedAt: isEnd ? earlier(before.endedAt, report.at) : null,
  };
}

const unsaid = { reason: null, pages: null, seconds: null, endedAt: null } as const;

const earlier = (one: Date | null, other: Date): Date => (one && one.getTime() <= other.getTime() ? one : other);
const greater = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.max(one, other);
const lesser = (one: string | null, other: string | null): string | null =>
  one === null || other === null ? (one ?? other) : one <= other ? one : other;

export const isSameProgress = (one: FaxProgress, other: FaxProgress): boolean =>
  one.state === other.state &&
  one.reason === other.reason &&
  one.pages === other.pages &&
  one.seconds === other.seconds &&
  one.startedAt?.getTime() === other.startedAt?.getTime() &&
  one.endedAt?.getTime() === other.endedAt?.getTime();

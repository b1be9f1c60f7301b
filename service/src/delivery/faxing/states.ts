import type { TelnyxFaxStatus } from "../providers/providers.ts";

/**
 * Where an attempt to fax stands. Before Telnyx has it: `waiting`; never given to it: `withdrawn`; not taken by it: `refused`; then
 * in its own words.
 */
export type FaxState = "waiting" | "withdrawn" | "refused" | TelnyxFaxStatus;

/** What events and answers may come in any order, and twice: nothing moves a fax back. */
const ranks: Readonly<Record<FaxState, number>> = {
  waiting: 0,
  withdrawn: 1,
  refused: 2,
  queued: 3,
  "media.processed": 4,
  originated: 5,
  sending: 6,
  failed: 7,
  // The far machine's word that it has the pages is the last.
  delivered: 8,
};

/** Whether Telnyx has it, and has not ended it. */
export const isUnderWay = (state: FaxState): boolean => ranks[state] >= ranks.queued && ranks[state] < ranks.failed;

export const isOver = (state: FaxState): boolean => state !== "waiting" && !isUnderWay(state);

/** What is known of an attempt's way. */
export type FaxProgress = {
  state: FaxState;
  /** Why it failed, in Telnyx's word, or was refused. */
  reason: string | null;
  /** The pages that the far machine took, and how long the call was. */
  pages: number | null;
  seconds: number | null;
  /** When Telnyx began to call the number. */
  startedAt: Date | null;
  endedAt: Date | null;
};

/** What an answer or an event says at an instant. */
export type FaxReport = Pick<FaxProgress, "reason" | "pages" | "seconds"> & { state: TelnyxFaxStatus; at: Date };

/** What is known after a report. Any order of the same reports leads to the same. */
export function advance(known: FaxProgress, report: FaxReport): FaxProgress {
  const startedAt = report.state === "sending" ? earlier(known.startedAt, report.at) : known.startedAt;
  if (ranks[report.state] < ranks[known.state]) return { ...known, startedAt };
  const isEnd = report.state === "failed" || report.state === "delivered";
  const before = report.state === known.state ? known : unsaid;
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

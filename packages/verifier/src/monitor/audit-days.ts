import { dayMs, hourMs } from "./anchors.ts";
import { nameAt } from "./next-log.ts";

/**
 * How long after a day's end the log may lack that day's `audit/v1` entry, which states the head of the operator's
 * records. After this time, the entry counts as missing.
 */
const graceMs = 6 * hourMs;

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const nextDay = (day: string): string => dayOf(Date.parse(day) + dayMs);

/** Collects the days that have an `audit/v1` entry, and finds the days between them that have none. */
export function createAuditDays(before: string | null) {
  const seen = new Set<string>();
  return {
    add: (day: string): void => {
      seen.add(day);
    },
    last: (): string | null => [...seen, ...(before === null ? [] : [before])].sort().at(-1) ?? null,
    /**
     * The days without an entry between the first and the last day that have one.
     * @param judged the day up to which earlier runs reported gaps; null for none
     */
    gaps(judged: string | null): string[] {
      // The entries of one batch have no fixed order, so the days are compared after all entries were read.
      const days = [...seen].sort();
      return days.flatMap((day, i) => {
        const last = days[i - 1] ?? before;
        const first = last === null ? day : nextDay(last);
        return first < day && day > (judged ?? "") ? [missingDays(first, dayOf(Date.parse(day) - dayMs))] : [];
      });
    },
  };
}

function missingDays(first: string, last: string): string {
  const days = first === last ? first : `${first} to ${last}`;
  return `The log has no entry for the operator's records of ${days}.`;
}

/**
 * A sentence about the days up to now whose `audit/v1` entries are overdue; null for none. Also null for a log of test
 * seals, which has no such entries, and for a copy in a folder, which may be old.
 * @param last the latest day with an entry; null for none
 * @param since the time at which a monitor first saw the log. If the log has no entry yet, the first expected entry is
 * that of this time's day.
 */
export function overdueDays(
  from: string,
  { last, since, now }: { readonly last: string | null; readonly since: string | null; readonly now: Date },
): string | null {
  if (!nameAt(from)?.startsWith("live")) return null;
  const due = dayOf(now.getTime() - dayMs - graceMs);
  const first = last === null ? since?.slice(0, 10) : nextDay(last);
  return first !== undefined && first <= due ? missingDays(first, due) : null;
}

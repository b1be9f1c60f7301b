import { invalid } from "../platform/errors.ts";
import { membersIn } from "../platform/json.ts";

/** An advance of a clock: by a number of seconds, or to an instant. */
export type Leap = { seconds: number } | { to: Date };

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/;

/** Reads the body of a request to advance the clock. @throws ServiceError naming the member and the rule */
export function leapOf(body: unknown): Leap {
  const { advanceSeconds, to } = membersIn(body);
  if ((advanceSeconds ?? null) === null && (to ?? null) === null)
    throw invalid("advanceSeconds or to is required: how far the test clock goes.");
  if ((advanceSeconds ?? null) !== null && (to ?? null) !== null)
    throw invalid("advanceSeconds and to exclude each other: send one of them.");
  if (typeof to === "string" && instant.test(to) && !Number.isNaN(Date.parse(to))) return { to: new Date(to) };
  if ((to ?? null) !== null) throw invalid("to must be an ISO 8601 time with its offset, as 2026-12-12T09:00:00Z.");
  if (typeof advanceSeconds !== "number" || !Number.isSafeInteger(advanceSeconds) || advanceSeconds < 1)
    throw invalid("advanceSeconds must be a whole number of seconds, at least 1.");
  return { seconds: advanceSeconds };
}

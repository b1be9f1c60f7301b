import { invalid } from "../../../kernel/platform/errors.ts";

/**
 * Reads a time from a request.
 * @throws ServiceError unless it is a date with a time and a zone
 */
export function instantIn(name: string, value: unknown): Date {
  const at = typeof value === "string" && /^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:\d\d)$/.test(value) ? new Date(value) : null;
  if (!at || Number.isNaN(at.getTime())) throw invalid(`${name} must be an ISO 8601 time with its zone.`);
  return at;
}

/** The period from `since` (included) to `until` (excluded). */
export type Period = { since: Date; until: Date };

/**
 * Reads `since` and `until` from a body; `until` defaults to `now`.
 * @throws ServiceError for an invalid period
 */
export function periodIn(body: unknown, now: Date): Period {
  const fields = (body ?? {}) as { since?: unknown; until?: unknown };
  const since = instantIn("since", fields.since);
  if (fields.until === undefined || fields.until === null) return { since, until: now };
  const until = instantIn("until", fields.until);
  if (until > now) throw invalid("until must not be in the future.");
  if (until < since) throw invalid("until must not be before since.");
  return { since, until };
}

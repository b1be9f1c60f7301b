import { invalid } from "../../platform/errors.ts";

/** The `since` of a request. @throws ServiceError unless it is a date with a time and a zone */
export function sinceField(body: unknown): Date {
  const value = (body as { since?: unknown } | null)?.since;
  const at = typeof value === "string" && /^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:\d\d)$/.test(value) ? new Date(value) : null;
  if (!at || Number.isNaN(at.getTime())) throw invalid("since must be an ISO 8601 time with its zone.");
  return at;
}

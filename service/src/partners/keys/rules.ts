import { isScope, type Scope, scopes } from "../../identity/identity.ts";
import { dayMs } from "../../platform/clock.ts";
import { invalid } from "../../platform/errors.ts";
import { isPlainText, isVisible } from "../../platform/text.ts";

const maxNameLength = 100;
const maxDays = 3650;

/** @throws ServiceError for a name of more than one line, or none that can be seen */
export function keyName(text: string): string {
  const name = text.trim();
  if (name.length < 1 || name.length > maxNameLength || !isPlainText(name) || !isVisible(name))
    throw invalid(`name must have 1 to ${maxNameLength} characters.`);
  return name;
}

/** The scopes in the order in which they are listed, each once. @throws ServiceError for none, or another word */
export function keyScopes(names: readonly string[]): Scope[] {
  const unknown = names.find((name) => !isScope(name));
  if (unknown !== undefined || names.length === 0) throw invalid(`scopes must be one or more of ${scopes.join(", ")}.`);
  return scopes.filter((scope) => names.includes(scope));
}

/**
 * When a key ends of which it was said in days, or as a date, at whose end (UTC) it ends.
 * @throws ServiceError for another text, and an end that is past or more than ten years away
 */
export function keyExpiry(text: string, now: Date): Date {
  const days = /^\d{1,4}$/.test(text) ? Number(text) : null;
  const ms = days === null ? startOfDay(text) + dayMs : now.getTime() + days * dayMs;
  const isPossible = ms > now.getTime() && ms <= now.getTime() + maxDays * dayMs;
  if (!isPossible) throw invalid("expires must be a number of days from 1 to 3650, or a day to come like 2027-01-31.");
  return new Date(ms);
}

/** Not a number for a text that is no day, also for one that no month has. */
function startOfDay(text: string): number {
  const ms = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text) ? ms : Number.NaN;
}

/** For how many hours a key may go on beside the one that takes its place. */
export const overlapHours = [0, 1, 24, 72] as const;

/** @throws ServiceError for a number that is not to choose from */
export function keyOverlap(text: string): number {
  const hours = overlapHours.find((each) => String(each) === text);
  if (hours === undefined) throw invalid(`overlap must be one of ${overlapHours.join(", ")} hours.`);
  return hours;
}

import { shownText } from "./text.ts";

// The longest text that is compared. A longer one is not a typing error, and a comparison costs the product of the two
// lengths.
const maxLength = 64;
const maxWarnings = 10;

/**
 * The name closest to the typed text; null when none is close. The distance is the number of changed, added and missing
 * characters.
 */
export function nearest(typed: string, names: readonly string[]): string | null {
  if (typed.length > maxLength) return null;
  const far = Math.max(1, Math.floor(typed.length / 3));
  const byDistance = names
    .map((name) => ({ name, distance: distance(typed, name) }))
    .filter((each) => each.distance <= far)
    .sort((one, other) => one.distance - other.distance);
  return byDistance[0]?.name ?? null;
}

/** A warning for each unknown name of a request's fields, at most ten. */
export const unknownFields = (sent: Iterable<string>, allowed: readonly string[]): string[] =>
  [...sent]
    .filter((name) => !allowed.includes(name))
    .slice(0, maxWarnings)
    .map((name) => {
      const meant = nearest(name, allowed);
      return `${shownText(name)} is not a field of this request and was ignored${meant === null ? "." : `: did you mean "${meant}"?`}`;
    });

/** The Levenshtein distance. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, n) => n);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const changed = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}

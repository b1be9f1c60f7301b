/**
 * The kinds of later changes, least serious first:
 * - `none`: nothing.
 * - `validation`: validation data, document time stamps, metadata or version entries.
 * - `invisible`: invisible signatures in new fields.
 * - `signatures`: signatures that show nothing new, read-only flags, or entries about tags and tab order.
 * - `forms`: values of form fields, or entries that determine how readers draw them.
 * - `fields`: new visible signature fields.
 * - `annotations`: annotations.
 * - `other`: anything else.
 */
const LEVELS = ["none", "validation", "invisible", "signatures", "forms", "fields", "annotations", "other"] as const;
export type Level = (typeof LEVELS)[number];

/** The levels that reports use. In a report, an invisible signature has the level `signatures`. */
export type ChangeLevel = Exclude<Level, "invisible">;

export const reported = (level: Level): ChangeLevel => (level === "invisible" ? "signatures" : level);

/** The most serious of the given levels; `none` for an empty list. */
export function worst(levels: Iterable<Level>): Level {
  let found = 0;
  for (const level of levels) found = Math.max(found, LEVELS.indexOf(level));
  return LEVELS[found] ?? "other";
}

/** True if a level is at most as serious as another. */
export const isWithin = (level: Level, max: Level): boolean => LEVELS.indexOf(level) <= LEVELS.indexOf(max);

/**
 * True if a signature permits changes of this level (ISO 32000-2 table 257).
 *
 * @param permission /P of a certification or of a lock; null without either. Null permits filling in and signing, but
 * not annotations or other drawing over signed content
 */
export function permits(permission: 1 | 2 | 3 | null, level: Level): boolean {
  return isWithin(level, permission === null ? "fields" : permitted[permission]);
}

/** The most serious level that each value of /P permits. */
const permitted = { 1: "validation", 2: "forms", 3: "annotations" } as const;

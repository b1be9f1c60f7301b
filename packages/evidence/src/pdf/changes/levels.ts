/**
 * The most that later revisions did to what was signed, mildest first: nothing; validation data, document time stamps or
 * metadata; invisible signatures in fields of their own; signatures that show nothing new; values of form fields; new
 * signature fields that show; annotations; anything else.
 */
const LEVELS = ["none", "validation", "invisible", "signatures", "forms", "fields", "annotations", "other"] as const;
export type Level = (typeof LEVELS)[number];

/** The levels that are reported: an invisible signature is a signature. */
export type ChangeLevel = Exclude<Level, "invisible">;

export const reported = (level: Level): ChangeLevel => (level === "invisible" ? "signatures" : level);

/** The worst of all the levels given; `none` for none. */
export function worst(levels: Iterable<Level>): Level {
  let found = 0;
  for (const level of levels) found = Math.max(found, LEVELS.indexOf(level));
  return LEVELS[found] ?? "other";
}

/** Whether a level is no graver than another. */
export const isWithin = (level: Level, most: Level): boolean => LEVELS.indexOf(level) <= LEVELS.indexOf(most);

/**
 * Whether a signature permits changes of this level (ISO 32000-2 table 257).
 *
 * @param permission /P of a certification or of a lock; null where neither is stated: then others may fill in and sign,
 * and nobody may paint over what was signed
 */
export function permits(permission: 1 | 2 | 3 | null, level: Level): boolean {
  const most =
    permission === 1 ? "validation" : permission === 2 ? "forms" : permission === 3 ? "annotations" : "fields";
  return isWithin(level, most);
}

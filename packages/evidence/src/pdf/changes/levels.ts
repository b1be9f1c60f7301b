/**
 * The most that later revisions did to what was signed, mildest first: nothing; validation data, document time stamps or
 * metadata; signatures that show nothing new; values of form fields; new signature fields that show; annotations;
 * anything else.
 */
const CHANGE_LEVELS = ["none", "validation", "signatures", "forms", "fields", "annotations", "other"] as const;
export type ChangeLevel = (typeof CHANGE_LEVELS)[number];

/** The worst of all the levels given; `none` for none. */
export function worst(levels: Iterable<ChangeLevel>): ChangeLevel {
  let found = 0;
  for (const level of levels) found = Math.max(found, CHANGE_LEVELS.indexOf(level));
  return CHANGE_LEVELS[found] ?? "other";
}

/**
 * Whether a signature permits changes of this level (ISO 32000-2 table 257).
 *
 * @param permission /P of a certification or of a lock; null where neither is stated: then others may fill in and sign,
 * and nobody may paint over what was signed
 */
export function permits(permission: 1 | 2 | 3 | null, level: ChangeLevel): boolean {
  const most =
    permission === 1 ? "validation" : permission === 2 ? "forms" : permission === 3 ? "annotations" : "fields";
  return CHANGE_LEVELS.indexOf(level) <= CHANGE_LEVELS.indexOf(most);
}

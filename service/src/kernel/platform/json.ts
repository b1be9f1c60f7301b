/** The members of a parsed JSON object. */
export type Members = Readonly<Record<string, unknown>>;

/** The members of a JSON object; none for any other value. */
export const membersIn = (value: unknown): Members =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Members) : {};

/** A text of 1 to `maxLength` UTF-16 code units; null for any other value. */
export const textIn = (value: unknown, maxLength = Number.POSITIVE_INFINITY): string | null =>
  typeof value === "string" && value !== "" && value.length <= maxLength ? value : null;

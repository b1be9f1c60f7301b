/** Members of what should be an object of JSON; none of anything else. */
export const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};

/** A text of some characters, and not too many; undefined for anything else. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" && value.length <= 500 ? value : undefined;

/** An instant in ISO 8601. */
export function dateOf(value: unknown): Date | undefined {
  const at = new Date(textOf(value) ?? "");
  return Number.isNaN(at.getTime()) ? undefined : at;
}

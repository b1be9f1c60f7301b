import { invalidAt } from "../../../kernel/platform/errors.ts";
import { isPlainText, isVisible, shownText } from "../../../kernel/platform/text.ts";

/**
 * Reads the members of one object in a list. Errors name the member, such as `signers[2].email`. All methods except
 * `raw` throw ServiceError for an invalid value.
 */
export type Members<Name extends string> = {
  /** The trimmed text. Null when the member is absent or null, or has no visible character. */
  readonly text: (name: Name, maxLength: number) => string | null;
  readonly required: (name: Name, maxLength: number) => string;
  /** Refuses an absent member, for which another method returned null. */
  readonly requireValue: <Value>(name: Name, value: Value | null) => Value;
  readonly oneOf: <Value extends string>(name: Name, values: readonly Value[]) => Value | null;
  readonly number: (name: Name, min: number, max: number) => number | null;
  readonly whole: (name: Name, min: number, max: number) => number | null;
  readonly flag: (name: Name) => boolean | null;
  /** The member's parsed value; null when the member is absent or null. */
  readonly raw: (name: Name) => unknown;
};

/**
 * Reads a form field that is a JSON array of objects. Refuses unknown members, so that a misspelled one is not silently
 * ignored.
 * @param schema its properties are the allowed members
 * @param read reads one object; `at` is the object's name in errors, such as `signers[2]`
 * @throws ServiceError naming the field and the rule
 */
export function jsonList<Name extends string, Item>(
  field: string,
  text: string,
  { max, schema }: { max: number; schema: { readonly properties: Readonly<Record<Name, unknown>> } },
  read: (members: Members<Name>, at: string) => Item,
): Item[] {
  const list = parsed(field, text);
  if (!Array.isArray(list) || list.length === 0 || list.length > max)
    throw invalidAt(field, `must be a JSON array of 1 to ${max} objects.`);
  return list.map((item: unknown, index) => {
    const at = `${field}[${index}]`;
    return read(membersOf(item, at, Object.keys(schema.properties)), at);
  });
}

function parsed(field: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalidAt(field, "must be JSON.");
  }
}

/**
 * Reads one object.
 * @param allowed the allowed names of members
 * @throws ServiceError for another name, or for anything but an object
 */
export function membersOf<Name extends string>(item: unknown, at: string, allowed: readonly string[]): Members<Name> {
  if (typeof item !== "object" || item === null || Array.isArray(item)) throw invalidAt(at, "must be an object.");
  const unknown = Object.keys(item).find((name) => !allowed.includes(name));
  if (unknown !== undefined)
    throw invalidAt(
      at,
      `must have no other members than ${allowed.join(", ")}: ${shownText(unknown)} is not one of them.`,
    );
  const members = item as Readonly<Record<string, unknown>>;
  const value = (name: Name): unknown => (Object.hasOwn(members, name) ? members[name] : undefined) ?? null;

  const text: Members<Name>["text"] = (name, maxLength) => {
    const found = value(name);
    if (found === null) return null;
    const trimmed = typeof found === "string" ? found.trim() : null;
    if (trimmed === null || [...trimmed].length > maxLength)
      throw invalidAt(`${at}.${name}`, `must be text of at most ${maxLength} characters.`);
    if (!isPlainText(trimmed)) throw invalidAt(`${at}.${name}`, "must be UTF-8 text without control characters.");
    return isVisible(trimmed) ? trimmed : null;
  };
  const number = (name: Name, min: number, max: number, kind: string, fits: (value: number) => boolean) => {
    const found = value(name);
    if (found === null) return null;
    if (typeof found === "number" && fits(found) && found >= min && found <= max) return found;
    throw invalidAt(`${at}.${name}`, `must be a ${kind} from ${min} to ${max}.`);
  };

  const requireValue: Members<Name>["requireValue"] = (name, found) => {
    if (found === null) throw invalidAt(`${at}.${name}`, "is required.");
    return found;
  };

  return {
    raw: value,
    text,
    requireValue,
    required: (name, maxLength) => requireValue(name, text(name, maxLength)),
    oneOf(name, values) {
      const found = value(name);
      if (found === null) return null;
      const listed = values.find((each) => each === found);
      if (listed === undefined) throw invalidAt(`${at}.${name}`, `must be one of ${values.join(", ")}.`);
      return listed;
    },
    number: (name, min, max) => number(name, min, max, "number", Number.isFinite),
    whole: (name, min, max) => number(name, min, max, "whole number", Number.isInteger),
    flag(name) {
      const found = value(name);
      if (found === null || typeof found === "boolean") return found;
      throw invalidAt(`${at}.${name}`, "must be true or false.");
    },
  };
}

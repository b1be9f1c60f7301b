import type { JsonValue } from "../manifest/canonical-json.ts";

/** A member of a JSON object; undefined if the value is not an object, or has no such member. */
export function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value) || !Object.hasOwn(value, name)) return;
  return (value as Readonly<Record<string, JsonValue>>)[name];
}

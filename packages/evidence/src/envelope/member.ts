import type { JsonValue } from "../manifest/canonical-json.ts";

/** A member of a JSON object; undefined where there is no object, or no such member. */
export function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value) || !Object.hasOwn(value, name)) return;
  return (value as Readonly<Record<string, JsonValue>>)[name];
}

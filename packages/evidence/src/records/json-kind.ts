/** No evidence in JSON is longer. */
const maxBytes = 1024 * 1024;

/** What a JSON file is, by the members that it has: `other` for somebody's other file, `broken` for no JSON object. */
export type JsonKind = "manifest" | "room_record" | "proof_record" | "other" | "broken";

/** Tells the JSON files of the format apart, before any of them is read by its rules. */
export function jsonKindOf(bytes: Uint8Array): JsonKind {
  if (bytes.length > maxBytes) return "other";
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return "broken";
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "broken";
  const has = (member: string) => Object.hasOwn(value, member);
  if (has("passport") || has("documents") || has("coverage")) return "manifest";
  if (has("manifest") || has("chainOk")) return "room_record";
  return has("docSha256") || has("verdict") ? "proof_record" : "other";
}

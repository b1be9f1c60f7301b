/** The largest size of JSON evidence. */
const maxBytes = 1024 * 1024;

/** The kind of a JSON file, by its members: `other` for unrelated JSON, `broken` for anything but a JSON object. */
export type JsonKind = "manifest" | "room_record" | "proof_record" | "other" | "broken";

/** Distinguishes the JSON files of the format before any of them is validated. */
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

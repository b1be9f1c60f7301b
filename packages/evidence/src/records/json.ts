import { EvidenceError } from "../errors.ts";

/**
 * Parses JSON (RFC 8259) that every parser reads alike: UTF-8 without a byte order mark, and without repeated members.
 * Some parsers use the first of two repeated members and others the last.
 *
 * @throws EvidenceError `json`
 */
export function parseStrictJson(bytes: Uint8Array): unknown {
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    value = JSON.parse(text);
  } catch {
    throw new EvidenceError("json", "not JSON in UTF-8");
  }
  if (hasRepeatedMember(text)) throw new EvidenceError("json", "JSON with two members of one name");
  return value;
}

/**
 * Parses a JSON object of at most `maxBytes` that every parser reads alike.
 * @throws EvidenceError `json`, `limit`
 */
export function parseStrictObject(bytes: Uint8Array, maxBytes: number): Readonly<Record<string, unknown>> {
  if (bytes.length > maxBytes) throw new EvidenceError("limit", `longer than ${maxBytes} bytes`);
  const value = parseStrictJson(bytes);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new EvidenceError("json", "no JSON object");
  }
  return value as Readonly<Record<string, unknown>>;
}

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[{}]/g;

/** True if an object of valid JSON has a repeated member, even if the two names are escaped differently. */
function hasRepeatedMember(text: string): boolean {
  const open: Set<string>[] = [];
  for (const [token, colon] of text.matchAll(TOKEN)) {
    if (token === "{") open.push(new Set());
    else if (token === "}") open.pop();
    else if (colon !== undefined) {
      const names = open.at(-1);
      const name: string = JSON.parse(token.slice(0, -colon.length));
      if (names?.has(name)) return true;
      names?.add(name);
    }
  }
  return false;
}

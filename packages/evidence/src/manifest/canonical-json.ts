import { EvidenceError } from "../errors.ts";

/** A value with a canonical JSON form. Numbers are safe integers; member names are printable ASCII. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export type JsonObject = { readonly [name: string]: JsonValue };

/** Limit of the nesting depth: far above the depth of any manifest (4), and below the limit of jq 1.6 (256). */
const maxDepth = 64;

/**
 * The canonical text of a JSON value: members sorted by UTF-16 code unit, no white space, and strings as
 * `JSON.stringify` writes them. DEL and every code unit outside ASCII become `\u` and four lowercase hex digits.
 *
 * The result is ASCII and equals, byte for byte, the output of `jq -Sca .` and Python's `json.dumps(value,
 * sort_keys=True, separators=(",", ":"))`. jq and Python sort names by code point, and programs print doubles
 * differently. So names outside printable ASCII and numbers that are not safe integers are refused.
 *
 * @param value plain objects, arrays, strings, booleans, null and safe integers; nothing is skipped or coerced
 * @throws EvidenceError `json` for a lone surrogate, a name outside printable ASCII, an unsafe number, `undefined` or
 * any object that is not plain; `limit` when nested deeper than 64
 */
export function canonicalJson(value: JsonValue): string {
  return text(value, 0);
}

/** {@link canonicalJson} as its UTF-8 bytes (which are ASCII), for hashing. */
export function canonicalJsonBytes(value: JsonValue): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(canonicalJson(value));
}

function text(value: unknown, depth: number): string {
  if (typeof value === "string") return quote(value);
  if (value === null || value === true || value === false) return String(value);
  if (typeof value === "number") {
    if (!Number.isSafeInteger(value)) throw new EvidenceError("json", `${value} is not a safe integer`);
    return String(value);
  }
  if (typeof value !== "object") throw new EvidenceError("json", `${typeof value} is not a JSON value`);
  if (depth === maxDepth) throw new EvidenceError("limit", `JSON nested deeper than ${maxDepth}`);
  return Array.isArray(value) ? arrayText(value, depth + 1) : objectText(value, depth + 1);
}

function arrayText(items: readonly unknown[], depth: number): string {
  let out = "[";
  for (let i = 0; i < items.length; i++) {
    out += i === 0 ? text(items[i], depth) : `,${text(items[i], depth)}`;
  }
  return `${out}]`;
}

function objectText(object: object, depth: number): string {
  const prototype = Object.getPrototypeOf(object);
  if (prototype !== Object.prototype && prototype !== null) throw new EvidenceError("json", "not a plain object");
  const members = object as Readonly<Record<string, unknown>>;
  const names = Object.keys(object).sort();
  let out = "";
  for (const name of names) {
    out += `${out === "" ? "{" : ","}${nameText(name)}:${text(members[name], depth)}`;
  }
  return out === "" ? "{}" : `${out}}`;
}

function nameText(name: string): string {
  if (outsidePrintableAscii.test(name)) throw new EvidenceError("json", "member name outside printable ASCII");
  return quote(name);
}

const outsidePrintableAscii = /[^ -~]/;
const needsEscape = /[^ !#-[\]-~]/;
const outsideAscii = /[\u007f-\uffff]/g;

function quote(string: string): string {
  if (!needsEscape.test(string)) return `"${string}"`;
  if (!string.isWellFormed()) throw new EvidenceError("json", "lone surrogate in a string");
  return JSON.stringify(string).replace(outsideAscii, escapeUnit);
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

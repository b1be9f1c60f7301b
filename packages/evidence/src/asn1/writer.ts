import { EvidenceError } from "../errors.ts";
import { TAG } from "./der.ts";
import { encodeOid } from "./oid.ts";

/**
 * A DER value to write. `tag` is the identifier octet; null means that `body` is already a complete encoding.
 *
 * `length` counts the content octets, and `size` the octets of the whole encoding. They are known beforehand, so
 * `encode` needs only one pass.
 */
export interface DerValue {
  readonly tag: number | null;
  readonly length: number;
  readonly size: number;
  readonly body: Uint8Array | readonly DerValue[];
}

/** Encodes the value into a new buffer. */
export function encode(value: DerValue): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(value.size);
  write(value, out, 0);
  return out;
}

/** Wraps a value that is already encoded. */
export const raw = (encoding: Uint8Array): DerValue => ({
  tag: null,
  length: encoding.length,
  size: encoding.length,
  body: encoding,
});

/** A value with the given identifier octet and content octets. */
export const primitive = (tag: number, content: Uint8Array): DerValue => node(tag, content.length, content);

export const sequence = (...children: readonly DerValue[]): DerValue => constructed(TAG.sequence, children);
/** A SET in the given order: for a single member, or members that are sorted by tag already. */
export const set = (...children: readonly DerValue[]): DerValue => constructed(TAG.set, children);
/** A SET OF, sorted as DER requires (X.690, section 11.6). */
export const setOf = (children: readonly DerValue[]): DerValue =>
  constructed(TAG.set, children.length < 2 ? children : children.map(encode).sort(compare).map(raw));

/** `[n] EXPLICIT`. */
export const explicit = (n: number, child: DerValue): DerValue => constructed(0xa0 | n, [child]);
/** `[n] IMPLICIT`: the value with its identifier octet replaced; the constructed bit stays. */
export function implicit(n: number, value: DerValue): DerValue {
  if (value.tag !== null) return { ...value, tag: 0x80 | n | (value.tag & 0x20) };
  const copy = encode(value);
  copy[0] = 0x80 | n | ((copy[0] ?? 0) & 0x20);
  return raw(copy);
}

export const octetString = (content: Uint8Array): DerValue => primitive(TAG.octetString, content);
/** An OCTET STRING that contains the encoding of a value. */
export const octetStringOf = (value: DerValue): DerValue => node(TAG.octetString, value.size, [value]);
export const nullValue: DerValue = primitive(TAG.null, new Uint8Array(0));
export const boolean = (value: boolean): DerValue => primitive(TAG.boolean, Uint8Array.of(value ? 0xff : 0));
/**
 * An OBJECT IDENTIFIER from its dotted form.
 * @throws EvidenceError `der` for any other text
 */
export const oid = (dotted: string): DerValue => primitive(TAG.oid, encodeOid(dotted));
export const utf8String = (text: string): DerValue => primitive(TAG.utf8String, new TextEncoder().encode(text));
export const printableString = (text: string): DerValue => primitive(TAG.printableString, ascii(text));

/** An INTEGER: a number, a bigint, or the big-endian bytes of an unsigned number. */
export function integer(value: number | bigint | Uint8Array): DerValue {
  if (value instanceof Uint8Array) return primitive(TAG.integer, unsignedContent(value));
  if (typeof value === "number" && value >= 0 && value < 128 && Number.isInteger(value))
    return primitive(TAG.integer, Uint8Array.of(value));
  return primitive(TAG.integer, signedContent(BigInt(value)));
}

/**
 * A BIT STRING.
 * @param unusedBits how many bits at the end (0 to 7) don't count; they must be zero
 */
export function bitString(content: Uint8Array, unusedBits = 0): DerValue {
  const body = new Uint8Array(content.length + 1);
  body[0] = unusedBits;
  body.set(content, 1);
  return primitive(TAG.bitString, body);
}

/**
 * A UTCTime, UTC, whole seconds.
 * @param at epoch milliseconds, years 1950 to 2049
 */
export const utcTime = (at: number): DerValue => primitive(TAG.utcTime, ascii(`${digits(at).slice(2)}Z`));
/**
 * A GeneralizedTime, UTC, whole seconds.
 * @param at epoch milliseconds, years 0 to 9999
 */
export const generalizedTime = (at: number): DerValue => primitive(TAG.generalizedTime, ascii(`${digits(at)}Z`));
/**
 * A time as X.509 and CMS require it: UTCTime for 1950 through 2049, otherwise GeneralizedTime (RFC 5280, section
 * 4.1.2.5).
 */
export function time(at: number): DerValue {
  const year = new Date(at).getUTCFullYear();
  return year >= 1950 && year < 2050 ? utcTime(at) : generalizedTime(at);
}

function node(tag: number, length: number, body: Uint8Array | readonly DerValue[]): DerValue {
  return { tag, length, size: 1 + lengthOfLength(length) + length, body };
}

/** A constructed value with the given identifier octet. */
export function constructed(tag: number, children: readonly DerValue[]): DerValue {
  let length = 0;
  for (const child of children) length += child.size;
  return node(tag, length, children);
}

function lengthOfLength(length: number): number {
  if (length < 0x80) return 1;
  if (length < 0x100) return 2;
  if (length < 0x10000) return 3;
  return length < 0x1000000 ? 4 : 5;
}

function write(value: DerValue, out: Uint8Array, start: number): number {
  let at = start;
  if (value.tag !== null) {
    out[at++] = value.tag;
    const octets = lengthOfLength(value.length) - 1;
    if (octets === 0) out[at++] = value.length;
    else {
      out[at++] = 0x80 | octets;
      for (let shift = (octets - 1) * 8; shift >= 0; shift -= 8) out[at++] = (value.length >>> shift) & 0xff;
    }
  }
  if (value.body instanceof Uint8Array) {
    const bytes = value.body;
    if (bytes.length > 32) out.set(bytes, at);
    else for (let i = 0; i < bytes.length; i++) out[at + i] = bytes[i] ?? 0;
    return at + bytes.length;
  }
  for (const child of value.body) at = write(child, out, at);
  return at;
}

function compare(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

function unsignedContent(bytes: Uint8Array): Uint8Array {
  let skip = 0;
  while (skip < bytes.length - 1 && bytes[skip] === 0) skip++;
  const body = bytes.subarray(skip);
  if (body.length === 0) return Uint8Array.of(0);
  if ((body[0] ?? 0) < 0x80) return body;
  const padded = new Uint8Array(body.length + 1);
  padded.set(body, 1);
  return padded;
}

function signedContent(value: bigint): Uint8Array {
  const octets: number[] = [];
  let rest = value;
  do {
    octets.unshift(Number(BigInt.asUintN(8, rest)));
    rest >>= 8n;
  } while (rest !== 0n && rest !== -1n);
  const high = (octets[0] ?? 0) >= 0x80;
  if (value >= 0n && high) octets.unshift(0);
  if (value < 0n && !high) octets.unshift(0xff);
  return Uint8Array.from(octets);
}

function ascii(text: string): Uint8Array {
  const out = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code > 0x7f) throw new EvidenceError("der", "Text has a character outside ASCII");
    out[i] = code;
  }
  return out;
}

function digits(at: number): string {
  const iso = new Date(at).toISOString();
  if (iso.length !== 24) throw new EvidenceError("der", "Year is outside 0 to 9999");
  return iso.slice(0, 19).replace(/[-T:]/g, "");
}

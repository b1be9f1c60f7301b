import { EvidenceError, type EvidenceErrorCode } from "../errors.ts";
import { childrenOf, contentOf, type DerNode, TAG } from "./der.ts";
import { decodeOid } from "./oid.ts";

/**
 * Reads the parts of a SEQUENCE in the order of its definition. Throws for a part that is out of order, missing or
 * unexpected.
 */
export interface Fields {
  /** Returns the next part, which must exist and have this identifier octet (any octet if not given). */
  next(name: string, tag?: number): DerNode;
  /**
   * Returns the next part if it has this identifier octet (any octet if not given); otherwise returns undefined and
   * does not advance.
   */
  optional(tag?: number): DerNode | undefined;
  /** Asserts that no part is left. */
  end(): void;
}

/**
 * Opens a constructed value so that its parts can be read in order.
 * @throws EvidenceError `code` for another tag, or like `childrenOf`
 */
export function fieldsOf(node: DerNode, code: EvidenceErrorCode, tag: number = TAG.sequence): Fields {
  if (node.tag !== tag) throw new EvidenceError(code, "Expected another structure");
  const parts = childrenOf(node);
  let at = 0;
  return {
    next(name, expected) {
      const part = parts[at];
      if (part === undefined) throw new EvidenceError(code, `${name} is missing`);
      if (expected !== undefined && part.tag !== expected) throw new EvidenceError(code, `${name} has another type`);
      at++;
      return part;
    },
    optional(expected) {
      const part = parts[at];
      if (part === undefined || (expected !== undefined && part.tag !== expected)) return undefined;
      at++;
      return part;
    },
    end() {
      if (at < parts.length) throw new EvidenceError(code, "A structure holds more than its definition");
    },
  };
}

/**
 * Reads the members of a SEQUENCE OF or SET OF.
 * @throws EvidenceError `code` for another tag, or like `childrenOf`
 */
export function membersOf(node: DerNode, code: EvidenceErrorCode, tag: number): DerNode[] {
  if (node.tag !== tag) throw new EvidenceError(code, "Expected another structure");
  return childrenOf(node);
}

/**
 * Reads an OBJECT IDENTIFIER in dotted form.
 * @throws EvidenceError `der`
 */
export function readOid(node: DerNode): string {
  expect(node, TAG.oid, "an object identifier");
  return decodeOid(node.source, node.contentStart, node.end);
}

/**
 * Reads the content octets of an INTEGER, which may have an implicit tag. The octets must be minimal.
 * @throws EvidenceError `der`
 */
export function readInteger(node: DerNode, tag: number = TAG.integer): Uint8Array {
  expect(node, tag, "an integer");
  const content = contentOf(node);
  const [first, second] = content;
  if (first === undefined) throw new EvidenceError("der", "An integer has no octets");
  if (second !== undefined && ((first === 0 && second < 0x80) || (first === 0xff && second >= 0x80)))
    throw new EvidenceError("der", "An integer is not minimal");
  return content;
}

/**
 * Reads an INTEGER or ENUMERATED from 0 to 2^31 - 1.
 * @throws EvidenceError `der`
 */
export function readSmallInteger(node: DerNode, tag: number = TAG.integer): number {
  const content = readInteger(node, tag);
  let value = 0;
  for (const octet of content) value = value * 256 + octet;
  if (content.length > 4 || (content[0] ?? 0) >= 0x80) throw new EvidenceError("der", "An integer is out of range");
  return value;
}

/**
 * Removes the leading zero octet from the content of a non-negative INTEGER. For 0, no octets are left.
 * @throws EvidenceError `der`
 */
export function unsignedOf(content: Uint8Array): Uint8Array {
  if ((content[0] ?? 0) >= 0x80) throw new EvidenceError("der", "An integer is negative");
  return content[0] === 0 ? content.subarray(1) : content;
}

/**
 * Reads a BOOLEAN.
 * @throws EvidenceError `der` unless the octet is 00 or FF (X.690, section 11.1)
 */
export function readBoolean(node: DerNode): boolean {
  expect(node, TAG.boolean, "a boolean");
  const octet = node.source[node.contentStart];
  if (node.end - node.contentStart !== 1 || (octet !== 0 && octet !== 0xff))
    throw new EvidenceError("der", "A boolean is neither 00 nor FF");
  return octet === 0xff;
}

/**
 * Reads an OCTET STRING as a view of its octets.
 * @throws EvidenceError `der`
 */
export function readOctetString(node: DerNode, tag: number = TAG.octetString): Uint8Array {
  expect(node, tag, "an octet string");
  return contentOf(node);
}

/**
 * Reads a BIT STRING as octets, and how many bits of the last octet are unused. The unused bits must be zero.
 * @throws EvidenceError `der`
 */
export function readBitString(node: DerNode): { readonly octets: Uint8Array; readonly unusedBits: number } {
  expect(node, TAG.bitString, "a bit string");
  const content = contentOf(node);
  const unusedBits = content[0];
  const last = content[content.length - 1] ?? 0;
  if (unusedBits === undefined || unusedBits > 7 || (content.length === 1 && unusedBits > 0))
    throw new EvidenceError("der", "A bit string counts its unused bits wrongly");
  if (content.length > 1 && (last & ((1 << unusedBits) - 1)) !== 0)
    throw new EvidenceError("der", "A bit string has unused bits that are set");
  return { octets: content.subarray(1), unusedBits };
}

/**
 * Reads a BIT STRING of whole octets.
 * @throws EvidenceError `der`
 */
export function readOctetBitString(node: DerNode): Uint8Array {
  const { octets, unusedBits } = readBitString(node);
  if (unusedBits !== 0) throw new EvidenceError("der", "A bit string does not end at an octet");
  return octets;
}

/**
 * Reads the numbers of the bits that are set in a named-bit list.
 * @throws EvidenceError `der`
 */
export function readNamedBits(node: DerNode): number[] {
  const { octets } = readBitString(node);
  if (octets.length > 8) throw new EvidenceError("der", "A list of named bits is too long");
  const bits: number[] = [];
  for (const [index, octet] of octets.entries())
    for (let bit = 0; bit < 8; bit++) if (octet & (0x80 >> bit)) bits.push(index * 8 + bit);
  return bits;
}

/**
 * Reads any character string type as text. Invalid UTF-8 becomes U+FFFD; strings of single octets are read as Latin-1.
 * @throws EvidenceError `der`
 */
export function readText(node: DerNode): string {
  const content = contentOf(node);
  switch (node.tag) {
    case TAG.utf8String:
      return new TextDecoder("utf-8", { ignoreBOM: true }).decode(content);
    case TAG.numericString:
    case TAG.printableString:
    case TAG.ia5String:
    case TAG.visibleString:
    case TAG.teletexString:
      return Array.from(content, (octet) => String.fromCharCode(octet)).join("");
    case TAG.bmpString:
      return wideText(content, 2);
    case TAG.universalString:
      return wideText(content, 4);
    default:
      throw new EvidenceError("der", "Expected a character string");
  }
}

function wideText(content: Uint8Array, width: number): string {
  if (content.length % width !== 0) throw new EvidenceError("der", "A character string is cut off");
  let text = "";
  for (let i = 0; i < content.length; i += width) {
    let code = 0;
    for (let j = 0; j < width; j++) code = code * 256 + (content[i + j] ?? 0);
    text += code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
  }
  return text;
}

/**
 * Asserts that the value has the identifier octet.
 * @throws EvidenceError `der`
 */
function expect(node: DerNode, tag: number, what: string): void {
  if (node.tag !== tag) throw new EvidenceError("der", `Expected ${what}`);
}

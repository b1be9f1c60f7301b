import { EvidenceError } from "../errors.ts";

/** Identifier octets of the universal types in use, constructed bit included. */
export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  enumerated: 0x0a,
  utf8String: 0x0c,
  numericString: 0x12,
  printableString: 0x13,
  teletexString: 0x14,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  visibleString: 0x1a,
  universalString: 0x1c,
  bmpString: 0x1e,
  sequence: 0x30,
  set: 0x31,
} as const;

/** The identifier octet of `[n]` when its content is primitive (IMPLICIT of a primitive type). */
export const primitiveTag = (n: number): number => 0x80 | n;
/** The identifier octet of `[n]` when its content is constructed (EXPLICIT, or IMPLICIT of a constructed type). */
export const constructedTag = (n: number): number => 0xa0 | n;

/** Limit of nesting. X.509 and CMS need about 15. */
export const MAX_DEPTH = 40;

/** Limit of the values directly inside one constructed value. Lists in certificates and signatures have a few dozen. */
const MAX_PARTS = 10_000;

/**
 * One tag-length-value, as offsets into the input. Nothing is copied: see `contentOf` and `rawOf`. `tag` is the
 * identifier octet (class, constructed bit and number together).
 */
export interface DerNode {
  readonly source: Uint8Array;
  readonly tag: number;
  readonly start: number;
  readonly contentStart: number;
  readonly end: number;
  readonly depth: number;
}

/** The content octets, as a view. */
export const contentOf = (node: DerNode): Uint8Array => node.source.subarray(node.contentStart, node.end);
/** The whole encoding, header included, as a view. */
export const rawOf = (node: DerNode): Uint8Array => node.source.subarray(node.start, node.end);

/**
 * Parses bytes that are exactly one DER value (X.690, section 10).
 * @throws EvidenceError `der` when malformed, not minimal, or followed by anything; `unsupported` for indefinite
 * lengths (BER) or tags over 30.
 */
export function readDer(bytes: Uint8Array): DerNode {
  const node = readAt(bytes, 0, bytes.length, 0);
  if (node.end !== bytes.length) throw new EvidenceError("der", "Bytes follow the end of the value");
  return node;
}

/**
 * Reads the DER value at the front of the bytes and ignores bytes after `node.end`.
 * @throws EvidenceError like `readDer`
 */
export function readDerPrefix(bytes: Uint8Array): DerNode {
  return readAt(bytes, 0, bytes.length, 0);
}

/**
 * Reads the values inside a constructed value.
 * @throws EvidenceError `der`, `unsupported`, or `limit` past `MAX_DEPTH` or `MAX_PARTS`
 */
export function childrenOf(node: DerNode): DerNode[] {
  if ((node.tag & 0x20) === 0) throw new EvidenceError("der", "A primitive value has no parts");
  if (node.depth >= MAX_DEPTH) throw new EvidenceError("limit", "Values are nested too deeply");
  const children: DerNode[] = [];
  let at = node.contentStart;
  while (at < node.end) {
    if (children.length >= MAX_PARTS) throw new EvidenceError("limit", "A value has too many parts");
    const child = readAt(node.source, at, node.end, node.depth + 1);
    children.push(child);
    at = child.end;
  }
  return children;
}

/**
 * Reads the single value inside an EXPLICIT tag or a similar wrapper.
 * @throws EvidenceError like `childrenOf`; also if there is not exactly one value
 */
export function onlyChildOf(node: DerNode): DerNode {
  const [child, ...rest] = childrenOf(node);
  if (child === undefined || rest.length > 0) throw new EvidenceError("der", "Expected exactly one value inside");
  return child;
}

function readAt(source: Uint8Array, start: number, limit: number, depth: number): DerNode {
  const tag = source[start];
  const first = source[start + 1];
  if (tag === undefined || first === undefined || start + 2 > limit) throw new EvidenceError("der", "Value is cut off");
  if (tag === 0) throw new EvidenceError("der", "Tag 0 is reserved");
  if ((tag & 0x1f) === 0x1f) throw new EvidenceError("unsupported", "Tag numbers over 30 are not read");
  let contentStart = start + 2;
  let length = first;
  if (first === 0x80) throw new EvidenceError("unsupported", "Indefinite lengths (BER) are not read, only DER");
  if (first > 0x80) {
    const count = first & 0x7f;
    if (count > 4) throw new EvidenceError("der", "Length does not fit the input");
    if (contentStart + count > limit) throw new EvidenceError("der", "Value is cut off");
    length = 0;
    for (let i = 0; i < count; i++) length = length * 256 + (source[contentStart + i] ?? 0);
    if (length < 0x80 || length < 256 ** (count - 1)) throw new EvidenceError("der", "Length is not minimal");
    contentStart += count;
  }
  const end = contentStart + length;
  if (end > limit) throw new EvidenceError("der", "Value is cut off");
  return { source, tag, start, contentStart, end, depth };
}

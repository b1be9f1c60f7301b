import { constructedTag, type DerNode, primitiveTag, rawOf, readDer, TAG } from "../asn1/der.ts";
import { OID } from "../asn1/oid.ts";
import { readTime } from "../asn1/time.ts";
import {
  fieldsOf,
  membersOf,
  readBoolean,
  readInteger,
  readNamedBits,
  readOctetString,
  readOid,
  readSmallInteger,
  readText,
  unsignedOf,
} from "../asn1/values.ts";
import { boolean, encode, integer, nullValue, octetString, oid, sequence } from "../asn1/writer.ts";
import { parseSignedData, type SignedData } from "../cms/signed-data.ts";
import type { HashName } from "../crypto-port.ts";
import { EvidenceError } from "../errors.ts";
import { hashOf, readAlgorithm } from "../x509/algorithms.ts";

/** The PKIStatus values of responses with a token (RFC 3161, section 2.4.2). */
export const PKI_STATUS = { granted: 0, grantedWithMods: 1 } as const;

export interface TimeStampResp {
  readonly status: number;
  readonly statusString: readonly string[];
  /** Names of the failInfo bits that are set, or null when the field is absent. */
  readonly failInfo: readonly string[] | null;
  /** DER of the token's ContentInfo. */
  readonly token: Uint8Array | null;
}

/** TSTInfo (RFC 3161, section 2.4.2). `genTime` is epoch milliseconds; finer digits are cut off. */
export interface TstInfo {
  readonly policy: string;
  readonly hashAlgorithm: HashName | null;
  readonly hashOid: string;
  readonly hashedMessage: Uint8Array;
  /** Content octets of the INTEGER. */
  readonly serialNumber: Uint8Array;
  readonly genTime: number;
  readonly accuracyMicros: number | null;
  readonly ordering: boolean;
  /** Content octets of the INTEGER, without leading zeros: a nonce of 0 is empty. */
  readonly nonce: Uint8Array | null;
}

export interface TimeStampToken {
  readonly der: Uint8Array;
  readonly signedData: SignedData;
  /** The content of the time stamp. Null when the token has no content, or when its content is not a TSTInfo. */
  readonly tstInfo: TstInfo | null;
}

const FAIL_INFO: Readonly<Record<number, string>> = {
  0: "badAlg",
  2: "badRequest",
  5: "badDataFormat",
  14: "timeNotAvailable",
  15: "unacceptedPolicy",
  16: "unacceptedExtension",
  17: "addInfoNotAvailable",
  25: "systemFailure",
};

/**
 * Builds a request for a time stamp (TimeStampReq; RFC 3161, section 2.4.1) of a SHA-256 imprint. Asks for the
 * certificate.
 * @param input.imprint the 32 bytes of the digest
 * @param input.nonce random bytes, read as an unsigned big-endian number; use 8 or more
 * @param input.policy dotted identifier of the requested policy
 * @throws EvidenceError `rfc3161` when the imprint is not 32 bytes or the nonce is empty; `der` on a bad policy
 */
export function buildTimeStampReq(input: {
  readonly imprint: Uint8Array;
  readonly nonce: Uint8Array;
  readonly policy?: string;
}): Uint8Array<ArrayBuffer> {
  if (input.imprint.length !== 32) throw new EvidenceError("rfc3161", "The imprint is not a SHA-256 digest");
  if (input.nonce.length === 0) throw new EvidenceError("rfc3161", "The nonce is empty");
  const messageImprint = sequence(sequence(oid(OID.sha256), nullValue), octetString(input.imprint));
  const policy = input.policy === undefined ? [] : [oid(input.policy)];
  return encode(sequence(integer(1), messageImprint, ...policy, integer(input.nonce), boolean(true)));
}

/**
 * Parses a TimeStampResp (RFC 3161, section 2.4.2), without parsing its token.
 * @throws EvidenceError `rfc3161`, `der`, `unsupported` or `limit`.
 */
export function parseTimeStampResp(bytes: Uint8Array): TimeStampResp {
  const response = fieldsOf(readDer(bytes), "rfc3161");
  const info = fieldsOf(response.next("status"), "rfc3161");
  const token = response.optional(TAG.sequence);
  response.end();
  const status = readSmallInteger(info.next("PKIStatus"));
  const strings = info.optional(TAG.sequence);
  const failInfo = info.optional(TAG.bitString);
  info.end();
  return {
    status,
    statusString: strings === undefined ? [] : membersOf(strings, "rfc3161", TAG.sequence).map(readText),
    failInfo: failInfo === undefined ? null : readNamedBits(failInfo).map((bit) => FAIL_INFO[bit] ?? `bit ${bit}`),
    token: token === undefined ? null : rawOf(token),
  };
}

/**
 * Parses a TimeStampToken (a ContentInfo).
 * @throws EvidenceError `cms`, `rfc3161`, `der`, `x509`, `unsupported`, `limit`.
 */
export function parseTimeStampToken(bytes: Uint8Array): TimeStampToken {
  const signedData = parseSignedData(bytes);
  const { eContentType, eContent } = signedData;
  const isTstInfo = eContentType === OID.idCtTSTInfo && eContent !== null;
  return { der: bytes, signedData, tstInfo: isTstInfo ? parseTstInfo(eContent) : null };
}

/**
 * Parses a TSTInfo.
 * @throws EvidenceError `rfc3161`, `der`, `x509` or `limit`; `unsupported` also when it has a critical extension.
 */
export function parseTstInfo(bytes: Uint8Array): TstInfo {
  const fields = fieldsOf(readDer(bytes), "rfc3161");
  if (readSmallInteger(fields.next("version")) !== 1) throw new EvidenceError("rfc3161", "Unknown version of TSTInfo");
  const policy = readOid(fields.next("policy"));
  const imprint = fieldsOf(fields.next("messageImprint"), "rfc3161");
  const algorithm = readAlgorithm(imprint.next("hashAlgorithm"));
  const hashedMessage = readOctetString(imprint.next("hashedMessage"));
  imprint.end();
  const serialNumber = readInteger(fields.next("serialNumber"));
  const genTime = readTime(fields.next("genTime", TAG.generalizedTime));
  const accuracy = fields.optional(TAG.sequence);
  const ordering = fields.optional(TAG.boolean);
  const nonce = fields.optional(TAG.integer);
  fields.optional(constructedTag(0));
  refuseCriticalExtensions(fields.optional(constructedTag(1)));
  fields.end();
  return {
    policy,
    hashAlgorithm: hashOf(algorithm),
    hashOid: algorithm.oid,
    hashedMessage,
    serialNumber,
    genTime,
    accuracyMicros: accuracy === undefined ? null : readAccuracy(accuracy),
    ordering: ordering !== undefined && readBoolean(ordering),
    nonce: nonce === undefined ? null : unsignedOf(readInteger(nonce)),
  };
}

function readAccuracy(node: DerNode): number {
  const fields = fieldsOf(node, "rfc3161");
  const seconds = fields.optional(TAG.integer);
  const millis = fields.optional(primitiveTag(0));
  const micros = fields.optional(primitiveTag(1));
  fields.end();
  const value = (part: DerNode | undefined, tag?: number) => (part === undefined ? 0 : readSmallInteger(part, tag));
  return value(seconds) * 1_000_000 + value(millis, primitiveTag(0)) * 1000 + value(micros, primitiveTag(1));
}

function refuseCriticalExtensions(node: DerNode | undefined): void {
  if (node === undefined) return;
  for (const member of membersOf(node, "rfc3161", constructedTag(1))) {
    const fields = fieldsOf(member, "rfc3161");
    const type = readOid(fields.next("extnID"));
    const critical = fields.optional(TAG.boolean);
    fields.next("extnValue", TAG.octetString);
    fields.end();
    if (critical !== undefined && readBoolean(critical))
      throw new EvidenceError("unsupported", `The token has an unknown critical extension ${type}`);
  }
}

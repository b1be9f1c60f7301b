import { constructedTag, type DerNode, primitiveTag, readDer, TAG } from "../asn1/der.ts";
import { OID } from "../asn1/oid.ts";
import {
  fieldsOf,
  membersOf,
  readBoolean,
  readNamedBits,
  readOctetString,
  readOid,
  readSmallInteger,
} from "../asn1/values.ts";
import { constructed, encode, oid, primitive, sequence } from "../asn1/writer.ts";
import { equalBytes } from "../bytes.ts";
import { EvidenceError } from "../errors.ts";

const KEY_USAGES = [
  "digitalSignature",
  "contentCommitment",
  "keyEncipherment",
  "dataEncipherment",
  "keyAgreement",
  "keyCertSign",
  "cRLSign",
  "encipherOnly",
  "decipherOnly",
] as const;

/** The usages of RFC 5280, section 4.2.1.3, in bit order. */
type KeyUsage = (typeof KEY_USAGES)[number];

/** The extensions of a certificate (RFC 5280, section 4.2); null for absent ones. */
export interface CertificateExtensions {
  readonly basicConstraints: { readonly ca: boolean; readonly pathLength: number | null } | null;
  readonly keyUsage: ReadonlySet<KeyUsage> | null;
  readonly extendedKeyUsage: { readonly critical: boolean; readonly purposes: readonly string[] } | null;
  readonly subjectKeyIdentifier: Uint8Array | null;
  /** The key identifier in the extension authorityKeyIdentifier. */
  readonly authorityKeyIdentifier: Uint8Array | null;
  /** True if certificatePolicies contains the policy of certificates that are issued to a signer for one act. */
  readonly isSigners: boolean;
  /** True if certificatePolicies contains the policy of certificates that seal test documents only. */
  readonly isTestSeals: boolean;
  readonly hasSubjectAltName: boolean;
  /**
   * True if a critical nameConstraints excludes every mail address and nothing else. No other name constraint is
   * supported here.
   */
  readonly excludesMailAddresses: boolean;
  /**
   * Dotted identifiers of the critical extensions that are not supported. A certificate with any of them is not part of
   * a valid chain.
   *
   * An unsupported nameConstraints is listed even if it is not marked critical. RFC 5280, section 4.2.1.10, requires
   * the mark, so a certificate without the mark must not escape the constraint.
   */
  readonly unknownCriticalExtensions: readonly string[];
}

const MAX_EXTENSIONS = 64;

const EMAIL_ADDRESS = encode(oid(OID.emailAddress));
const SIGNER_POLICY = encode(oid(OID.signerCertificatePolicy));
const TEST_SEAL_POLICY = encode(oid(OID.testSealPolicy));
/**
 * A NameConstraints value that rules out every mail address. It permits addresses at the host "invalid", and excludes
 * the empty rfc822Name, which covers every address.
 */
const NO_MAIL_ADDRESSES = encode(
  sequence(
    constructed(0xa0, [
      sequence(
        primitive(
          0x81,
          Uint8Array.from("invalid", (c) => c.charCodeAt(0)),
        ),
      ),
    ]),
    constructed(0xa1, [sequence(primitive(0x81, new Uint8Array(0)))]),
  ),
);

/**
 * Reads the extensions of a certificate.
 * @param node undefined when the certificate has none
 * @throws EvidenceError `x509`, `der`, `unsupported` or `limit`
 */
export function readExtensions(node: DerNode | undefined): CertificateExtensions {
  const read: { -readonly [Key in keyof CertificateExtensions]: CertificateExtensions[Key] } = {
    basicConstraints: null,
    keyUsage: null,
    extendedKeyUsage: null,
    subjectKeyIdentifier: null,
    authorityKeyIdentifier: null,
    isSigners: false,
    isTestSeals: false,
    hasSubjectAltName: false,
    excludesMailAddresses: false,
    unknownCriticalExtensions: [],
  };
  if (node === undefined) return read;
  const members = membersOf(node, "x509", TAG.sequence);
  if (members.length > MAX_EXTENSIONS) throw new EvidenceError("limit", "A certificate has too many extensions");
  const seen = new Set<string>();
  const unknown: string[] = [];
  for (const member of members) {
    const fields = fieldsOf(member, "x509");
    const type = readOid(fields.next("extnID"));
    const flag = fields.optional(TAG.boolean);
    const critical = flag !== undefined && readBoolean(flag);
    const value = readOctetString(fields.next("extnValue"));
    fields.end();
    if (seen.has(type)) throw new EvidenceError("x509", "A certificate has an extension twice");
    seen.add(type);
    switch (type) {
      case OID.basicConstraints:
        read.basicConstraints = readBasicConstraints(readDer(value));
        break;
      case OID.keyUsage:
        read.keyUsage = readKeyUsage(readDer(value));
        break;
      case OID.extKeyUsage:
        read.extendedKeyUsage = { critical, purposes: membersOf(readDer(value), "x509", TAG.sequence).map(readOid) };
        break;
      case OID.subjectKeyIdentifier:
        read.subjectKeyIdentifier = readOctetString(readDer(value));
        break;
      case OID.authorityKeyIdentifier:
        read.authorityKeyIdentifier = readAuthorityKeyIdentifier(readDer(value));
        break;
      case OID.certificatePolicies:
        // No particular policy is required of a certificate, so this extension can be ignored even if it is critical.
        read.isSigners = contains(value, SIGNER_POLICY);
        read.isTestSeals = contains(value, TEST_SEAL_POLICY);
        break;
      case OID.subjectAltName:
        // RFC 5280 makes subjectAltName critical when the subject is empty. No claim depends on its content, so it is
        // not parsed.
        read.hasSubjectAltName = true;
        break;
      case OID.nameConstraints:
        read.excludesMailAddresses = critical && equalBytes(value, NO_MAIL_ADDRESSES);
        if (!read.excludesMailAddresses) unknown.push(type);
        break;
      default:
        if (critical) unknown.push(type);
    }
  }
  read.unknownCriticalExtensions = unknown;
  return read;
}

/** True if the certificate's subject has an emailAddress. */
export const namesMailAddress = (subject: Uint8Array): boolean => contains(subject, EMAIL_ADDRESS);

/**
 * True if the bytes contain the encoding of an object identifier. The bytes are not parsed, because nothing depends on
 * the rest.
 */
function contains(bytes: Uint8Array, part: Uint8Array): boolean {
  for (let at = 0; at + part.length <= bytes.length; at++)
    if (part.every((byte, index) => byte === bytes[at + index])) return true;
  return false;
}

function readBasicConstraints(node: DerNode): { ca: boolean; pathLength: number | null } {
  const fields = fieldsOf(node, "x509");
  const ca = fields.optional(TAG.boolean);
  const pathLength = fields.optional(TAG.integer);
  fields.end();
  return {
    ca: ca !== undefined && readBoolean(ca),
    pathLength: pathLength === undefined ? null : readSmallInteger(pathLength),
  };
}

function readKeyUsage(node: DerNode): ReadonlySet<KeyUsage> {
  const usages = new Set<KeyUsage>();
  for (const bit of readNamedBits(node)) {
    const usage = KEY_USAGES[bit];
    if (usage !== undefined) usages.add(usage);
  }
  return usages;
}

function readAuthorityKeyIdentifier(node: DerNode): Uint8Array | null {
  const fields = fieldsOf(node, "x509");
  const identifier = fields.optional(primitiveTag(0));
  fields.optional(constructedTag(1));
  fields.optional(primitiveTag(2));
  fields.end();
  return identifier === undefined ? null : readOctetString(identifier, primitiveTag(0));
}

import {
  constructedTag,
  contentOf,
  type DerNode,
  onlyChildOf,
  primitiveTag,
  rawOf,
  readDer,
  TAG,
} from "../asn1/der.ts";
import { readTime } from "../asn1/time.ts";
import { type Fields, fieldsOf, readInteger, readOctetBitString, readSmallInteger } from "../asn1/values.ts";
import { equalBytes, toHex } from "../bytes.ts";
import type { SignatureScheme } from "../crypto-port.ts";
import { EvidenceError } from "../errors.ts";
import { readAlgorithm, signatureSchemeOf } from "./algorithms.ts";
import { type CertificateExtensions, readExtensions } from "./extensions.ts";
import { type PublicKeyInfo, readPublicKeyInfo } from "./public-key.ts";

/** A parsed X.509 certificate (RFC 5280). Byte fields are views of `der`; instants are epoch milliseconds, UTC. */
export interface Certificate extends CertificateExtensions {
  readonly der: Uint8Array;
  readonly tbsCertificate: Uint8Array;
  readonly version: 1 | 2 | 3;
  /** Content octets of the serial number's INTEGER, as encoded. */
  readonly serialNumber: Uint8Array;
  /** DER of the Name; `nameText` makes it readable. */
  readonly issuer: Uint8Array;
  readonly subject: Uint8Array;
  readonly notBefore: number;
  readonly notAfter: number;
  /** DER SubjectPublicKeyInfo. */
  readonly spki: Uint8Array;
  readonly publicKey: PublicKeyInfo;
  /** The signature algorithm; null when it is not supported. `signatureOid` identifies it in any case. */
  readonly signatureAlgorithm: SignatureScheme | null;
  readonly signatureOid: string;
  readonly signature: Uint8Array;
}

/** Size limit of a certificate, in bytes. */
const MAX_CERTIFICATE_LENGTH = 64 * 1024;

/**
 * Parses one DER certificate.
 * @throws EvidenceError `x509`, `der`, `unsupported` or `limit`.
 */
export function parseCertificate(der: Uint8Array): Certificate {
  return readCertificate(readDer(der));
}

/**
 * Parses a certificate inside a larger structure.
 * @throws EvidenceError like `parseCertificate`.
 */
export function readCertificate(node: DerNode): Certificate {
  if (node.end - node.start > MAX_CERTIFICATE_LENGTH) throw new EvidenceError("limit", "A certificate is too long");
  const outer = fieldsOf(node, "x509");
  const tbsNode = outer.next("tbsCertificate", TAG.sequence);
  const outerAlgorithm = outer.next("signatureAlgorithm", TAG.sequence);
  const signature = readOctetBitString(outer.next("signatureValue"));
  outer.end();

  const tbs = fieldsOf(tbsNode, "x509");
  const version = readVersion(tbs);
  const serialNumber = readInteger(tbs.next("serialNumber"));
  const innerAlgorithm = tbs.next("signature", TAG.sequence);
  const issuer = rawOf(tbs.next("issuer", TAG.sequence));
  const validity = fieldsOf(tbs.next("validity"), "x509");
  const notBefore = readTime(validity.next("notBefore"));
  const notAfter = readTime(validity.next("notAfter"));
  validity.end();
  const subject = rawOf(tbs.next("subject", TAG.sequence));
  const spkiNode = tbs.next("subjectPublicKeyInfo", TAG.sequence);
  if (version > 1) {
    tbs.optional(primitiveTag(1));
    tbs.optional(primitiveTag(2));
  }
  const extensions = version === 3 ? tbs.optional(constructedTag(3)) : undefined;
  tbs.end();

  // The outer algorithm is not signed, but must equal the signed inner one (RFC 5280, section 4.1.1.2). Otherwise a
  // signature could be verified with another algorithm than the signed one.
  if (!sameEncoding(outerAlgorithm, innerAlgorithm))
    throw new EvidenceError("x509", "The two signature algorithms of a certificate differ");
  const algorithm = readAlgorithm(innerAlgorithm);
  return {
    der: rawOf(node),
    tbsCertificate: rawOf(tbsNode),
    version,
    serialNumber,
    issuer,
    subject,
    notBefore,
    notAfter,
    spki: rawOf(spkiNode),
    publicKey: readPublicKeyInfo(spkiNode),
    signatureAlgorithm: signatureSchemeOf(algorithm),
    signatureOid: algorithm.oid,
    signature,
    ...readExtensions(extensions === undefined ? undefined : onlyChildOf(extensions)),
  };
}

/** The serial number as other tools print it: upper-case hex of the content octets, without a leading zero octet. */
export function serialNumberText(certificate: Pick<Certificate, "serialNumber">): string {
  const { serialNumber } = certificate;
  const digits = serialNumber.length > 1 && serialNumber[0] === 0 ? serialNumber.subarray(1) : serialNumber;
  return toHex(digits).toUpperCase();
}

function readVersion(tbs: Fields): 1 | 2 | 3 {
  const wrapper = tbs.optional(constructedTag(0));
  if (wrapper === undefined) return 1;
  const value = readSmallInteger(onlyChildOf(wrapper));
  if (value !== 1 && value !== 2) throw new EvidenceError("x509", "Unknown certificate version");
  return value === 1 ? 2 : 3;
}

function sameEncoding(a: DerNode, b: DerNode): boolean {
  return equalBytes(contentOf(a), contentOf(b));
}

import { hash } from "node:crypto";
import {
  bitString,
  boolean,
  constructed,
  type DerValue,
  encode,
  explicit,
  fieldsOf,
  implicit,
  integer,
  OID,
  octetString,
  octetStringOf,
  oid,
  primitive,
  raw,
  readDer,
  readOctetBitString,
  sequence,
  set,
  time,
  utf8String,
} from "@signsealship/evidence/asn1";
import { type Certificate, parseCertificate } from "@signsealship/evidence/x509";
import { signatureAlgorithm } from "../algorithms.ts";
import type { SealKey } from "../keys/seal-key.ts";

/** The longest common name: ub-common-name of RFC 5280, appendix A.1. */
const MAX_COMMON_NAME = 64;

export type CertificateIssuer = { readonly key: SealKey; readonly name: DerValue };

export type CertificateFields = {
  readonly subject: DerValue;
  /** The subject's public key: SubjectPublicKeyInfo in DER. */
  readonly publicKey: Uint8Array;
  /** The serial number: 16 random bytes. */
  readonly serialNumber: Uint8Array;
  /** The start of the validity, in epoch milliseconds. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** Further extensions. The key identifiers of the subject and the issuer are always written. */
  readonly extensions: readonly DerValue[];
};

/**
 * A distinguished name with a common name, which is cut to 64 characters. If an organizational unit is given, it comes
 * before the common name.
 */
export function commonNameOf(text: string, organizationalUnit?: string): DerValue {
  const cut = Array.from(text).slice(0, MAX_COMMON_NAME).join("");
  const part = (type: string, value: string) => set(sequence(oid(type), utf8String(value)));
  const unit = organizationalUnit === undefined ? [] : [part(OID.organizationalUnitName, organizationalUnit)];
  return sequence(...unit, part(OID.commonName, cut));
}

/** An extension (RFC 5280, section 4.2). */
export const extension = (type: string, critical: boolean, value: DerValue): DerValue =>
  sequence(oid(type), ...(critical ? [boolean(true)] : []), octetStringOf(value));

/**
 * KeyUsage (RFC 5280, section 4.2.1.3). Each BIT STRING is given as its single octet and the number of that octet's
 * unused bits.
 */
export const keyUsage = {
  signing: extension(OID.keyUsage, true, bitString(Uint8Array.of(0xc0), 6)),
  issuing: extension(OID.keyUsage, true, bitString(Uint8Array.of(0x06), 1)),
} as const;

const mailAddresses = (base: string): DerValue =>
  sequence(sequence(primitive(0x81, Uint8Array.from(Buffer.from(base)))));

/**
 * Name constraints for a root: certificates below it may have no usable email address (RFC 5280, section 4.2.1.10). An
 * empty excluded name excludes all addresses, but openssl ignores an empty name. So the only permitted addresses are
 * those at `invalid`, a host that can't exist (RFC 6761).
 */
export const noMailAddresses = extension(
  OID.nameConstraints,
  true,
  sequence(implicit(0, mailAddresses("invalid")), implicit(1, mailAddresses(""))),
);

/**
 * The URL of a revocation list, written in certificates and in the list itself: a DistributionPointName with one URL.
 */
export const distributionPoint = (url: string): DerValue =>
  constructed(0xa0, [constructed(0xa0, [primitive(0x86, Uint8Array.from(Buffer.from(url, "latin1")))])]);

/**
 * Makes a serial number from 16 octets. Clears the top bit and sets the next one, so that the number is positive and
 * stays 16 octets long (at most 20 are allowed).
 */
export function serialNumberOf(random: Uint8Array): Uint8Array {
  const serial = Uint8Array.from(random);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  return serial;
}

/** The extension that identifies the issuer's key in certificates and in revocation lists. */
export const authorityKeyIdentifier = (publicKey: Uint8Array): DerValue =>
  extension(OID.authorityKeyIdentifier, false, sequence(implicit(0, octetString(keyIdentifier(publicKey)))));

/**
 * Writes and signs an X.509 certificate.
 * @throws {SealKeyError} when the issuer's key does not sign
 */
export async function writeCertificate(fields: CertificateFields, issuer: CertificateIssuer): Promise<Certificate> {
  const algorithm = signatureAlgorithm(issuer.key.algorithm);
  const identifiers = [
    extension(OID.subjectKeyIdentifier, false, octetString(keyIdentifier(fields.publicKey))),
    authorityKeyIdentifier(issuer.key.publicKey),
  ];
  const tbsCertificate = encode(
    sequence(
      explicit(0, integer(2)),
      integer(serialNumberOf(fields.serialNumber)),
      algorithm,
      issuer.name,
      sequence(time(fields.notBefore), time(fields.notAfter)),
      fields.subject,
      raw(fields.publicKey),
      explicit(3, sequence(...fields.extensions, ...identifiers)),
    ),
  );
  const signature = await issuer.key.sign(tbsCertificate);
  return parseCertificate(encode(sequence(raw(tbsCertificate), algorithm, bitString(signature))));
}

/** Method 1 of RFC 7093, section 2: the left 160 bits of the SHA-256 of the key's bits. */
function keyIdentifier(spki: Uint8Array): Uint8Array {
  const fields = fieldsOf(readDer(spki), "x509");
  fields.next("algorithm");
  const bits = readOctetBitString(fields.next("subjectPublicKey"));
  return hash("sha256", bits, "buffer").subarray(0, 20);
}

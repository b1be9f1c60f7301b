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

/** ub-common-name of RFC 5280, appendix A.1. */
const MAX_COMMON_NAME = 64;

/** The issuer of a certificate: a key, its holder's name in DER, and the key's SubjectPublicKeyInfo. */
export type CertificateIssuer = { readonly key: SealKey; readonly name: DerValue };

export type CertificateFields = {
  readonly subject: DerValue;
  /** SubjectPublicKeyInfo, DER. */
  readonly publicKey: Uint8Array;
  /** 16 random bytes. */
  readonly serialNumber: Uint8Array;
  /** Epoch milliseconds. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** In addition to the identifiers of both keys. */
  readonly extensions: readonly DerValue[];
};

/** A distinguished name of one common name, cut to 64 characters, below an organizational unit where one is named. */
export function commonNameOf(text: string, organizationalUnit?: string): DerValue {
  const cut = Array.from(text).slice(0, MAX_COMMON_NAME).join("");
  const part = (type: string, value: string) => set(sequence(oid(type), utf8String(value)));
  const unit = organizationalUnit === undefined ? [] : [part(OID.organizationalUnitName, organizationalUnit)];
  return sequence(...unit, part(OID.commonName, cut));
}

/** An extension (RFC 5280, section 4.2). */
export const extension = (type: string, critical: boolean, value: DerValue): DerValue =>
  sequence(oid(type), ...(critical ? [boolean(true)] : []), octetStringOf(value));

/** /KeyUsage: the first octet of its bits, and how many at its end are unused (RFC 5280, section 4.2.1.3). */
export const keyUsage = {
  signing: extension(OID.keyUsage, true, bitString(Uint8Array.of(0xc0), 6)),
  issuing: extension(OID.keyUsage, true, bitString(Uint8Array.of(0x06), 1)),
} as const;

const mailAddresses = (base: string): DerValue =>
  sequence(sequence(primitive(0x81, Uint8Array.from(Buffer.from(base)))));

/**
 * No certificate below has a mail address that a mail program accepts (RFC 5280, section 4.2.1.10). Every address is excluded; openssl
 * takes the empty name for none, so that only addresses at a host that can't be (RFC 6761) are permitted, too.
 */
export const noMailAddresses = extension(
  OID.nameConstraints,
  true,
  sequence(implicit(0, mailAddresses("invalid")), implicit(1, mailAddresses(""))),
);

/** The place that revocation is published at, in a certificate and in its list: DistributionPointName with one URL. */
export const distributionPoint = (url: string): DerValue =>
  constructed(0xa0, [constructed(0xa0, [primitive(0x86, Uint8Array.from(Buffer.from(url, "latin1")))])]);

/** 16 octets as a serial number: the top bit is clear, so that they stay 16 (at most 20 are allowed), the next one set. */
export function serialNumberOf(random: Uint8Array): Uint8Array {
  const serial = Uint8Array.from(random);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  return serial;
}

/** The issuer's key, as certificates and lists that it signed name it. */
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

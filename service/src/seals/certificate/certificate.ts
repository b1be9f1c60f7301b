import { createHash } from "node:crypto";
import {
  bitString,
  boolean,
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
  raw,
  readDer,
  readOctetBitString,
  sequence,
  set,
  time,
  utf8String,
} from "@signsealship/evidence/asn1";
import { type Certificate, encodePem, parseCertificate, parseCertificatesPem } from "@signsealship/evidence/x509";
import { signatureAlgorithm } from "../algorithms.ts";
import type { SealKey } from "../keys/seal-key.ts";

const VALID_YEARS = 10;
/** Clocks differ: a seal made in the first second must not look older than its certificate. */
const BACKDATED_MS = 5 * 60_000;
/** ub-common-name of RFC 5280, appendix A.1. */
const MAX_COMMON_NAME = 64;

/**
 * Makes the self-signed certificate of a seal key: usages digitalSignature and nonRepudiation, extended usage document
 * signing (RFC 9336), no authority, ten years.
 * @param input `host` the public host name of the service; `serialNumber` 16 random bytes; `at` now, epoch milliseconds
 * @returns DER
 * @throws {SealKeyError} when the key does not sign
 */
export async function makeSealCertificate(input: {
  readonly key: SealKey;
  readonly host: string;
  readonly serialNumber: Uint8Array;
  readonly at: number;
}): Promise<Certificate> {
  const { key, at } = input;
  const until = new Date(at);
  until.setUTCFullYear(until.getUTCFullYear() + VALID_YEARS);
  const commonName = `SignSealShip seal ${input.host}`.slice(0, MAX_COMMON_NAME);
  const name = sequence(set(sequence(oid(OID.commonName), utf8String(commonName))));
  // The top bit is cleared, so that 16 octets stay 16 (at most 20 are allowed), and the next one set: never zero.
  const serial = Uint8Array.from(input.serialNumber);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  const algorithm = signatureAlgorithm(key.algorithm);
  const tbsCertificate = encode(
    sequence(
      explicit(0, integer(2)),
      integer(serial),
      algorithm,
      name,
      sequence(time(at - BACKDATED_MS), time(until.getTime())),
      name,
      raw(key.publicKey),
      explicit(3, extensions(key.publicKey)),
    ),
  );
  const signature = await key.sign(tbsCertificate);
  return parseCertificate(encode(sequence(raw(tbsCertificate), algorithm, bitString(signature))));
}

/** The chain of a PEM text, the seal's own certificate first. @throws EvidenceError `x509` and others when it is none. */
export const readSealChain = (pem: string): Certificate[] => parseCertificatesPem(pem);

/** The chain as PEM, for `GET /seal/certificate.pem`. */
export function sealChainPem(chain: readonly Certificate[]): string {
  return chain.map((certificate) => encodePem(certificate.der, "CERTIFICATE")).join("");
}

function extensions(spki: Uint8Array): DerValue {
  const identifier = keyIdentifier(spki);
  const extension = (type: string, critical: boolean, value: DerValue) =>
    sequence(oid(type), ...(critical ? [boolean(true)] : []), octetStringOf(value));
  const digitalSignatureAndNonRepudiation = bitString(Uint8Array.of(0xc0), 6);
  return sequence(
    extension(OID.basicConstraints, true, sequence()),
    extension(OID.keyUsage, true, digitalSignatureAndNonRepudiation),
    extension(OID.extKeyUsage, false, sequence(oid(OID.kpDocumentSigning))),
    extension(OID.subjectKeyIdentifier, false, octetString(identifier)),
    extension(OID.authorityKeyIdentifier, false, sequence(implicit(0, octetString(identifier)))),
  );
}

/** Method 1 of RFC 7093, section 2: the left 160 bits of the SHA-256 of the key's bits. */
function keyIdentifier(spki: Uint8Array): Uint8Array {
  const fields = fieldsOf(readDer(spki), "x509");
  fields.next("algorithm");
  const bits = readOctetBitString(fields.next("subjectPublicKey"));
  return createHash("sha256").update(bits).digest().subarray(0, 20);
}

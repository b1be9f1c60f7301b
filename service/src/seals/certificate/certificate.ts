import { OID, oid, sequence } from "@signsealship/evidence/asn1";
import { type Certificate, encodePem, parseCertificatesPem } from "@signsealship/evidence/x509";
import type { SealKey } from "../keys/seal-key.ts";
import { commonNameOf, extension, keyUsage, writeCertificate } from "./write.ts";

const VALID_YEARS = 10;
/** Clocks differ: a seal made in the first second must not look older than its certificate. */
const BACKDATED_MS = 5 * 60_000;

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
  const { key, at, serialNumber } = input;
  const until = new Date(at);
  until.setUTCFullYear(until.getUTCFullYear() + VALID_YEARS);
  const name = commonNameOf(`SignSealShip seal ${input.host}`);
  const extensions = [
    extension(OID.basicConstraints, true, sequence()),
    keyUsage.signing,
    extension(OID.extKeyUsage, false, sequence(oid(OID.kpDocumentSigning))),
  ];
  const dates = { notBefore: at - BACKDATED_MS, notAfter: until.getTime() };
  return writeCertificate(
    { subject: name, publicKey: key.publicKey, serialNumber, extensions, ...dates },
    { key, name },
  );
}

/** The chain of a PEM text, the seal's own certificate first. @throws EvidenceError `x509` and others when it is none. */
export const readSealChain = (pem: string): Certificate[] => parseCertificatesPem(pem);

/** The chain as PEM, for `GET /seal/certificate.pem`. */
export function sealChainPem(chain: readonly Certificate[]): string {
  return chain.map((certificate) => encodePem(certificate.der, "CERTIFICATE")).join("");
}

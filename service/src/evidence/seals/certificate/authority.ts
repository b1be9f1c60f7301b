import { boolean, integer, OID, oid, raw, sequence } from "@signsealship/evidence/asn1";
import type { Certificate } from "@signsealship/evidence/x509";
import type { Environment } from "../../../kernel/identity/identity.ts";
import { minuteMs } from "../../../kernel/platform/clock.ts";
import type { SealKey } from "../keys/seal-key.ts";
import {
  type CertificateFields,
  commonNameOf,
  extension,
  keyUsage,
  noMailAddresses,
  writeCertificate,
} from "./write.ts";

/** A key that issues certificates. Its chain starts with its own certificate and ends at the root. */
export type Authority = { readonly key: SealKey; readonly chain: readonly [Certificate, ...Certificate[]] };

const ROOT_YEARS = 30;
/**
 * The start of a certificate's validity: five minutes before it is made. A signature made right after the certificate
 * must not look older than the certificate to a reader whose clock differs.
 */
export const validSince = (at: number): number => at - 5 * minuteMs;

/**
 * A signing certificate has both of these extended key usages, because some PDF readers require the first and others
 * the second.
 */
export const signingUses = extension(
  OID.extKeyUsage,
  false,
  sequence(oid(OID.kpDocumentSigning), oid(OID.kpEmailProtection)),
);

/** The name of a certificate that the service issues: `SignSealShip root HOST`, `SignSealShip TEST root HOST`. */
export const ownName = (what: string, host: string, environment: Environment): string =>
  `SignSealShip ${environment === "test" ? "TEST " : ""}${what} ${host}`;

/**
 * The validity of a certificate.
 * @param at epoch milliseconds
 */
export function validFor(years: number, at: number): { notBefore: number; notAfter: number } {
  const until = new Date(at);
  until.setUTCFullYear(until.getUTCFullYear() + years);
  return { notBefore: validSince(at), notAfter: until.getTime() };
}

/**
 * Makes a root certificate, under which this service issues its own certificates. It is valid for thirty years and can
 * sign only certificates and revocation lists. A root for tests has TEST in its name. It allows no email addresses in
 * the certificates below it, because anybody with a trial key gets such a certificate.
 * @param input `host` the public host name; `serialNumber` 16 random bytes; `at` now, epoch milliseconds
 * @throws {SealKeyError} when the key does not sign
 */
export async function makeRoot(input: {
  readonly key: SealKey;
  readonly host: string;
  readonly environment?: Environment;
  /** True if the root may issue only seal certificates, and not authorities. */
  readonly sealsOnly?: boolean;
  readonly serialNumber: Uint8Array;
  readonly at: number;
}): Promise<Authority> {
  const { key, host, serialNumber, at, environment = "live", sealsOnly = false } = input;
  const name = commonNameOf(ownName(sealsOnly ? "seal root" : "root", host, environment));
  const pathLength = sealsOnly ? [integer(0)] : [];
  const extensions = [
    extension(OID.basicConstraints, true, sequence(boolean(true), ...pathLength)),
    keyUsage.issuing,
    ...(environment === "test" ? [noMailAddresses] : []),
  ];
  const root = await writeCertificate(
    { subject: name, publicKey: key.publicKey, serialNumber, extensions, ...validFor(ROOT_YEARS, at) },
    { key, name },
  );
  return { key, chain: [root] };
}

/**
 * Issues a certificate, which expires no later than its issuer.
 * @returns the certificate with the chain above it
 * @throws {SealKeyError} when the key does not sign
 */
export async function issue(
  { key, chain }: Authority,
  fields: CertificateFields,
): Promise<[Certificate, ...Certificate[]]> {
  const [own] = chain;
  const notAfter = Math.min(fields.notAfter, own.notAfter);
  return [await writeCertificate({ ...fields, notAfter }, { key, name: raw(own.subject) }), ...chain];
}

import { boolean, integer, OID, oid, raw, sequence } from "@signsealship/evidence/asn1";
import type { Certificate } from "@signsealship/evidence/x509";
import type { Environment } from "../../../kernel/identity/identity.ts";
import type { SealKey } from "../keys/seal-key.ts";
import {
  type CertificateFields,
  commonNameOf,
  extension,
  keyUsage,
  noMailAddresses,
  writeCertificate,
} from "./write.ts";

/** A key that issues certificates, with its own certificate and those above it, the nearest first. */
export type Authority = { readonly key: SealKey; readonly chain: readonly [Certificate, ...Certificate[]] };

const ROOT_YEARS = 30;
/** Clocks differ: a signature made in the first second must not look older than its certificate. */
export const validSince = (at: number): number => at - 5 * 60_000;

/** Readers differ on which of the two they ask for; with both, each is content. */
export const signingUses = extension(
  OID.extKeyUsage,
  false,
  sequence(oid(OID.kpDocumentSigning), oid(OID.kpEmailProtection)),
);

/** A name of the service's own: `SignSealShip root HOST`, `SignSealShip TEST root HOST`. */
export const ownName = (what: string, host: string, environment: Environment): string =>
  `SignSealShip ${environment === "test" ? "TEST " : ""}${what} ${host}`;

/** The dates of a certificate. @param at epoch milliseconds */
export function validFor(years: number, at: number): { notBefore: number; notAfter: number } {
  const until = new Date(at);
  until.setUTCFullYear(until.getUTCFullYear() + years);
  return { notBefore: validSince(at), notAfter: until.getTime() };
}

/**
 * Makes the root that stands above everything that this service signs with: thirty years, no usage but issuing.
 * The root of tests says so in its name, and excludes mail addresses: anybody with a trial key has a certificate below it.
 * @param made `host` the public host name; `serialNumber` 16 random bytes; `at` now, epoch milliseconds
 * @throws {SealKeyError} when the key does not sign
 */
export async function makeRoot(made: {
  readonly key: SealKey;
  readonly host: string;
  readonly environment?: Environment;
  /** Whether it issues seal certificates alone, and no authority. */
  readonly sealsOnly?: boolean;
  readonly serialNumber: Uint8Array;
  readonly at: number;
}): Promise<Authority> {
  const { key, host, serialNumber, at, environment = "live", sealsOnly = false } = made;
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
 * Issues a certificate, which ends with its issuer's at the latest.
 * @returns it with those above it
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

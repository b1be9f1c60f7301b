import { generateKeyPairSync } from "node:crypto";
import { boolean, integer, nullValue, OID, oid, primitive, raw, sequence, TAG } from "@signsealship/evidence/asn1";
import type { Certificate } from "@signsealship/evidence/x509";
import { commonNameOf, extension, keyUsage, type SealKey, sealKeyOf, writeCertificate } from "../seals/seals.ts";

/** A key that issues certificates, with its own certificate and those above it, the nearest first. */
export type Authority = { readonly key: SealKey; readonly chain: readonly [Certificate, ...Certificate[]] };

const ROOT_YEARS = 30;
const AUTHORITY_YEARS = 20;
/** Clocks differ: a signature made in the first second must not look older than its certificate. */
const BACKDATED_MS = 5 * 60_000;

/** Readers differ on which of the two they ask for; with both, each is content. */
const signingUses = extension(OID.extKeyUsage, false, sequence(oid(OID.kpDocumentSigning), oid(OID.kpEmailProtection)));

type Made = { readonly key: SealKey; readonly host: string; readonly serialNumber: Uint8Array; readonly at: number };

/**
 * Makes the root that stands above everything that this service signs with.
 * @param made `host` the public host name; `serialNumber` 16 random bytes; `at` now, epoch milliseconds
 */
export async function makeRoot({ key, host, serialNumber, at }: Made): Promise<Authority> {
  const name = commonNameOf(`SignSealShip root ${host}`);
  const extensions = [extension(OID.basicConstraints, true, sequence(boolean(true))), keyUsage.issuing];
  const root = await writeCertificate(
    { subject: name, publicKey: key.publicKey, serialNumber, extensions, ...validFor(ROOT_YEARS, at) },
    { key, name },
  );
  return { key, chain: [root] };
}

/** Makes the authority that issues the certificates of signers, under the root. */
export async function makeSignerAuthority(root: Authority, { key, host, serialNumber, at }: Made): Promise<Authority> {
  const extensions = [
    extension(OID.basicConstraints, true, sequence(boolean(true), integer(0))),
    keyUsage.issuing,
    signingUses,
  ];
  const subject = commonNameOf(`SignSealShip signers ${host}`);
  const certificate = await issue(root, {
    subject,
    publicKey: key.publicKey,
    serialNumber,
    extensions,
    ...validFor(AUTHORITY_YEARS, at),
  });
  return { key, chain: [certificate, ...root.chain] };
}

/**
 * Issues the certificate of one act: its key signs once, and is destroyed. It is valid as long as the authority, for a key
 * that is gone needs no expiry, and says that there is nothing to be asked about its revocation (RFC 9608).
 * @param signer `name` as the signer wrote it; `email` where the link was mailed; `statement` the URL of what was checked
 */
export async function issueSignerCertificate(
  authority: Authority,
  signer: {
    readonly name: string;
    readonly email: string;
    /** SubjectPublicKeyInfo, DER: P-256. */
    readonly publicKey: Uint8Array;
    readonly statement: string;
    readonly serialNumber: Uint8Array;
    /** Epoch milliseconds. */
    readonly at: number;
  },
): Promise<[Certificate, ...Certificate[]]> {
  const cps = sequence(oid(OID.qualifierCps), ia5String(signer.statement));
  const mailbox = primitive(0x81, ascii(signer.email));
  const extensions = [
    extension(OID.basicConstraints, true, sequence()),
    keyUsage.signing,
    signingUses,
    ...(isAscii(signer.email) ? [extension(OID.subjectAltName, false, sequence(mailbox))] : []),
    extension(OID.certificatePolicies, false, sequence(sequence(oid(OID.signerCertificatePolicy), sequence(cps)))),
    extension(OID.noRevAvail, false, nullValue),
  ];
  const [issuer] = authority.chain;
  const certificate = await issue(authority, {
    subject: commonNameOf(signer.name),
    publicKey: signer.publicKey,
    serialNumber: signer.serialNumber,
    notBefore: signer.at - BACKDATED_MS,
    notAfter: issuer.notAfter,
    extensions,
  });
  return [certificate, ...authority.chain];
}

/** A key of the service's own memory, for a signer whose browser makes none: it signs once. */
export function oneActKey(): SealKey {
  return sealKeyOf(generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey, "a signer's key");
}

type Fields = Parameters<typeof writeCertificate>[0];

const issue = ({ key, chain: [own] }: Authority, fields: Fields): Promise<Certificate> =>
  writeCertificate(fields, { key, name: raw(own.subject) });

function validFor(years: number, at: number): { notBefore: number; notAfter: number } {
  const until = new Date(at);
  until.setUTCFullYear(until.getUTCFullYear() + years);
  return { notBefore: at - BACKDATED_MS, notAfter: until.getTime() };
}

const isAscii = (text: string): boolean => /^[!-~]+$/.test(text);
const ascii = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, "latin1"));
const ia5String = (text: string) => primitive(TAG.ia5String, ascii(text));

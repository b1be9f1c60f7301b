import { generateKeyPairSync } from "node:crypto";
import { boolean, integer, nullValue, OID, oid, primitive, sequence, TAG } from "@signsealship/evidence/asn1";
import { type Certificate, certifiedName } from "@signsealship/evidence/x509";
import {
  type Authority,
  commonNameOf,
  extension,
  issue,
  keyUsage,
  type SealKey,
  sealKeyOf,
  signingUses,
  validFor,
  validSince,
} from "../seals/seals.ts";

const AUTHORITY_YEARS = 20;

/**
 * Makes the authority that issues the certificates of signers, under the root.
 * @param made `host` the public host name; `serialNumber` 16 random bytes; `at` now, epoch milliseconds
 */
export async function makeSignerAuthority(
  root: Authority,
  made: { readonly key: SealKey; readonly host: string; readonly serialNumber: Uint8Array; readonly at: number },
): Promise<Authority> {
  const { key, host, serialNumber, at } = made;
  const extensions = [
    extension(OID.basicConstraints, true, sequence(boolean(true), integer(0))),
    keyUsage.issuing,
    signingUses,
  ];
  const subject = commonNameOf(`SignSealShip signers ${host}`);
  const fields = { subject, publicKey: key.publicKey, serialNumber, extensions, ...validFor(AUTHORITY_YEARS, at) };
  return { key, chain: await issue(root, fields) };
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
  const { name, publicKey, serialNumber, at } = signer;
  const dates = { notBefore: validSince(at), notAfter: authority.chain[0].notAfter };
  return issue(authority, {
    subject: commonNameOf(certifiedName(name)),
    publicKey,
    serialNumber,
    extensions,
    ...dates,
  });
}

/** A key of the service's own memory, for a signer whose browser makes none: it signs once. */
export function oneActKey(): SealKey {
  return sealKeyOf(generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey, "a signer's key");
}

const isAscii = (text: string): boolean => /^[!-~]+$/.test(text);
const ascii = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, "latin1"));
const ia5String = (text: string) => primitive(TAG.ia5String, ascii(text));

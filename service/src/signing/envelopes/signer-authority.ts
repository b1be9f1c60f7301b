import { boolean, integer, OID, oid, primitive, sequence, TAG } from "@signsealship/evidence/asn1";
import { type Certificate, certifiedName } from "@signsealship/evidence/x509";
import {
  type Authority,
  commonNameOf,
  distributionPoint,
  extension,
  issue,
  keyInMemory,
  keyUsage,
  noMailAddresses,
  ownName,
  type SealKey,
  signingUses,
  validFor,
  validSince,
} from "../../evidence/seals/seals.ts";
import type { Environment } from "../../kernel/identity/identity.ts";

const AUTHORITY_YEARS = 20;

/**
 * Creates the authority that issues signers' certificates, under the root of its environment. Its certificate permits
 * the purpose of mail protection, because NSS (used by pdfsig) trusts signatures only from such authorities. Its name
 * constraint excludes all email addresses.
 * @param input `host` the public host name; `serialNumber` 16 random bytes; `at` now, epoch milliseconds
 */
export async function makeSignerAuthority(
  root: Authority,
  input: {
    readonly key: SealKey;
    readonly host: string;
    readonly environment?: Environment;
    readonly serialNumber: Uint8Array;
    readonly at: number;
  },
): Promise<Authority> {
  const { key, host, serialNumber, at, environment = "live" } = input;
  const extensions = [
    extension(OID.basicConstraints, true, sequence(boolean(true), integer(0))),
    keyUsage.issuing,
    signingUses,
    noMailAddresses,
  ];
  const subject = commonNameOf(ownName("signer authority", host, environment));
  const fields = { subject, publicKey: key.publicKey, serialNumber, extensions, ...validFor(AUTHORITY_YEARS, at) };
  return { key, chain: await issue(root, fields) };
}

/**
 * Issues the certificate of one act. The certificate contains no email address. It is valid as long as the authority's
 * certificate, because some readers check its validity at the current date, not at the signing time. If the act gets a
 * time stamp, the certificate is revoked minutes later (revocation.ts), so that readers reject any later signature.
 * @param signer `name` the signer's name in the envelope; `statement` the URL of the envelope's public page; `crl` the
 * URL where the certificate's revocation is published
 */
export async function issueSignerCertificate(
  authority: Authority,
  signer: {
    readonly name: string;
    readonly environment: Environment;
    /** SubjectPublicKeyInfo, DER: P-256. */
    readonly publicKey: Uint8Array;
    readonly statement: string;
    readonly crl: string;
    readonly serialNumber: Uint8Array;
    /** Epoch milliseconds. */
    readonly at: number;
  },
): Promise<[Certificate, ...Certificate[]]> {
  const cps = sequence(oid(OID.qualifierCps), ia5String(signer.statement));
  const extensions = [
    extension(OID.basicConstraints, true, sequence()),
    keyUsage.signing,
    signingUses,
    extension(OID.certificatePolicies, false, sequence(sequence(oid(OID.signerCertificatePolicy), sequence(cps)))),
    extension(OID.cRLDistributionPoints, false, sequence(sequence(distributionPoint(signer.crl)))),
  ];
  const { name, environment, publicKey, serialNumber, at } = signer;
  const dates = { notBefore: validSince(at), notAfter: authority.chain[0].notAfter };
  return issue(authority, {
    subject: commonNameOf(certifiedName(name), environment === "test" ? "TEST, worth nothing" : undefined),
    publicKey,
    serialNumber,
    extensions,
    ...dates,
  });
}

/** A key in the service's memory for one signature, used when the signer's browser can't create a key. */
export const oneActKey = (): SealKey => keyInMemory("a signer's key");

const ascii = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, "latin1"));
const ia5String = (text: string) => primitive(TAG.ia5String, ascii(text));

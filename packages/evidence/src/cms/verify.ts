import { OID } from "../asn1/oid.ts";
import { equalBytes } from "../bytes.ts";
import { allHold, type Claim, claim } from "../claim.ts";
import type { EvidenceCrypto, HashName } from "../crypto-port.ts";
import type { Certificate } from "../x509/certificate.ts";
import { outdatedPart, signatureFault } from "../x509/signature-policy.ts";
import { type Stated, signingTimeOf, statedIn } from "./signed-attributes.ts";
import type { SignedData, SignerIdentifier, SignerInfo } from "./signed-data.ts";
import { checkSigningCertificate } from "./signing-certificate.ts";

/**
 * The claims about a SignerInfo, in the order in which they are verified. A claim is `unchecked` when a claim that it
 * depends on failed.
 */
export type SignerClaimName =
  | "signerCertificate"
  | "signedAttributes"
  | "contentType"
  | "algorithms"
  | "messageDigest"
  | "signature"
  | "signingCertificate";

export interface SignerVerification {
  /** True if every claim holds. Says nothing about trust, which `verifyChain` checks. */
  readonly valid: boolean;
  /**
   * The only certificate in the signature that the signer identifier names. Null when none or several different ones
   * match.
   */
  readonly certificate: Certificate | null;
  readonly claims: readonly Claim<SignerClaimName>[];
  /** The version of the ESSCertID that binds the certificate: 2 (RFC 5035) or 1 (SHA-1). Null when none binds it. */
  readonly signingCertificateVersion: 1 | 2 | null;
  /**
   * The signing-time attribute, epoch milliseconds, if present. It is only the signer's own statement, and PAdES
   * forbids it.
   */
  readonly signingTime: number | null;
  /**
   * The outdated part that makes the signature unreliable: `MD5`, `SHA-1`, or a key that is too short. Null when
   * nothing is outdated.
   */
  readonly outdated: string | null;
}

export interface SignerInput {
  readonly signedData: SignedData;
  readonly signerInfo: SignerInfo;
  /** Computes the content's digest. The content is the bytes of /ByteRange for a PDF, and the eContent for a token. */
  readonly contentDigest: (hash: HashName) => Uint8Array | Promise<Uint8Array>;
  /** The content type that the signed attribute must state; by default, the content type of the SignedData. */
  readonly contentType?: string;
  /**
   * Returns the content itself. Used only for a signature without signed attributes. Without this function, such a
   * signature fails the claims about its attributes.
   */
  readonly content?: () => Uint8Array;
  readonly crypto: EvidenceCrypto;
}

/**
 * Verifies one SignerInfo over its content (RFC 5652, section 5.6; RFC 5035). Refuses MD5 and RSA keys under 2048 bits.
 * Accepts SHA-1 only for naming the certificate. The signature must use the hash that the SignerInfo names as its
 * digest algorithm.
 *
 * A signature without signed attributes is never `valid`. If `content` is given, its claims are still checked. A wrong
 * signature makes a claim fail and throws nothing. Only errors of the functions in `input` are thrown.
 */
export async function verifySignerInfo(input: SignerInput): Promise<SignerVerification> {
  const { signedData, signerInfo, crypto } = input;
  const { content } = input;
  if (signerInfo.signedAttrs === null && content !== undefined) return verifyBareSignature(input, content());
  const certificate = signerCertificateOf(signedData, signerInfo.sid);
  const signedAttrs = signerInfo.signedAttrs ?? [];
  const stated = statedIn(signerInfo);
  const algorithms = algorithmsClaim(signerInfo, certificate);
  const bound = certificate === null ? null : await checkSigningCertificate(signedAttrs, certificate, crypto);
  const claims: Claim<SignerClaimName>[] = [
    certificateClaim(certificate),
    claim(
      "signedAttributes",
      stated !== null,
      "contentType and messageDigest are signed, once each",
      "contentType or messageDigest is missing from the signed attributes, malformed, or there more than once",
    ),
    contentTypeClaim(stated, input.contentType ?? signedData.eContentType, signedData.eContentType),
    algorithms,
    await messageDigestClaim(input, stated, algorithms),
    await signatureClaim(input, certificate, algorithms, signerInfo.signedAttrsDer),
    bound === null
      ? unchecked("signingCertificate", "There is no certificate to compare")
      : claim(
          "signingCertificate",
          bound.holds,
          bound.holds && bound.version === 1
            ? "The signed attributes name the certificate, by its SHA-1 (version 1 of the attribute)"
            : "The signed attributes name the certificate",
          bound.holds ? "" : bound.why,
        ),
  ];
  return {
    valid: allHold(claims),
    certificate,
    claims,
    signingCertificateVersion: bound?.holds === true ? bound.version : null,
    signingTime: signingTimeOf(signedAttrs),
    outdated: outdatedIn(signerInfo, certificate),
  };
}

/**
 * Verifies a signature over the content itself (RFC 5652, section 5.4). No signed attribute binds such a signature to
 * its certificate.
 */
async function verifyBareSignature(input: SignerInput, content: Uint8Array): Promise<SignerVerification> {
  const { signedData, signerInfo } = input;
  const certificate = signerCertificateOf(signedData, signerInfo.sid);
  const algorithms = algorithmsClaim(signerInfo, certificate);
  const signature = await signatureClaim(input, certificate, algorithms, content);
  const why = "There are no signed attributes: the signature is over the content itself";
  // RFC 5652, section 5.3: without signed attributes, the content must be data.
  const isData = signedData.eContentType === OID.idData;
  return {
    valid: false,
    certificate,
    claims: [
      certificateClaim(certificate),
      { name: "signedAttributes", state: "holds", why },
      claim("contentType", isData, "The content is data", "Without signed attributes the content must be data"),
      algorithms,
      { ...signature, name: "messageDigest" },
      signature,
      unchecked("signingCertificate", why),
    ],
    signingCertificateVersion: null,
    signingTime: null,
    outdated: outdatedIn(signerInfo, certificate),
  };
}

function certificateClaim(certificate: Certificate | null): Claim<SignerClaimName> {
  return claim(
    "signerCertificate",
    certificate !== null,
    "The signer's certificate is included",
    "The certificate that the signer identifier names is not included, or not once",
  );
}

function outdatedIn(
  { digestOid, digestAlgorithm, signatureAlgorithm, signatureOid }: SignerInfo,
  certificate: Certificate | null,
): string | null {
  if (digestAlgorithm === "SHA-1") return "SHA-1";
  return outdatedPart(certificate?.publicKey ?? null, signatureAlgorithm, [digestOid, signatureOid]);
}

function signerCertificateOf(signedData: SignedData, sid: SignerIdentifier): Certificate | null {
  const named = signedData.certificates.filter((certificate) =>
    sid.kind === "issuerAndSerialNumber"
      ? equalBytes(certificate.serialNumber, sid.serialNumber) && equalBytes(certificate.issuer, sid.issuer)
      : certificate.subjectKeyIdentifier !== null && equalBytes(certificate.subjectKeyIdentifier, sid.keyIdentifier),
  );
  const [first] = named;
  // If two different included certificates match the signer identifier, neither is returned. It is unknown which one
  // the signer meant.
  return first !== undefined && named.every((other) => equalBytes(other.der, first.der)) ? first : null;
}

function contentTypeClaim(stated: Stated | null, expected: string, actual: string): Claim<SignerClaimName> {
  if (stated === null) return unchecked("contentType", "The signed attributes are not usable");
  return claim(
    "contentType",
    stated.contentType === expected && actual === expected,
    "The signed content type is that of the content",
    "The signed content type, that of the content and the one expected are not the same",
  );
}

function algorithmsClaim(signerInfo: SignerInfo, certificate: Certificate | null): Claim<SignerClaimName> {
  const { digestAlgorithm, digestOid, signatureAlgorithm, signatureOid } = signerInfo;
  const fails = (why: string): Claim<SignerClaimName> => ({ name: "algorithms", state: "fails", why });
  if (digestAlgorithm === "SHA-1" || digestOid === OID.md5) return fails("The digest algorithm is MD5 or SHA-1");
  if (digestAlgorithm === null) return fails(`The digest algorithm ${digestOid} is not supported`);
  if (certificate === null) return unchecked("algorithms", "There is no certificate whose key could be compared");
  const fault = signatureFault(certificate.publicKey, signatureAlgorithm, signatureOid);
  if (fault !== null) return fails(`The signature algorithm or key cannot be relied on (${fault})`);
  if (signatureAlgorithm?.hash !== digestAlgorithm) return fails("The signature and the digest use different hashes");
  return { name: "algorithms", state: "holds", why: `Digest, signature and key fit together (${digestAlgorithm})` };
}

async function messageDigestClaim(
  { signerInfo, contentDigest }: SignerInput,
  stated: Stated | null,
  algorithms: Claim,
): Promise<Claim<SignerClaimName>> {
  const { digestAlgorithm } = signerInfo;
  if (stated === null) return unchecked("messageDigest", "The signed attributes are not usable");
  if (digestAlgorithm === null || digestAlgorithm === "SHA-1") return unchecked("messageDigest", algorithms.why);
  return claim(
    "messageDigest",
    equalBytes(await contentDigest(digestAlgorithm), stated.messageDigest),
    "The content has the signed digest",
    "The content does not have the signed digest: it was changed after signing",
  );
}

async function signatureClaim(
  { signerInfo, crypto }: SignerInput,
  certificate: Certificate | null,
  algorithms: Claim,
  data: Uint8Array | null,
): Promise<Claim<SignerClaimName>> {
  const { signatureAlgorithm: algorithm, signature } = signerInfo;
  if (certificate === null || algorithm === null || algorithms.state !== "holds")
    return unchecked("signature", algorithms.state === "holds" ? "There is no usable key" : algorithms.why);
  if (data === null) return unchecked("signature", "There are no signed attributes");
  return claim(
    "signature",
    await crypto.verify({ spki: certificate.spki, algorithm, signature, data }),
    "The certificate's key made the signature",
    "The signature is not by the certificate's key over what it should be",
  );
}

function unchecked<Name extends SignerClaimName>(name: Name, why: string): Claim<Name> {
  return { name, state: "unchecked", why };
}

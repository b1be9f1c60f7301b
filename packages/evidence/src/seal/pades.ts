import { OID } from "../asn1/oid.ts";
import { concatBytes } from "../bytes.ts";
import type { Claim } from "../claim.ts";
import { uncoveredPart } from "../cms/coverage.ts";
import { parseSignedData, type SignedData, signatureTimeStampTokens } from "../cms/signed-data.ts";
import { type SignerClaimName, type SignerVerification, verifySignerInfo } from "../cms/verify.ts";
import type { EvidenceCrypto, HashName } from "../crypto-port.ts";
import { EvidenceError } from "../errors.ts";
import type { SignedRange } from "../pdf/byte-range.ts";
import { nameOf, type PdfDictionary } from "../pdf/values.ts";
import { parseTimeStampToken } from "../rfc3161/token.ts";
import { type TimeStampVerification, verifyTimeStampToken } from "../rfc3161/verify.ts";
import type { Certificate } from "../x509/certificate.ts";

/**
 * The format of a signature, by its /SubFilter: PAdES (ETSI EN 319 142-1), a document time stamp, or an older or
 * unknown format. A `pkcs7` signature need not cover its certificate.
 */
type SignatureFormat = "pades" | "pkcs7" | "document-time-stamp" | "pkcs7-sha1" | "x509-rsa-sha1" | "unknown";

export interface PadesInput {
  readonly dictionary: PdfDictionary;
  readonly range: SignedRange;
  /** Trusted certificates of time-stamping authorities; without any, the claim about time is unchecked. */
  readonly tsaAnchors: readonly Certificate[];
  /**
   * Trusted certificates of signers. They only tell which certificates in the signature are genuine: those that a
   * trusted certificate issued. `verifyChain` decides whether the signer is trusted.
   */
  readonly sealAnchors: readonly Certificate[];
  /** The instant of the verification, epoch ms. */
  readonly at: number;
  readonly crypto: EvidenceCrypto;
  /** The digest of the signed ranges, if the caller knows it already. */
  readonly rangeDigest?: { readonly hash: HashName; readonly value: Uint8Array };
}

export interface PadesVerification {
  readonly format: SignatureFormat;
  /**
   * The PAdES level: B-T when at least one time stamp over the signature is intact, else B-B. Null unless this is a
   * valid PAdES baseline signature.
   */
  readonly level: "B-B" | "B-T" | null;
  /**
   * True if every claim holds; for `pkcs7`, the claim `signingCertificate` need not hold. For a document time stamp:
   * true if its token is intact. Says nothing about trust or `problem`.
   */
  readonly valid: boolean;
  readonly claims: readonly Claim<SignerClaimName>[];
  /** The signer's certificate; null when it is missing, and for a document time stamp. */
  readonly certificate: Certificate | null;
  /** The certificates that the signature includes. */
  readonly certificates: readonly Certificate[];
  /** Time stamps over the signature value. For a document time stamp: over the signed ranges. */
  readonly timeStamps: readonly TimeStampVerification[];
  /** The signature value; null when it could not be read, and for a document time stamp. */
  readonly signatureValue: Uint8Array | null;
  /** The CMS of a signature; null when it could not be read, and for a document time stamp. */
  readonly signedData: SignedData | null;
  /** The reason why the signature is unreadable, partly uncovered, or not PAdES baseline; null otherwise. */
  readonly problem: string | null;
  /**
   * The weak algorithm or key that makes the signature unreliable by now: `MD5`, `SHA-1` or a description of the key;
   * null otherwise.
   */
  readonly outdated: string | null;
}

const MAX_TIME_STAMPS = 4;

/** The format that /SubFilter names. */
function signatureFormat(dictionary: PdfDictionary): SignatureFormat {
  switch (nameOf(dictionary, "SubFilter")) {
    case "ETSI.CAdES.detached":
      return "pades";
    case "adbe.pkcs7.detached":
      return "pkcs7";
    case "ETSI.RFC3161":
      return "document-time-stamp";
    case "adbe.pkcs7.sha1":
      return "pkcs7-sha1";
    case "adbe.x509.rsa_sha1":
      return "x509-rsa-sha1";
    default:
      return "unknown";
  }
}

/**
 * Verifies one signature of a PDF over the ranges that `readByteRange` accepted: PAdES B-B and B-T, the older
 * adbe.pkcs7.detached (which never gets a level), and document time stamps. Doesn't decide whether the signer is
 * trusted. Failures and unreadable parts are in the result, never an exception.
 */
export async function verifyPades(input: PadesInput): Promise<PadesVerification> {
  const format = signatureFormat(input.dictionary);
  try {
    if (format === "unknown") return unreadable(format, "The signature's /SubFilter is not one that is read");
    if (format === "pkcs7-sha1" || format === "x509-rsa-sha1") {
      return unreadable(format, "A signature of an older format, which rests on SHA-1 and cannot be relied on");
    }
    return format === "document-time-stamp" ? await verifyDocumentTimeStamp(input) : await verifySigned(input, format);
  } catch (error) {
    if (error instanceof EvidenceError) return unreadable(format, `The signature cannot be read: ${error.message}`);
    throw error;
  }
}

async function verifySigned(input: PadesInput, format: "pades" | "pkcs7"): Promise<PadesVerification> {
  const { range, crypto } = input;
  const signedData = parseSignedData(range.contents);
  const [signerInfo, another] = signedData.signerInfos;
  if (signerInfo === undefined || another !== undefined) return unreadable(format, "There is not exactly one signer");
  if (signedData.eContent !== null) return unreadable(format, "The signature holds a content of its own");
  const signer = await verifySignerInfo({
    signedData,
    signerInfo,
    contentType: OID.idData,
    contentDigest: (hash) => digestOf(input, hash),
    ...(format === "pkcs7" && { content: () => concatBytes(range.signedBytes) }),
    crypto,
  });
  const timeStamps: TimeStampVerification[] = [];
  const tokens = signatureTimeStampTokens(signerInfo);
  if (tokens.length > MAX_TIME_STAMPS) return unreadable(format, "There are too many time stamps");
  let loose = await uncoveredPart(range.contents, signedData, signerInfo, input.sealAnchors, crypto);
  for (const der of tokens) {
    const token = parseTimeStampToken(der);
    const stamped = { message: signerInfo.signature };
    timeStamps.push(await verifyTimeStampToken({ token, stamped, anchors: input.tsaAnchors, at: input.at, crypto }));
    const [stamper] = token.signedData.signerInfos;
    if (stamper !== undefined) loose ??= await uncoveredPart(der, token.signedData, stamper, input.tsaAnchors, crypto);
  }
  // Unlike PAdES, a PKCS#7 signature may omit its certificate from the signed attributes.
  const valid =
    signer.valid ||
    (format === "pkcs7" &&
      signer.claims.every(({ name, state }) => state === "holds" || name === "signingCertificate"));
  const problem =
    loose === null
      ? baselineProblem(format, signer, signedData)
      : `The signature value holds ${loose}: nothing covers them`;
  const level = !valid || problem !== null ? null : timeStamps.some(({ intact }) => intact) ? "B-T" : "B-B";
  return {
    format,
    level,
    valid,
    claims: signer.claims,
    certificate: signer.certificate,
    certificates: signedData.certificates,
    timeStamps,
    signatureValue: signerInfo.signature,
    signedData,
    problem,
    outdated: signer.outdated,
  };
}

/** The rule of ETSI EN 319 142-1, section 6.3, that the signature violates, in words; null if it violates none. */
function baselineProblem(format: SignatureFormat, signer: SignerVerification, signedData: SignedData): string | null {
  if (format !== "pades") return "An older PKCS#7 signature: it is not bound to its certificate as PAdES requires";
  if (signer.signingTime !== null) return "The CMS signing-time attribute is forbidden in PAdES";
  if (signer.signingCertificateVersion === 1) return "The certificate is named by its SHA-1 alone";
  return signedData.certificates.length === 0 ? "The signer's certificate is not included" : null;
}

async function verifyDocumentTimeStamp(input: PadesInput): Promise<PadesVerification> {
  const token = parseTimeStampToken(input.range.contents);
  const stamped =
    token.tstInfo?.hashAlgorithm === "SHA-256"
      ? { sha256: await digestOf(input, "SHA-256") }
      : { message: concatBytes(input.range.signedBytes) };
  const { tsaAnchors: anchors, at, crypto } = input;
  const verification = await verifyTimeStampToken({ token, stamped, anchors, at, crypto });
  return {
    format: "document-time-stamp",
    level: null,
    valid: verification.intact,
    claims: [],
    certificate: null,
    certificates: token.signedData.certificates,
    timeStamps: [verification],
    signatureValue: null,
    signedData: null,
    problem: "A document time stamp: it says when, and not who sealed",
    outdated: token.tstInfo?.hashAlgorithm === "SHA-1" ? "SHA-1" : verification.outdated,
  };
}

function digestOf({ rangeDigest, range, crypto }: PadesInput, hash: HashName): Uint8Array | Promise<Uint8Array> {
  return rangeDigest?.hash === hash ? rangeDigest.value : crypto.digest(hash, range.signedBytes);
}

function unreadable(format: SignatureFormat, problem: string): PadesVerification {
  return {
    format,
    level: null,
    valid: false,
    claims: [],
    certificate: null,
    certificates: [],
    timeStamps: [],
    signatureValue: null,
    signedData: null,
    problem,
    outdated: format === "pkcs7-sha1" || format === "x509-rsa-sha1" ? "SHA-1" : null,
  };
}

import { OID } from "../asn1/oid.ts";
import { equalBytes } from "../bytes.ts";
import { type Claim, type ClaimState, claim } from "../claim.ts";
import { type SignerClaimName, type SignerVerification, verifySignerInfo } from "../cms/verify.ts";
import type { EvidenceCrypto } from "../crypto-port.ts";
import { HASH_LENGTH } from "../x509/algorithms.ts";
import type { Certificate } from "../x509/certificate.ts";
import { verifyChain } from "../x509/chain.ts";
import { hasOnlyTimeStampingUsage } from "../x509/usage.ts";
import { PKI_STATUS, parseTimeStampToken, type TimeStampToken, type TstInfo } from "./token.ts";

/**
 * The eight claims about a time stamp, in the order in which they are verified (RFC 3161, sections 2.2, 2.3 and 2.4.2).
 */
export type TimeStampClaimName =
  | "status"
  | "nonce"
  | "messageImprint"
  | "contentType"
  | "messageDigest"
  | "signature"
  | "signingCertificate"
  | "chain";

export interface TimeStampInput {
  /** DER of the token, or the parsed token. */
  readonly token: Uint8Array | TimeStampToken;
  /** The stamped message, or its SHA-256. A token over another hash can be verified only with the message. */
  readonly stamped: { readonly sha256: Uint8Array } | { readonly message: Uint8Array };
  /** The PKIStatus of the response. Absent for a bare token; the claim about the status is then `unchecked`. */
  readonly status?: number;
  /** The nonce that was sent. When absent, the claim about the nonce is `unchecked`. */
  readonly nonce?: Uint8Array;
  /** Trusted certificates. Without any, the claim about the chain is `unchecked`, or fails because of `at`. */
  readonly anchors: readonly Certificate[];
  /** Certificates for building the chain, in addition to those in the token. */
  readonly intermediates?: readonly Certificate[];
  /**
   * The instant of the verification, epoch ms. If given, the claim about the chain fails when the genTime is more than
   * five minutes later than this instant.
   */
  readonly at?: number;
  readonly crypto: EvidenceCrypto;
}

export interface TimeStampVerification {
  /** True if imprint, content type, digest, signature and signing certificate are valid, and no claim fails. */
  readonly intact: boolean;
  /** True if the token is `intact` and its chain is valid at genTime. The time is then reliable. */
  readonly trusted: boolean;
  readonly claims: readonly Claim<TimeStampClaimName>[];
  readonly genTime: number | null;
  readonly certificate: Certificate | null;
  readonly signingCertificateVersion: 1 | 2 | null;
  /** The reason why the time stamp's algorithms are too weak by now, in words; null otherwise. */
  readonly outdated: string | null;
}

type StampClaim = Claim<TimeStampClaimName>;

const CLOCK_TOLERANCE_MS = 5 * 60_000;
const MUST_HOLD: ReadonlySet<TimeStampClaimName> = new Set([
  "messageImprint",
  "contentType",
  "messageDigest",
  "signature",
  "signingCertificate",
]);

/**
 * Verifies a time-stamp token. An invalid token makes claims fail and throws nothing.
 * @throws EvidenceError only when the token cannot be parsed
 */
export async function verifyTimeStampToken(input: TimeStampInput): Promise<TimeStampVerification> {
  const token = input.token instanceof Uint8Array ? parseTimeStampToken(input.token) : input.token;
  const { tstInfo } = token;
  const signer = await verifySigner(token, input.crypto);
  const claims: StampClaim[] = [
    statusClaim(input.status),
    nonceClaim(input.nonce, tstInfo),
    await messageImprintClaim(input, tstInfo),
    contentTypeClaim(tstInfo, signer),
    fromSigner("messageDigest", signer, ["messageDigest"]),
    fromSigner("signature", signer, ["signerCertificate", "signedAttributes", "algorithms", "signature"]),
    signingCertificateClaim(signer),
    await chainClaim(input, token, signer),
  ];
  const state = (name: TimeStampClaimName): ClaimState | undefined => claims.find((one) => one.name === name)?.state;
  const intact = claims.every(
    (one) => one.state === "holds" || (one.state === "unchecked" && !MUST_HOLD.has(one.name)),
  );
  return {
    intact,
    trusted: intact && state("chain") === "holds",
    claims,
    genTime: tstInfo?.genTime ?? null,
    certificate: signer?.certificate ?? null,
    signingCertificateVersion: signer?.signingCertificateVersion ?? null,
    outdated: signer?.outdated ?? null,
  };
}

/** Verifies the token's signer. Null unless there is exactly one signer, as RFC 3161, section 2.4.2, requires. */
async function verifySigner(token: TimeStampToken, crypto: EvidenceCrypto): Promise<SignerVerification | null> {
  const { signedData } = token;
  const [signerInfo, ...others] = signedData.signerInfos;
  if (signerInfo === undefined || others.length > 0) return null;
  const content = signedData.eContent ?? new Uint8Array(0);
  return verifySignerInfo({
    signedData,
    signerInfo,
    contentDigest: (hash) => crypto.digest(hash, [content]),
    contentType: OID.idCtTSTInfo,
    crypto,
  });
}

function statusClaim(status: number | undefined): StampClaim {
  if (status === undefined) return unchecked("status", "The token came without the response that carried it");
  const granted = status === PKI_STATUS.granted || status === PKI_STATUS.grantedWithMods;
  return claim(
    "status",
    granted,
    "The authority granted the request",
    `The response has status ${status}: not granted`,
  );
}

function nonceClaim(sent: Uint8Array | undefined, tstInfo: TstInfo | null): StampClaim {
  if (sent === undefined) return unchecked("nonce", "The nonce of the request is not known");
  const nonce = tstInfo?.nonce ?? null;
  const holds = nonce !== null && equalBytes(nonce, withoutLeadingZeros(sent));
  return claim(
    "nonce",
    holds,
    "The nonce is the one that was sent",
    "The nonce is missing or not the one that was sent",
  );
}

async function messageImprintClaim(input: TimeStampInput, tstInfo: TstInfo | null): Promise<StampClaim> {
  if (tstInfo === null) return unchecked("messageImprint", "The token holds no TSTInfo");
  const { hashAlgorithm: hash, hashOid, hashedMessage } = tstInfo;
  const fails = (why: string): StampClaim => ({ name: "messageImprint", state: "fails", why });
  if (hash === null) return fails(`The imprint's hash ${hashOid} is not supported`);
  if (hash === "SHA-1") return fails("The imprint is a SHA-1");
  if (hashedMessage.length !== HASH_LENGTH[hash]) return fails("The imprint has the wrong length for its hash");
  if ("sha256" in input.stamped && hash !== "SHA-256")
    return fails(`The imprint is a ${hash}, not the SHA-256 expected`);
  const expected =
    "sha256" in input.stamped ? input.stamped.sha256 : await input.crypto.digest(hash, [input.stamped.message]);
  return claim(
    "messageImprint",
    equalBytes(expected, hashedMessage),
    `The token is over these bytes (${hash})`,
    "The token is over other bytes",
  );
}

function contentTypeClaim(tstInfo: TstInfo | null, signer: SignerVerification | null): StampClaim {
  if (tstInfo === null) return { name: "contentType", state: "fails", why: "The content is not id-ct-TSTInfo" };
  return fromSigner("contentType", signer, ["contentType"]);
}

function signingCertificateClaim(signer: SignerVerification | null): StampClaim {
  const certificate = signer?.certificate;
  if (certificate && !hasOnlyTimeStampingUsage(certificate)) {
    const why = "The certificate's extended key usage is not critical, or not time-stamping alone";
    return { name: "signingCertificate", state: "fails", why };
  }
  return fromSigner("signingCertificate", signer, ["signingCertificate"]);
}

async function chainClaim(
  input: TimeStampInput,
  token: TimeStampToken,
  signer: SignerVerification | null,
): Promise<StampClaim> {
  const { anchors, crypto, at } = input;
  const leaf = signer?.certificate ?? null;
  const genTime = token.tstInfo?.genTime;
  if (genTime !== undefined && at !== undefined && !(genTime <= at + CLOCK_TOLERANCE_MS))
    return { name: "chain", state: "fails", why: "The token's time is later than the instant of the verification" };
  if (anchors.length === 0) return unchecked("chain", "No trusted certificate was given");
  if (leaf === null || genTime === undefined) return unchecked("chain", "There is no certificate or time to check");
  const intermediates = [...token.signedData.certificates, ...(input.intermediates ?? [])];
  const chain = await verifyChain({ leaf, intermediates, anchors, at: genTime, purpose: "timeStamping", crypto });
  return claim(
    "chain",
    chain.valid,
    "The certificate was valid at the token's time, up to a trusted certificate",
    chain.valid ? "" : `No valid chain at the token's time: ${chain.why}`,
  );
}

/**
 * Combines several claims about the signer into one claim about the token. The result is the first claim that fails,
 * else the first that is unchecked, else the last.
 */
function fromSigner(
  name: TimeStampClaimName,
  signer: SignerVerification | null,
  parts: readonly SignerClaimName[],
): StampClaim {
  if (signer === null) return { name, state: "fails", why: "The token does not have exactly one signer" };
  const claims = signer.claims.filter((one) => parts.includes(one.name));
  const decisive =
    claims.find((one) => one.state === "fails") ??
    claims.find((one) => one.state === "unchecked") ??
    claims[claims.length - 1];
  return decisive === undefined ? unchecked(name, "Nothing was checked") : { ...decisive, name };
}

function withoutLeadingZeros(bytes: Uint8Array): Uint8Array {
  let skip = 0;
  while (bytes[skip] === 0) skip++;
  return bytes.subarray(skip);
}

function unchecked(name: TimeStampClaimName, why: string): StampClaim {
  return { name, state: "unchecked", why };
}

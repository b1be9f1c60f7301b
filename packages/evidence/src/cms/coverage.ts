import { childrenOf, constructedTag, type DerNode, rawOf, readDer, TAG } from "../asn1/der.ts";
import { OID } from "../asn1/oid.ts";
import { equalBytes } from "../bytes.ts";
import type { EvidenceCrypto } from "../crypto-port.ts";
import type { Certificate } from "../x509/certificate.ts";
import type { SignedData, SignerInfo } from "./signed-data.ts";

const NULL_PARAMETERS = Uint8Array.of(TAG.null, 0);

/**
 * Finds a part of a CMS that somebody could change unnoticed, because the signature does not cover it: digest
 * algorithms, versions, revocation lists, unsigned attributes, and certificates outside the signer's chain.
 *
 * @param der the ContentInfo that `signedData` was read from
 * @param signerInfo the only signer of `signedData`
 * @param anchors trusted certificates; one of them may have issued the last included certificate of the signer's chain
 * @returns a noun phrase that describes the uncovered part; null when there is none
 */
export async function uncoveredPart(
  der: Uint8Array,
  signedData: SignedData,
  signerInfo: SignerInfo,
  anchors: readonly Certificate[],
  crypto: EvidenceCrypto,
): Promise<string | null> {
  const content = child(child(readDer(der), 1), 0);
  const [, digests, , ...more] = content === undefined ? [] : childrenOf(content);
  const certificates = more.find(({ tag }) => tag === constructedTag(0));
  if (more.some(({ tag }) => tag === constructedTag(1))) return "revocation lists";
  if (certificates !== undefined && childrenOf(certificates).some(({ tag }) => tag !== TAG.sequence)) {
    return "certificates of another kind";
  }
  const digest = child(digests, 0);
  const parameters = child(digest, 1);
  if (signedData.digestOids.length !== 1 || signedData.digestOids[0] !== signerInfo.digestOid) {
    return "digest algorithms that it does not use";
  }
  if (parameters !== undefined && !equalBytes(rawOf(parameters), NULL_PARAMETERS)) return "odd digest parameters";
  // The version numbers that RFC 5652 requires (sections 5.1 and 5.3).
  const signerVersion = signerInfo.sid.kind === "issuerAndSerialNumber" ? 1 : 3;
  const version = signerVersion === 3 || signedData.eContentType !== OID.idData ? 3 : 1;
  if (signerInfo.version !== signerVersion || signedData.version !== version) return "a version that is not its own";
  if (signerInfo.unsignedAttrs.some(({ type, values }) => type !== OID.idAaTimeStampToken || values.length !== 1)) {
    return "unsigned attributes other than time stamps";
  }
  return looseCertificate(signedData, signerInfo, anchors, crypto);
}

function child(node: DerNode | undefined, index: number): DerNode | undefined {
  return node === undefined ? undefined : childrenOf(node)[index];
}

/**
 * The most candidates for issuers that one call tries. Without a limit, many certificates with the same name would each
 * cost a verification.
 */
const MAX_TRIES = 16;

/**
 * Describes the included certificates that no signature covers; null when there are none. The signed attributes cover
 * the signer's own certificate. Each other certificate must have signed the one before it in the chain.
 */
async function looseCertificate(
  { certificates }: SignedData,
  { sid }: SignerInfo,
  anchors: readonly Certificate[],
  crypto: EvidenceCrypto,
): Promise<string | null> {
  const signer = certificates.find((one) =>
    sid.kind === "issuerAndSerialNumber"
      ? equalBytes(one.serialNumber, sid.serialNumber) && equalBytes(one.issuer, sid.issuer)
      : one.subjectKeyIdentifier !== null && equalBytes(one.subjectKeyIdentifier, sid.keyIdentifier),
  );
  const waiting = new Set(certificates);
  let last = signer;
  let tries = 0;
  for (let next = signer; next !== undefined; ) {
    last = next;
    waiting.delete(last);
    const { issuer, subject } = last;
    // A self-issued certificate ends the chain. Another included certificate with the same name is not part of the
    // chain: anybody could have added it.
    const issuers = equalBytes(issuer, subject) ? [] : [...waiting].filter((one) => equalBytes(one.subject, issuer));
    next = undefined;
    for (const one of issuers) {
      if (++tries > MAX_TRIES) return "too many certificates of one name";
      if (next === undefined && (await hasSigned(one, last, crypto))) next = one;
    }
  }
  if (waiting.size > 0) return "certificates that it does not use";
  if (last === undefined || last === signer) return null;
  return (await isVouchedFor(last, anchors, crypto)) ? null : "a certificate with a wrong signature";
}

/**
 * True if the last certificate of the chain is an anchor, or is signed by an anchor or by its own key. Also true if its
 * issuer's certificate is missing, because `verifyChain` handles that case.
 */
async function isVouchedFor(
  one: Certificate,
  anchors: readonly Certificate[],
  crypto: EvidenceCrypto,
): Promise<boolean> {
  if (anchors.some(({ der }) => equalBytes(der, one.der))) return true;
  const issuers = [one, ...anchors].filter(({ subject }) => equalBytes(subject, one.issuer));
  if (issuers.length === 0) return true;
  for (const issuer of issuers) if (await hasSigned(issuer, one, crypto)) return true;
  return false;
}

async function hasSigned({ spki }: Certificate, one: Certificate, crypto: EvidenceCrypto): Promise<boolean> {
  const { signatureAlgorithm: algorithm, signature, tbsCertificate: data } = one;
  return algorithm !== null && crypto.verify({ spki, algorithm, signature, data });
}

import { childrenOf, constructedTag, type DerNode, rawOf, readDer, TAG } from "../asn1/der.ts";
import { OID } from "../asn1/oid.ts";
import { equalBytes } from "../bytes.ts";
import type { EvidenceCrypto } from "../crypto-port.ts";
import type { Certificate } from "../x509/certificate.ts";
import type { SignedData, SignerInfo } from "./signed-data.ts";

const NULL_PARAMETERS = Uint8Array.of(TAG.null, 0);

/**
 * A CMS has parts that its signature does not cover. This finds what could be changed there unnoticed: digest
 * algorithms, versions, revocation lists, unsigned attributes, and certificates that neither lead from the signer
 * upwards nor bear a good signature. A certificate whose issuer is not at hand passes: `verifyChain` judges it.
 *
 * @param der the ContentInfo that `signedData` was read from
 * @param signerInfo its only signer
 * @param anchors trusted certificates, which may vouch for included ones
 * @returns what is loose, in words that follow "holds"; null for nothing
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
  // RFC 5652, sections 5.1 and 5.3.
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
  // The signed attributes vouch for the signer's own certificate; each next one must be the issuer of the last.
  for (let last = signer; last !== undefined; ) {
    waiting.delete(last);
    const { issuer } = last;
    last = [...waiting].find(({ subject }) => equalBytes(subject, issuer));
    if (last !== undefined && !(await isVouchedFor(last, certificates, anchors, crypto))) {
      return "a certificate with a wrong signature";
    }
  }
  return waiting.size === 0 ? null : "certificates that it does not use";
}

async function isVouchedFor(
  one: Certificate,
  included: readonly Certificate[],
  anchors: readonly Certificate[],
  crypto: EvidenceCrypto,
): Promise<boolean> {
  if (anchors.some(({ der }) => equalBytes(der, one.der))) return true;
  const issuers = [...included, ...anchors].filter(({ subject }) => equalBytes(subject, one.issuer));
  if (issuers.length === 0) return true;
  const { signatureAlgorithm: algorithm, signature, tbsCertificate: data } = one;
  if (algorithm === null) return false;
  for (const { spki } of issuers) if (await crypto.verify({ spki, algorithm, signature, data })) return true;
  return false;
}

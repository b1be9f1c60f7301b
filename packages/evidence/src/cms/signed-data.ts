import {
  constructedTag,
  type DerNode,
  onlyChildOf,
  primitiveTag,
  rawOf,
  readDer,
  readDerPrefix,
  TAG,
} from "../asn1/der.ts";
import { OID } from "../asn1/oid.ts";
import { fieldsOf, membersOf, readInteger, readOctetString, readOid, readSmallInteger } from "../asn1/values.ts";
import type { HashName, SignatureScheme } from "../crypto-port.ts";
import { EvidenceError } from "../errors.ts";
import { type AlgorithmIdentifier, hashOf, readAlgorithm, signatureSchemeOf } from "../x509/algorithms.ts";
import { type Certificate, readCertificate } from "../x509/certificate.ts";

/** One attribute: its type, and the whole DER of each of its values. */
export interface Attribute {
  readonly type: string;
  readonly values: readonly Uint8Array[];
}

export type SignerIdentifier =
  | { readonly kind: "issuerAndSerialNumber"; readonly issuer: Uint8Array; readonly serialNumber: Uint8Array }
  | { readonly kind: "subjectKeyIdentifier"; readonly keyIdentifier: Uint8Array };

/** One signer's part of a SignedData (RFC 5652, section 5.3). */
export interface SignerInfo {
  readonly version: number;
  readonly sid: SignerIdentifier;
  /** The hash algorithm; null when it is not supported. `digestOid` identifies it in any case. */
  readonly digestAlgorithm: HashName | null;
  readonly digestOid: string;
  readonly signedAttrs: readonly Attribute[] | null;
  /** The signed attributes re-tagged as SET OF: the bytes that the signature covers (RFC 5652, section 5.4). */
  readonly signedAttrsDer: Uint8Array | null;
  /** The signature algorithm; null when it is not supported. `signatureOid` identifies it in any case. */
  readonly signatureAlgorithm: SignatureScheme | null;
  readonly signatureOid: string;
  readonly signature: Uint8Array;
  readonly unsignedAttrs: readonly Attribute[];
}

/** A parsed SignedData (RFC 5652, section 5.1). Byte fields are views of the input. */
export interface SignedData {
  readonly version: number;
  readonly digestOids: readonly string[];
  readonly eContentType: string;
  /** Content octets of the encapsulated content; null when detached. */
  readonly eContent: Uint8Array | null;
  readonly certificates: readonly Certificate[];
  readonly signerInfos: readonly SignerInfo[];
  /**
   * Length of the ContentInfo in bytes. In a padded /Contents, the bytes after the ContentInfo are not part of the
   * signature.
   */
  readonly encodedLength: number;
}

const MAX_CERTIFICATES = 64;
const MAX_SIGNERS = 32;
const MAX_ATTRIBUTES = 64;

/**
 * Parses a ContentInfo that contains SignedData.
 * @param bytes DER; with `trailing: "zeros"` (a PDF's padded /Contents) only zero bytes may follow.
 * @throws EvidenceError `cms`, `der`, `x509`, `limit`; `unsupported` for indefinite lengths (BER) or tags over 30.
 */
export function parseSignedData(bytes: Uint8Array, options?: { readonly trailing?: "none" | "zeros" }): SignedData {
  const node = options?.trailing === "zeros" ? readPadded(bytes) : readDer(bytes);
  const contentInfo = fieldsOf(node, "cms");
  if (readOid(contentInfo.next("contentType")) !== OID.idSignedData)
    throw new EvidenceError("cms", "The content is not SignedData");
  const signedData = fieldsOf(onlyChildOf(contentInfo.next("content", constructedTag(0))), "cms");
  contentInfo.end();

  const version = readSmallInteger(signedData.next("version"));
  const digests = membersOf(signedData.next("digestAlgorithms"), "cms", TAG.set);
  const encapsulated = fieldsOf(signedData.next("encapContentInfo"), "cms");
  const eContentType = readOid(encapsulated.next("eContentType"));
  const content = encapsulated.optional(constructedTag(0));
  encapsulated.end();
  const certificates = signedData.optional(constructedTag(0));
  signedData.optional(constructedTag(1));
  const signers = membersOf(signedData.next("signerInfos"), "cms", TAG.set);
  signedData.end();
  if (signers.length > MAX_SIGNERS) throw new EvidenceError("limit", "There are too many signers");
  return {
    version,
    digestOids: digests.map((digest) => readAlgorithm(digest).oid),
    eContentType,
    eContent: content === undefined ? null : readOctetString(onlyChildOf(content)),
    certificates: certificates === undefined ? [] : readCertificates(certificates),
    signerInfos: signers.map(readSignerInfo),
    encodedLength: node.end,
  };
}

/** The values of all attributes of one type. */
export function attributeValues(attributes: readonly Attribute[], type: string): Uint8Array[] {
  return attributes.filter((attribute) => attribute.type === type).flatMap((attribute) => [...attribute.values]);
}

/** DER of the signature time-stamp tokens among the unsigned attributes (RFC 3161, appendix A). */
export function signatureTimeStampTokens(signerInfo: SignerInfo): Uint8Array[] {
  return attributeValues(signerInfo.unsignedAttrs, OID.idAaTimeStampToken);
}

function readPadded(bytes: Uint8Array): DerNode {
  const node = readDerPrefix(bytes);
  for (let at = node.end; at < bytes.length; at++)
    if (bytes[at] !== 0) throw new EvidenceError("cms", "Bytes other than zeros follow the signature");
  return node;
}

function readCertificates(node: DerNode): Certificate[] {
  const members = membersOf(node, "cms", constructedTag(0));
  if (members.length > MAX_CERTIFICATES) throw new EvidenceError("limit", "There are too many certificates");
  // Skips other kinds of certificates (attribute certificates, obsolete forms), which have context tags. No
  // verification uses them.
  return members.filter((member) => member.tag === TAG.sequence).map(readCertificate);
}

function readSignerInfo(node: DerNode): SignerInfo {
  const fields = fieldsOf(node, "cms");
  const version = readSmallInteger(fields.next("version"));
  const sid = readSignerIdentifier(fields.next("sid"));
  const digest: AlgorithmIdentifier = readAlgorithm(fields.next("digestAlgorithm"));
  const signed = fields.optional(constructedTag(0));
  const algorithm = readAlgorithm(fields.next("signatureAlgorithm"));
  const signature = readOctetString(fields.next("signature"));
  const unsigned = fields.optional(constructedTag(1));
  fields.end();
  const digestAlgorithm = hashOf(digest);
  return {
    version,
    sid,
    digestAlgorithm,
    digestOid: digest.oid,
    signedAttrs: signed === undefined ? null : readAttributes(signed),
    signedAttrsDer: signed === undefined ? null : retagged(signed),
    signatureAlgorithm: signatureSchemeOf(algorithm, digestAlgorithm),
    signatureOid: algorithm.oid,
    signature,
    unsignedAttrs: unsigned === undefined ? [] : readAttributes(unsigned),
  };
}

function readSignerIdentifier(node: DerNode): SignerIdentifier {
  if (node.tag === primitiveTag(0))
    return { kind: "subjectKeyIdentifier", keyIdentifier: readOctetString(node, primitiveTag(0)) };
  const fields = fieldsOf(node, "cms");
  const issuer = rawOf(fields.next("issuer", TAG.sequence));
  const serialNumber = readInteger(fields.next("serialNumber"));
  fields.end();
  return { kind: "issuerAndSerialNumber", issuer, serialNumber };
}

function readAttributes(node: DerNode): Attribute[] {
  const members = membersOf(node, "cms", node.tag);
  if (members.length > MAX_ATTRIBUTES) throw new EvidenceError("limit", "There are too many attributes");
  return members.map((member) => {
    const fields = fieldsOf(member, "cms");
    const type = readOid(fields.next("attrType"));
    const values = membersOf(fields.next("attrValues"), "cms", TAG.set).map(rawOf);
    fields.end();
    return { type, values };
  });
}

function retagged(node: DerNode): Uint8Array {
  const copy = Uint8Array.from(rawOf(node));
  copy[0] = TAG.set;
  return copy;
}

import { createHash, hash } from "node:crypto";
import {
  type DerValue,
  encode,
  explicit,
  implicit,
  integer,
  OID,
  octetString,
  oid,
  primitive,
  raw,
  sequence,
  set,
  setOf,
  TAG,
} from "@signsealship/evidence/asn1";
import { concatBytes } from "@signsealship/evidence/bytes";
import type { Certificate } from "@signsealship/evidence/x509";
import { signatureAlgorithm } from "../algorithms.ts";

/** The chain of the certificate that signs. The signer's own certificate comes first. */
export type SignerChain = readonly [Certificate, ...Certificate[]];

/**
 * The place of a seal in a file, and the digest of the bytes that the seal covers. The signature value is written into
 * the gap between those bytes.
 */
export type SealPlace = {
  /** SHA-256 of the detached content, 32 bytes. */
  readonly messageDigest: Uint8Array;
  readonly byteRange: readonly [0, number, number, number];
  readonly originalLength: number;
};

/** A writer of detached SignedData for one chain. */
export type SignedDataWriter = {
  /** DER of the SET OF signed attributes: the bytes that are signed (RFC 5652, section 5.4). */
  readonly signedAttributes: (place: SealPlace) => Uint8Array<ArrayBuffer>;
  /**
   * DER of the ContentInfo: PAdES B-B without a token, and B-T with one. The token (a ContentInfo in DER) becomes the
   * signature-time-stamp attribute (ETSI EN 319 122-1, section 5.3).
   */
  readonly cms: (signedAttrs: Uint8Array, signature: Uint8Array, token?: Uint8Array) => Uint8Array<ArrayBuffer>;
  /** The largest length of a CMS with a token of this length, or without a token. */
  readonly maxLength: (tokenLength?: number) => number;
};

/** The largest file offset that a seal can state. No file that is sealed has so many bytes. */
const MAX_OFFSET = 2 ** 31 - 1;

/**
 * A writer of detached SignedData (RFC 5652) for PAdES baseline. It signs four attributes: content type, message
 * digest, signing-certificate-v2 (RFC 5035), and the seal's place in the file. The signing time is absent, because the
 * baseline forbids it. Parts that depend only on the chain are encoded once.
 */
export function signedDataWriter(chain: SignerChain): SignedDataWriter {
  const [leaf] = chain;
  const attributes = attributesUnder(chain);
  const sha256 = sequence(oid(OID.sha256));
  const head = encodedOnce(
    integer(1),
    set(sha256),
    sequence(oid(OID.idData)),
    implicit(0, setOf(chain.map((certificate) => raw(certificate.der)))),
  );
  const signerHead = encodedOnce(integer(1), sequence(raw(leaf.issuer), serialNumberOf(leaf)), sha256);
  const algorithm = encodedOnce(signatureAlgorithm(isRsa(leaf) ? "rsa-pkcs1-sha256" : "ecdsa-p256-sha256"));
  const signedDataType = encodedOnce(oid(OID.idSignedData));

  const cms: SignedDataWriter["cms"] = (signedAttrs, signature, token) => {
    // The signature covers the attributes as a SET OF. The CMS contains them with the tag [0] IMPLICIT instead (RFC
    // 5652, section 5.4).
    const embedded = Uint8Array.from(signedAttrs);
    embedded[0] = 0xa0;
    const unsigned =
      token === undefined ? [] : [implicit(1, set(sequence(oid(OID.idAaTimeStampToken), set(raw(token)))))];
    const signerInfo = sequence(signerHead, raw(embedded), algorithm, octetString(signature), ...unsigned);
    return encode(sequence(signedDataType, explicit(0, sequence(head, set(signerInfo)))));
  };
  return {
    signedAttributes: attributes,
    cms,
    maxLength(tokenLength) {
      const token = tokenLength === undefined ? undefined : new Uint8Array(tokenLength);
      return cms(attributes(FURTHEST), new Uint8Array(maxSignatureLength(leaf)), token).length;
    },
  };
}

/** A `SealPlace` with the largest offsets that a seal can state, to calculate the maximum length of its CMS. */
const FURTHEST: SealPlace = {
  messageDigest: new Uint8Array(32),
  byteRange: [0, MAX_OFFSET, MAX_OFFSET, MAX_OFFSET],
  originalLength: MAX_OFFSET,
};

/**
 * Returns a writer of the SET OF signed attributes. Between seals, only the digest and the offsets in the file differ.
 */
function attributesUnder(chain: SignerChain): SignedDataWriter["signedAttributes"] {
  const [leaf] = chain;
  const certHash = hash("sha256", leaf.der, "buffer");
  const issuerSerial = sequence(sequence(explicit(4, raw(leaf.issuer))), serialNumberOf(leaf));
  const contentType = encodedOnce(sequence(oid(OID.idContentType), set(oid(OID.idData))));
  // ESSCertIDv2 has SHA-256 as its default hash algorithm. DER omits a default, so the algorithm is absent here.
  const essCertId = sequence(octetString(certHash), issuerSerial);
  const signingCertificate = encodedOnce(
    sequence(oid(OID.idAaSigningCertificateV2), set(sequence(sequence(essCertId)))),
  );
  const messageDigestType = encodedOnce(oid(OID.idMessageDigest));
  const statementType = encodedOnce(oid(OID.sealStatement));
  const certificates = encodedOnce(octetString(certificatesDigest(chain)));
  return ({ messageDigest, byteRange, originalLength }) => {
    if (messageDigest.length !== 32) throw new RangeError("a message digest is 32 bytes of SHA-256");
    const ranges = sequence(...byteRange.map((number) => integer(number)));
    const statement = sequence(integer(1), ranges, integer(originalLength), certificates);
    return encode(
      setOf([
        contentType,
        sequence(messageDigestType, set(octetString(messageDigest))),
        sequence(statementType, set(statement)),
        signingCertificate,
      ]),
    );
  };
}

/** SHA-256 over all certificates of the chain in the order of the CMS, which sorts them as a DER SET OF. */
function certificatesDigest(chain: readonly Certificate[]): Uint8Array {
  const hash = createHash("sha256");
  for (const der of chain.map((certificate) => Buffer.from(certificate.der)).sort(Buffer.compare)) hash.update(der);
  return hash.digest();
}

/** Encodes several values in advance. Each seal then only copies the bytes. */
function encodedOnce(...values: readonly DerValue[]): DerValue {
  return raw(concatBytes(values.map(encode)));
}

function serialNumberOf(certificate: Certificate): DerValue {
  return primitive(TAG.integer, certificate.serialNumber);
}

/** An RSA signature is as long as the modulus. For ECDSA on P-256, r and s have at most 33 octets each. */
function maxSignatureLength({ publicKey }: Certificate): number {
  return publicKey.type === "rsa" ? Math.ceil(publicKey.bits / 8) : 2 + 2 * (2 + 33);
}

const isRsa = ({ publicKey }: Certificate): boolean => publicKey.type === "rsa";

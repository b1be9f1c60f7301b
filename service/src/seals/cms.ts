import { createHash } from "node:crypto";
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
import { signatureAlgorithm } from "./algorithms.ts";
import type { SealKey } from "./keys/seal-key.ts";

/** A signature whose CMS can be written out, at first without and then with a time-stamp token. */
export type SealSignature = {
  /** SignerInfo.signature: what a time-stamping authority is asked to stamp. */
  readonly signature: Uint8Array;
  /**
   * DER of the ContentInfo: PAdES B-B, or B-T with the token (a ContentInfo in DER) as the signature-time-stamp
   * attribute (ETSI EN 319 122-1, section 5.3).
   */
  readonly cms: (timeStampToken?: Uint8Array) => Uint8Array<ArrayBuffer>;
};

/** Signs digests of documents with one key under one chain. */
export type CmsSigner = {
  /** Signs a SHA-256 digest (32 bytes) of the detached content. @throws {SealKeyError} */
  readonly sign: (messageDigest: Uint8Array) => Promise<SealSignature>;
  /** The most bytes that a CMS with a token of so many bytes can take; none without a token. */
  readonly maxLength: (timeStampTokenLength?: number) => number;
};

/**
 * A signer of detached SignedData (RFC 5652) for PAdES baseline: signed are the content type, the message digest and
 * signing-certificate-v2 (RFC 5035), and no signing-time, which the baseline forbids. Whatever the key and its chain
 * decide is encoded here, once.
 * @param input `chain` the seal's own certificate first
 */
export function createCmsSigner(input: {
  readonly key: SealKey;
  readonly chain: readonly [Certificate, ...Certificate[]];
}): CmsSigner {
  const { key, chain } = input;
  const [leaf] = chain;
  const attributes = signedAttributes(leaf);
  const sha256 = sequence(oid(OID.sha256));
  const head = encodedOnce(
    integer(1),
    set(sha256),
    sequence(oid(OID.idData)),
    implicit(0, setOf(chain.map((certificate) => raw(certificate.der)))),
  );
  const signerHead = encodedOnce(integer(1), sequence(raw(leaf.issuer), serialNumberOf(leaf)), sha256);
  const algorithm = encodedOnce(signatureAlgorithm(key.algorithm));
  const signedDataType = encodedOnce(oid(OID.idSignedData));

  const write = (signedAttrs: Uint8Array, signature: Uint8Array, token: Uint8Array | undefined) => {
    const unsigned =
      token === undefined ? [] : [implicit(1, set(sequence(oid(OID.idAaTimeStampToken), set(raw(token)))))];
    const signerInfo = sequence(signerHead, raw(signedAttrs), algorithm, octetString(signature), ...unsigned);
    return encode(sequence(signedDataType, explicit(0, sequence(head, set(signerInfo)))));
  };

  return {
    sign: async (messageDigest) => {
      const signedAttrs = attributes.withDigest(messageDigest);
      const signature = await key.sign(signedAttrs);
      // Signed as SET OF, embedded as [0] IMPLICIT (RFC 5652, section 5.4).
      signedAttrs[0] = 0xa0;
      return { signature, cms: (timeStampToken) => write(signedAttrs, signature, timeStampToken) };
    },
    maxLength: (tokenLength) => {
      const signature = new Uint8Array(maxSignatureLength(key, leaf));
      const token = tokenLength === undefined ? undefined : new Uint8Array(tokenLength);
      return write(attributes.withDigest(new Uint8Array(32)), signature, token).length;
    },
  };
}

/** The SET OF signed attributes, encoded once: only the 32 bytes of the digest differ from seal to seal. */
function signedAttributes(leaf: Certificate) {
  const certHash = createHash("sha256").update(leaf.der).digest();
  const issuerSerial = sequence(sequence(explicit(4, raw(leaf.issuer))), serialNumberOf(leaf));
  // The hash of ESSCertIDv2 is SHA-256 by default, and DER leaves a default out.
  const signingCertificate = sequence(sequence(sequence(octetString(certHash), issuerSerial)));
  const messageDigest = sequence(oid(OID.idMessageDigest), set(octetString(new Uint8Array(32))));
  const template = Buffer.from(
    encode(
      setOf([
        sequence(oid(OID.idContentType), set(oid(OID.idData))),
        messageDigest,
        sequence(oid(OID.idAaSigningCertificateV2), set(signingCertificate)),
      ]),
    ),
  );
  // Members are sorted by their encodings; these three differ in their lengths, before the digest could matter.
  const attribute = encode(messageDigest);
  const digestStart = template.indexOf(attribute) + attribute.length - 32;
  return {
    withDigest: (digest: Uint8Array): Uint8Array => {
      if (digest.length !== 32) throw new RangeError("a message digest is 32 bytes of SHA-256");
      const copy = Uint8Array.from(template);
      copy.set(digest, digestStart);
      return copy;
    },
  };
}

/** Values one after the other, as one that is only copied from now on. */
function encodedOnce(...values: readonly DerValue[]): DerValue {
  return raw(concatBytes(values.map(encode)));
}

function serialNumberOf(certificate: Certificate): DerValue {
  return primitive(TAG.integer, certificate.serialNumber);
}

/** RSA signatures are as long as the modulus; of ECDSA on P-256, r and s take 33 octets each at most. */
function maxSignatureLength(key: SealKey, leaf: Certificate): number {
  if (key.algorithm === "ecdsa-p256-sha256") return 2 + 2 * (2 + 33);
  return leaf.publicKey.type === "rsa" ? Math.ceil(leaf.publicKey.bits / 8) : 0;
}

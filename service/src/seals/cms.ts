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
import { withLowS } from "./keys/ecdsa-sig-value.ts";
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

/** Far past the largest file that is sealed. */
const MAX_OFFSET = 2 ** 31 - 1;

/** What a seal signs: the digest of the covered bytes, and where in its file they and their gap are. */
export type SealPlace = {
  /** SHA-256 of the detached content, 32 bytes. */
  readonly messageDigest: Uint8Array;
  readonly byteRange: readonly [0, number, number, number];
  readonly originalLength: number;
};

/** Signs the places of seals with one key under one chain. */
export type CmsSigner = {
  /** @throws {SealKeyError} */
  readonly sign: (place: SealPlace) => Promise<SealSignature>;
  /** The most bytes that a CMS with a token of so many bytes can take; none without a token. */
  readonly maxLength: (timeStampTokenLength?: number) => number;
};

/**
 * A signer of detached SignedData (RFC 5652) for PAdES baseline: signed are the content type, the message digest,
 * signing-certificate-v2 (RFC 5035) and the seal's statement of its own place, and no signing-time, which the baseline
 * forbids. Whatever the key and its chain decide is encoded here, once.
 * @param input `chain` the seal's own certificate first
 */
export function createCmsSigner(input: {
  readonly key: SealKey;
  readonly chain: readonly [Certificate, ...Certificate[]];
}): CmsSigner {
  const { key, chain } = input;
  const [leaf] = chain;
  const attributes = signedAttributes(chain);
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
    sign: async (place) => {
      const signedAttrs = attributes(place);
      const given = await key.sign(signedAttrs);
      const signature = key.algorithm === "ecdsa-p256-sha256" ? withLowS(given) : given;
      // Signed as SET OF, embedded as [0] IMPLICIT (RFC 5652, section 5.4).
      signedAttrs[0] = 0xa0;
      return { signature, cms: (timeStampToken) => write(signedAttrs, signature, timeStampToken) };
    },
    maxLength: (tokenLength) => {
      const signature = new Uint8Array(maxSignatureLength(key, leaf));
      const token = tokenLength === undefined ? undefined : new Uint8Array(tokenLength);
      return write(attributes(FURTHEST), signature, token).length;
    },
  };
}

/** No number of a seal takes more octets than these. */
const FURTHEST: SealPlace = {
  messageDigest: new Uint8Array(32),
  byteRange: [0, MAX_OFFSET, MAX_OFFSET, MAX_OFFSET],
  originalLength: MAX_OFFSET,
};

/** The SET OF signed attributes: only the digest and the numbers differ from seal to seal. */
function signedAttributes(chain: readonly [Certificate, ...Certificate[]]): (place: SealPlace) => Uint8Array {
  const [leaf] = chain;
  const certHash = createHash("sha256").update(leaf.der).digest();
  const issuerSerial = sequence(sequence(explicit(4, raw(leaf.issuer))), serialNumberOf(leaf));
  const contentType = encodedOnce(sequence(oid(OID.idContentType), set(oid(OID.idData))));
  // The hash of ESSCertIDv2 is SHA-256 by default, and DER leaves a default out.
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

/** SHA-256 of the certificates as they stand in the CMS: in the order of a DER SET OF. */
function certificatesDigest(chain: readonly Certificate[]): Uint8Array {
  const hash = createHash("sha256");
  for (const der of chain.map((certificate) => Buffer.from(certificate.der)).sort(Buffer.compare)) hash.update(der);
  return hash.digest();
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

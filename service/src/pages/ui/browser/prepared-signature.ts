import { childrenOf, OID, onlyChildOf, readDer, readOctetString, readOid } from "@signsealship/evidence/asn1";
import { concatBytes, equalBytes } from "@signsealship/evidence/bytes";
import { sha256 } from "./bytes.ts";

/** A signature that the service prepared, so that this browser can sign it. */
export type PreparedSignature = {
  /** The bytes that the signing appends to the displayed document. */
  readonly tail: Uint8Array;
  /** The position of the signature value in the tail. */
  readonly contentsStart: number;
  readonly contentsEnd: number;
  /** DER of the SET OF signed attributes (RFC 5652, section 5.4). */
  readonly signedAttrs: Uint8Array;
};

/**
 * True if the signed attributes contain the digest of the displayed document plus the tail, without the space for the
 * signature value, and that space is empty.
 * @throws EvidenceError when the signed attributes are unreadable
 */
export async function coversRevision(
  document: Uint8Array,
  { tail, contentsStart, contentsEnd, signedAttrs }: PreparedSignature,
): Promise<boolean> {
  if (contentsStart < 0 || contentsEnd < contentsStart || contentsEnd > tail.length) return false;
  // The space for the signature, between `<` and `>`, must still be empty. The signature does not cover these bytes, so
  // they could hide other content.
  const gap = tail.subarray(contentsStart, contentsEnd);
  if (!/^<0*>$/.test(new TextDecoder("latin1").decode(gap))) return false;
  const signed = concatBytes([document, tail.subarray(0, contentsStart), tail.subarray(contentsEnd)]);
  return equalBytes(messageDigestOf(signedAttrs), await sha256(signed));
}

/** The message digest in signed attributes; empty if they contain none or more than one. */
function messageDigestOf(signedAttrs: Uint8Array): Uint8Array {
  const digests = childrenOf(readDer(signedAttrs)).flatMap((attribute) => {
    const [type, values] = childrenOf(attribute);
    return type && values && readOid(type) === OID.idMessageDigest ? [readOctetString(onlyChildOf(values))] : [];
  });
  const [digest, another] = digests;
  return digest && !another ? digest : new Uint8Array(0);
}

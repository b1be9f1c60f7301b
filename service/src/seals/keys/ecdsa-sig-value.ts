import { encode, integer, sequence } from "@signsealship/evidence/asn1";

/** ECDSA-Sig-Value in DER (RFC 3279 section 2.2.3) of a raw signature: r and s, big-endian, of equal length. */
export function ecdsaSigValue(raw: Uint8Array): Uint8Array {
  const half = raw.length / 2;
  return encode(sequence(integer(raw.subarray(0, half)), integer(raw.subarray(half))));
}

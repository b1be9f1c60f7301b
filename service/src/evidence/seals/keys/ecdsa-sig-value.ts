import { contentOf, encode, fieldsOf, integer, readDer, sequence } from "@signsealship/evidence/asn1";
import { SealKeyError } from "./seal-key.ts";

/** The order of P-256 (SEC 2, section 2.4.2). */
const ORDER = 0xffffffff_00000000_ffffffff_ffffffff_bce6faad_a7179e84_f3b9cac2_fc632551n;

/** ECDSA-Sig-Value in DER (RFC 3279 section 2.2.3) of a raw signature: r and s, big-endian, of equal length. */
export function ecdsaSigValue(raw: Uint8Array): Uint8Array {
  const half = raw.length / 2;
  return encode(sequence(integer(raw.subarray(0, half)), integer(raw.subarray(half))));
}

/**
 * Replaces s by n - s in a P-256 ECDSA-Sig-Value when n - s is lower. Both (r, s) and (r, n - s) verify. A seal must
 * have only one of the two forms, whatever kind of key signed it.
 * @throws {SealKeyError} `refused` when it is not an ECDSA-Sig-Value in DER
 */
export function withLowS(signature: Uint8Array): Uint8Array {
  const [r, s] = pairOf(signature);
  const value = BigInt(`0x${Buffer.from(s).toString("hex")}`);
  return value > ORDER / 2n ? encode(sequence(integer(r), integer(ORDER - value))) : signature;
}

function pairOf(signature: Uint8Array): readonly [Uint8Array, Uint8Array] {
  try {
    const fields = fieldsOf(readDer(signature), "cms");
    const pair = [contentOf(fields.next("r")), contentOf(fields.next("s"))] as const;
    fields.end();
    if (pair.some(({ length }) => length === 0)) throw new RangeError("a number without octets");
    return pair;
  } catch (cause) {
    throw new SealKeyError("refused", "the key's answer is not an ECDSA signature", cause);
  }
}

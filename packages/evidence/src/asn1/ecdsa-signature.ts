import { EvidenceError } from "../errors.ts";
import { readDer } from "./der.ts";
import { fieldsOf, readInteger, unsignedOf } from "./values.ts";

/**
 * Converts an ECDSA signature from its DER pair (RFC 3279, section 2.2.3) to r followed by s, as Web Crypto takes it.
 * @param length octets of each: those of the curve's order.
 * @throws EvidenceError `der` or `x509` when malformed, negative or too long for the curve.
 */
export function ecdsaSignatureToRaw(signature: Uint8Array, length: number): Uint8Array<ArrayBuffer> {
  const fields = fieldsOf(readDer(signature), "x509");
  const r = unsignedOf(readInteger(fields.next("r")));
  const s = unsignedOf(readInteger(fields.next("s")));
  fields.end();
  if (r.length > length || s.length > length) throw new EvidenceError("x509", "A signature is too long for its curve");
  const out = new Uint8Array(2 * length);
  out.set(r, length - r.length);
  out.set(s, 2 * length - s.length);
  return out;
}

import { type DerValue, nullValue, OID, oid, sequence } from "@signsealship/evidence/asn1";
import type { SealAlgorithm } from "./keys/seal-key.ts";

/** The AlgorithmIdentifier of a seal's signature: RSA with NULL (RFC 5754, section 3.2), ECDSA without parameters. */
export function signatureAlgorithm(algorithm: SealAlgorithm): DerValue {
  return algorithm === "rsa-pkcs1-sha256"
    ? sequence(oid(OID.sha256WithRsa), nullValue)
    : sequence(oid(OID.ecdsaWithSha256));
}

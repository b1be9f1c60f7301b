import { createPublicKey } from "node:crypto";
import { invalid } from "../../platform/errors.ts";

/** SubjectPublicKeyInfo of P-256 with an uncompressed point. */
const spkiBytes = 91;

/** @throws ServiceError for anything but the SubjectPublicKeyInfo of a P-256 key, DER */
export function requireP256(spki: Uint8Array): void {
  const refusal = invalid("publicKey must be the SubjectPublicKeyInfo of a P-256 key.");
  if (spki.length !== spkiBytes) throw refusal;
  try {
    const key = createPublicKey({ key: Buffer.from(spki), format: "der", type: "spki" });
    if (key.asymmetricKeyDetails?.namedCurve === "prime256v1") return;
  } catch {
    throw refusal;
  }
  throw refusal;
}

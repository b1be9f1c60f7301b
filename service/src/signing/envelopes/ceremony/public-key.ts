import { createPublicKey } from "node:crypto";
import { invalid } from "../../../kernel/platform/errors.ts";

/** The beginning of a SubjectPublicKeyInfo of P-256 with an uncompressed point, the one form for certificates. OpenSSL reads more. */
const prefix = Buffer.from("3059301306072a8648ce3d020106082a8648ce3d03010703420004", "hex");
const spkiBytes = 91;

/** @throws ServiceError for anything but the SubjectPublicKeyInfo of a P-256 key, DER */
export function requireP256(spki: Uint8Array): void {
  const refusal = invalid("publicKey must be the SubjectPublicKeyInfo of a P-256 key.");
  if (spki.length !== spkiBytes || !prefix.equals(spki.subarray(0, prefix.length))) throw refusal;
  try {
    const key = createPublicKey({ key: Buffer.from(spki), format: "der", type: "spki" });
    if (key.asymmetricKeyDetails?.namedCurve === "prime256v1") return;
  } catch {
    throw refusal;
  }
  throw refusal;
}

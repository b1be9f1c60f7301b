import { createPublicKey, type KeyObject, verify } from "node:crypto";
import { StartupError } from "../../../kernel/platform/errors.ts";

/** The signature algorithms of seals. Both sign a SHA-256 digest, so that a document is hashed once for any key. */
export type SealAlgorithm = "rsa-pkcs1-sha256" | "ecdsa-p256-sha256";

/** A private key that seals documents or issues certificates, in a file or elsewhere. */
export type SealKey = {
  readonly algorithm: SealAlgorithm;
  /** SubjectPublicKeyInfo, DER (RFC 5280 section 4.1.2.7). */
  readonly publicKey: Uint8Array;
  /**
   * Hashes `data` with SHA-256 and signs the hash. Returns a PKCS#1 v1.5 signature, or an ECDSA-Sig-Value in DER, as
   * CMS and X.509 contain it.
   * @throws {SealKeyError} `unreachable`, `refused`, or `locked` when the PIN or the credentials are no longer accepted
   */
  sign(data: Uint8Array): Promise<Uint8Array>;
  /** Closes sessions and sockets. The key must not be used afterwards. */
  close(): Promise<void>;
};

/**
 * The reason why a key can't be opened or used. `bad-uri`: the setting can't be parsed. `not-supported`: the setting
 * names something that this service does not support. `unreadable`: the key exists but can't be used. `not-found`: no
 * key has that name. `locked`: PIN or credentials are wrong or missing. `unreachable`: the module or service does not
 * respond now. `refused`: the module or service responded, but did not sign.
 */
export type SealKeyErrorCode =
  | "bad-uri"
  | "not-supported"
  | "unreadable"
  | "not-found"
  | "locked"
  | "unreachable"
  | "refused";

/** The only error of seal keys. Its message is one line for the operator and never contains a PIN. */
export class SealKeyError extends Error {
  readonly code: SealKeyErrorCode;

  constructor(code: SealKeyErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "SealKeyError";
    this.code = code;
  }
}

/**
 * Rethrows an error that occurred while a key was opened.
 * @throws StartupError if it is an error of a seal key; any other error unchanged
 */
export function asStartupError(error: unknown): never {
  if (error instanceof SealKeyError) throw new StartupError(error.message, { cause: error });
  throw error;
}

/**
 * The seal algorithm for a public key: RSA of 2048 to 8192 bits, or P-256.
 * @throws {SealKeyError} `not-supported`, naming `where` the key came from
 */
export function sealAlgorithmOf(key: KeyObject, where: string): SealAlgorithm {
  const { modulusLength = 0, namedCurve = "" } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType === "rsa") {
    if (modulusLength >= 2048 && modulusLength <= 8192) return "rsa-pkcs1-sha256";
    throw new SealKeyError(
      "not-supported",
      `${where}: an RSA seal key has 2048 to 8192 bits, this has ${modulusLength}`,
    );
  }
  if (key.asymmetricKeyType === "ec" && namedCurve === "prime256v1") return "ecdsa-p256-sha256";
  const found = namedCurve === "" ? (key.asymmetricKeyType ?? "unknown") : namedCurve;
  throw new SealKeyError("not-supported", `${where}: a seal key is RSA or P-256, this is ${found}`);
}

/**
 * Signs a fixed text and verifies the signature, to check that the key responds and matches its public key. Used at the
 * start, by the readiness probe and by `doctor`.
 * @throws {SealKeyError} the error of signing, or `refused` when the signature is not by this key
 */
export async function probeSealKey(key: SealKey): Promise<void> {
  const text = new TextEncoder().encode("seal key probe");
  const signature = await key.sign(text);
  const publicKey = createPublicKey({ key: Buffer.from(key.publicKey), format: "der", type: "spki" });
  if (!verify("sha256", text, publicKey, signature)) {
    throw new SealKeyError("refused", "the seal key answered with a signature that its own public key does not verify");
  }
}

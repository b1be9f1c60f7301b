import { createPublicKey, type KeyObject, verify } from "node:crypto";
import { StartupError } from "../../../kernel/platform/errors.ts";

/** How a seal is signed. SHA-256 throughout: a document is hashed once, and its digest is the one that is signed. */
export type SealAlgorithm = "rsa-pkcs1-sha256" | "ecdsa-p256-sha256";

/** The private key that seals documents, wherever it lives. */
export type SealKey = {
  readonly algorithm: SealAlgorithm;
  /** SubjectPublicKeyInfo, DER (RFC 5280 section 4.1.2.7). */
  readonly publicKey: Uint8Array;
  /**
   * Signs `data` (the bytes themselves; SHA-256 is applied inside).
   * The answer is a PKCS#1 v1.5 signature, or ECDSA-Sig-Value in DER: what CMS and X.509 carry.
   * @throws {SealKeyError} `unreachable` or `refused`
   */
  sign(data: Uint8Array): Promise<Uint8Array>;
  /** Gives back sessions and sockets. The key must not be used afterwards. */
  close(): Promise<void>;
};

/**
 * Why there is no key, or no signature:
 * `bad-uri` the setting can't be read; `not-supported` it names something this service does not do;
 * `unreadable` the key is there and can't be used; `not-found` nothing answers to that name;
 * `locked` wrong or missing PIN or credentials; `unreachable` the module or service does not answer now;
 * `refused` it answered, and would not sign.
 */
export type SealKeyErrorCode =
  | "bad-uri"
  | "not-supported"
  | "unreadable"
  | "not-found"
  | "locked"
  | "unreachable"
  | "refused";

/** The only error of seal keys. Its message is one line for the operator and never holds a PIN. */
export class SealKeyError extends Error {
  readonly code: SealKeyErrorCode;

  constructor(code: SealKeyErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "SealKeyError";
    this.code = code;
  }
}

/** For where a key is opened. @throws StartupError for an error of a seal key, and whatever else it is given */
export function asStartupError(error: unknown): never {
  if (error instanceof SealKeyError) throw new StartupError(error.message, { cause: error });
  throw error;
}

/**
 * The seal algorithm of a public key: RSA of 2048 to 8192 bits, or P-256.
 * @throws {SealKeyError} `not-supported`, with the place `where` the key came from
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
 * Signs a fixed text and verifies it with the public key: whether the key answers, and answers for the key it claims.
 * For the start, the readiness probe and `doctor`.
 * @throws {SealKeyError} what signing threw, or `refused` when the signature is not by this key
 */
export async function probeSealKey(key: SealKey): Promise<void> {
  const text = new TextEncoder().encode("seal key probe");
  const signature = await key.sign(text);
  const publicKey = createPublicKey({ key: Buffer.from(key.publicKey), format: "der", type: "spki" });
  if (!verify("sha256", text, publicKey, signature)) {
    throw new SealKeyError("refused", "the seal key answered with a signature that its own public key does not verify");
  }
}

import { toHex } from "./bytes.ts";
import { EvidenceError, type EvidenceErrorCode } from "./errors.ts";

/**
 * Decodes a lowercase hex string of even length.
 *
 * @throws EvidenceError `code` for any other text
 */
export function fromHex(hex: string, code: EvidenceErrorCode): Uint8Array<ArrayBuffer> {
  if (hex.length % 2 !== 0 || /[^0-9a-f]/.test(hex)) throw new EvidenceError(code, "not lowercase hex");
  const bytes = new Uint8Array(hex.length / 2);
  for (let i = 0; i < bytes.length; i++) bytes[i] = Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16);
  return bytes;
}

/** True if a value is a SHA-256 digest in the contract's form: 64 lowercase hex digits. */
export function isSha256Hex(value: unknown): value is string {
  return typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
}

/** SHA-256 (FIPS 180-4) of bytes: 32 bytes. */
export function sha256(bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  return webDigest("SHA-256", bytes);
}

/** SHA-256 (FIPS 180-4) of bytes, as 64 lowercase hex digits. */
export async function sha256Hex(bytes: Uint8Array): Promise<string> {
  return toHex(await sha256(bytes));
}

/** SHA-1 (FIPS 180-4) of bytes: 20 bytes. Only for formats that already use it. */
export function sha1(bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  return webDigest("SHA-1", bytes);
}

async function webDigest(algorithm: "SHA-1" | "SHA-256", bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  // Web Crypto refuses views of shared memory, so their bytes are copied first.
  const own = isUnshared(bytes) ? bytes : new Uint8Array(bytes);
  return new Uint8Array(await crypto.subtle.digest(algorithm, own));
}

function isUnshared(bytes: Uint8Array): bytes is Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer;
}

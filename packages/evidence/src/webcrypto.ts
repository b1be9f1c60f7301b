import { readDer } from "./asn1/der.ts";
import { fieldsOf, readInteger, unsignedOf } from "./asn1/values.ts";
import { concatBytes, toHex } from "./bytes.ts";
import type { EvidenceCrypto, HashName, SignatureInput, SignatureScheme } from "./crypto-port.ts";
import { EvidenceError } from "./errors.ts";
import { CURVE_LENGTH, type PublicKeyInfo, parsePublicKeyInfo } from "./x509/public-key.ts";

interface ImportedKey {
  readonly info: PublicKeyInfo;
  readonly key: CryptoKey;
}

const MAX_KEYS = 32;

/** The crypto functions over Web Crypto: `crypto.subtle` of a browser, or of Node. Caches at most 32 imported keys. */
export function createWebCrypto(subtle: SubtleCrypto): EvidenceCrypto {
  const keys = new Map<string, ImportedKey>();

  async function digest(hash: HashName, chunks: readonly Uint8Array[]): Promise<Uint8Array> {
    return new Uint8Array(await subtle.digest(hash, asMessage(chunks)));
  }

  async function importKey(spki: Uint8Array, algorithm: SignatureScheme): Promise<ImportedKey> {
    const id = `${algorithm.scheme} ${algorithm.hash} ${toHex(spki)}`;
    const cached = keys.get(id);
    if (cached !== undefined) return cached;
    const info = parsePublicKeyInfo(spki);
    const key = await subtle.importKey("spki", plain(spki), importParameters(info, algorithm), false, ["verify"]);
    if (keys.size >= MAX_KEYS) keys.clear();
    const imported = { info, key };
    keys.set(id, imported);
    return imported;
  }

  async function verify({ spki, algorithm, signature, data }: SignatureInput): Promise<boolean> {
    try {
      const { info, key } = await importKey(spki, algorithm);
      const bytes = info.type === "ec" ? ecdsaSignatureToRaw(signature, CURVE_LENGTH[info.curve]) : plain(signature);
      return await subtle.verify(verifyParameters(algorithm), key, bytes, plain(data));
    } catch (error) {
      // For an unusable key or signature, this code throws an EvidenceError, and Web Crypto throws a DOMException. Any
      // other error is a bug in this code.
      if (error instanceof EvidenceError || error instanceof DOMException) return false;
      throw error;
    }
  }

  /** Hashes the messages one at a time, because each message is assembled in memory. */
  async function digests(hash: HashName, messages: readonly (readonly Uint8Array[])[]): Promise<Uint8Array[]> {
    const out: Uint8Array[] = [];
    for (const chunks of messages) out.push(await digest(hash, chunks));
    return out;
  }

  return { digest, digests, verify };
}

function importParameters(info: PublicKeyInfo, algorithm: SignatureScheme): RsaHashedImportParams | EcKeyImportParams {
  const isEcdsa = algorithm.scheme === "ecdsa";
  if (info.type === "ec" && isEcdsa) return { name: "ECDSA", namedCurve: info.curve };
  if (info.type !== "rsa" || isEcdsa) throw new EvidenceError("unsupported", "The algorithm does not fit the key");
  const name = algorithm.scheme === "rsa-pss" ? "RSA-PSS" : "RSASSA-PKCS1-v1_5";
  return { name, hash: algorithm.hash };
}

function verifyParameters(algorithm: SignatureScheme): AlgorithmIdentifier | RsaPssParams | EcdsaParams {
  if (algorithm.scheme === "ecdsa") return { name: "ECDSA", hash: algorithm.hash };
  if (algorithm.scheme === "rsa-pss") return { name: "RSA-PSS", saltLength: algorithm.saltLength };
  return { name: "RSASSA-PKCS1-v1_5" };
}

function asMessage(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const [only, ...others] = chunks;
  return only !== undefined && others.length === 0 ? plain(only) : concatBytes(chunks);
}

/** The bytes on an unshared ArrayBuffer, copied only if necessary. */
function plain(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer
    ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
    : bytes.slice();
}

/**
 * Converts an ECDSA signature from its DER pair (RFC 3279, section 2.2.3) to r followed by s, as Web Crypto requires.
 * @param length octets of r, and of s: as many as the curve's order has
 * @throws EvidenceError `der`, `x509`, `unsupported` or `limit` when malformed, negative or too long for the curve
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

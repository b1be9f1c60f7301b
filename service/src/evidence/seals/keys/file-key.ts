import {
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from "node:crypto";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { writeFileDurably } from "../../../kernel/platform/durable-file.ts";
import { type SealKey, SealKeyError, sealAlgorithmOf } from "./seal-key.ts";

const generate = promisify(generateKeyPair);
type KeyKind = "rsa-3072" | "p-256";
const signInPool = promisify<string, Uint8Array, KeyObject, Buffer>(sign);

/**
 * Opens a key in a PEM file (PKCS#8; PKCS#1 and SEC1 are read too), or creates it on the first run. A new key has mode
 * 0600 and is written atomically. Processes that start concurrently all use the key that was written first.
 * @param uri `file:PATH` (relative or absolute) or `file:///PATH`
 * @param newKind the kind of a new key
 * @throws {SealKeyError} `bad-uri`, `unreadable` or `not-supported`
 */
export async function openFileKey(uri: string, newKind: KeyKind): Promise<SealKey> {
  const path = fileKeyPath(uri);
  const pem = (await keyFileText(path)) ?? (await makeKey(path, newKind));
  let privateKey: KeyObject;
  try {
    privateKey = createPrivateKey(pem);
  } catch (cause) {
    throw new SealKeyError("unreadable", `${path} holds no unencrypted private key in PEM`, cause);
  }
  return sealKeyOf(privateKey, path);
}

export function sealKeyOf(privateKey: KeyObject, where: string): SealKey {
  const publicKey = createPublicKey(privateKey);
  const algorithm = sealAlgorithmOf(publicKey, where);
  return {
    algorithm,
    publicKey: new Uint8Array(publicKey.export({ type: "spki", format: "der" })),
    // RSA takes half a millisecond, so it runs in the thread pool and doesn't block other requests. P-256 runs here: it
    // takes less time than handing work to the pool.
    sign:
      algorithm === "rsa-pkcs1-sha256"
        ? (data) => signInPool("sha256", data, privateKey)
        : async (data) => sign("sha256", data, privateKey),
    close: async () => {},
  };
}

/** A P-256 key that exists only in memory and is never stored. */
export const keyInMemory = (where: string): SealKey =>
  sealKeyOf(generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey, where);

/**
 * The path in `file:PATH` or `file:///PATH`.
 * @throws {SealKeyError} `bad-uri`
 */
export function fileKeyPath(uri: string): string {
  const path = uri.slice("file:".length);
  if (path === "") throw new SealKeyError("bad-uri", "file: needs a path");
  if (!path.startsWith("//")) return path;
  try {
    return fileURLToPath(uri);
  } catch (cause) {
    throw new SealKeyError("bad-uri", "a file URL is file:PATH or file:///PATH", cause);
  }
}

/**
 * The text of a key file; undefined when the file is missing.
 * @throws {SealKeyError} `unreadable`
 */
export async function keyFileText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    if (isCode(cause, "ENOENT")) return undefined;
    throw new SealKeyError("unreadable", `${path} can't be read: ${messageOf(cause)}`, cause);
  }
}

async function makeKey(path: string, newKind: KeyKind): Promise<string> {
  const { privateKey } = await (newKind === "p-256"
    ? generate("ec", { namedCurve: "P-256" })
    : generate("rsa", { modulusLength: 3072 }));
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  try {
    await writeFileDurably(path, pem, { mode: 0o600, exclusive: true });
    return await readFile(path, "utf8");
  } catch (cause) {
    throw new SealKeyError("unreadable", `no key could be made at ${path}: ${messageOf(cause)}`, cause);
  }
}

const isCode = (cause: unknown, code: string): boolean =>
  cause instanceof Error && "code" in cause && cause.code === code;
const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));

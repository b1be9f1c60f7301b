import { createHmac, hash, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";
import { readFile } from "node:fs/promises";
import { writeFileDurably } from "./durable-file.ts";
import { ServiceError, StartupError } from "./errors.ts";
import { digitsIn } from "./text.ts";

/** An encryption key: 32 secret bytes. Logs show `***` instead of them. */
export type SecretBytes = {
  readonly reveal: () => Uint8Array;
  /** Older keys, which decrypt and verify old data, but encrypt nothing new. */
  readonly others: readonly SecretBytes[];
  toString: () => string;
  toJSON: () => string;
};

export function secretBytes(bytes: Uint8Array, others: readonly SecretBytes[] = []): SecretBytes {
  return { reveal: () => bytes, others, toString: () => "***", toJSON: () => "***" };
}

/** All keys that can decrypt or verify data, the current one first. */
export const keysOf = (master: SecretBytes): readonly SecretBytes[] => [master, ...master.others];

/**
 * Reads the key that encrypts secrets and blobs at rest, or creates it on the first run.
 * @param uri `file:PATH`; the file contains 64 hex digits
 * @param others further keys for decryption, in the same form; these are never created
 * @param options.mayMake false when data encrypted with a key already exist
 * @throws StartupError for a file that can't be read or isn't a key, and for a key named twice. Also for a missing key
 * when `mayMake` is false, or when the key is one of `others`
 */
export async function openSecretsKey(
  uri: string,
  others: readonly string[] = [],
  { mayMake = true }: { mayMake?: boolean } = {},
): Promise<SecretBytes> {
  const current = (await readKey("SECRETS_KEY", uri)) ?? (mayMake ? await makeKey(uri) : null);
  if (!current)
    throw new StartupError(
      `SECRETS_KEY: ${uri.slice(scheme.length)} is missing, but some data are encrypted with a key`,
    );
  const older: SecretBytes[] = [];
  for (const other of others) {
    const bytes = await readKey("SECRETS_KEYS_OLD", other);
    if (!bytes) throw new StartupError(`SECRETS_KEYS_OLD: ${other.slice(scheme.length)} cannot be read (ENOENT)`);
    older.push(secretBytes(bytes));
  }
  const master = secretBytes(current, older);
  if (new Set(keysOf(master).map(keyIdText)).size <= older.length) {
    throw new StartupError("SECRETS_KEYS_OLD must name other keys than SECRETS_KEY, each once");
  }
  return master;
}

const scheme = "file:";

async function readKey(setting: string, uri: string): Promise<Buffer | null> {
  const path = uri.slice(scheme.length);
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw new StartupError(`${setting}: ${path} cannot be read (${error.code})`);
  });
  if (text === null) return null;
  if (!/^[0-9a-f]{64}\s*$/.test(text)) throw new StartupError(`${setting}: ${path} must hold 64 hex digits`);
  return Buffer.from(text.trim(), "hex");
}

async function makeKey(uri: string): Promise<Buffer> {
  const text = `${randomBytes(32).toString("hex")}\n`;
  await writeFileDurably(uri.slice(scheme.length), text, { mode: 0o600, exclusive: true });
  // Reads the key again. If another process has created it meanwhile, the key on disk is the valid one.
  return (await readKey("SECRETS_KEY", uri)) ?? makeKey(uri);
}

// Derived keys are cached. Every value needs one, and deriving a key costs more than encrypting a short value.
const derived = new WeakMap<SecretBytes, Map<string, Buffer>>();

/** Derives a separate key for each use, by HKDF-SHA256 (RFC 5869). */
export function deriveKey(master: SecretBytes, use: string): Buffer {
  const keysByUse = derived.get(master) ?? new Map<string, Buffer>();
  derived.set(master, keysByUse);
  const key = keysByUse.get(use) ?? deriveSalted(master, use, new Uint8Array());
  keysByUse.set(use, key);
  return key;
}

export const deriveSalted = (master: SecretBytes, use: string, salt: Uint8Array): Buffer =>
  Buffer.from(hkdfSync("sha256", master.reveal(), salt, use, 32));

/** The hash of a token. Tables store it instead of the token. */
export const tokenSha256 = (token: string): Buffer => hash("sha256", token, "buffer");

/** The token with this hash, derived with any of the configured keys; undefined when its key is no longer configured. */
export const tokenOfHash = (
  master: SecretBytes,
  sha256: Buffer,
  tokenUnder: (key: SecretBytes) => string,
): string | undefined =>
  keysOf(master)
    .map(tokenUnder)
    .find((token) => tokenSha256(token).equals(sha256));

/**
 * True if somebody typed the code of digits that one of the configured keys derives. Compared in constant time.
 * @param codeUnder derives the code with a key: at most 12 digits
 */
export function isCodeUnder(master: SecretBytes, codeUnder: (key: SecretBytes) => string, typed: string): boolean {
  const digits = Buffer.from(digitsIn(typed).slice(0, 12).padEnd(12));
  return keysOf(master).some((key) => timingSafeEqual(Buffer.from(codeUnder(key).padEnd(12)), digits));
}

/** A token derived from an id on demand, so that it need not be stored: 160 bits as 40 hex digits. */
export const derivedToken = (key: Uint8Array, id: string): string =>
  createHmac("sha256", key).update(id).digest("hex").slice(0, 40);

/**
 * The length of a key's id in bytes. Each MAC of a row, and each value encrypted since keys have ids, contains the id
 * of its key.
 */
export const keyIdBytes = 4;

/** The id of a key. It reveals nothing about the key. */
export const keyId = (key: SecretBytes): Buffer => deriveKey(key, "row MAC key id").subarray(0, keyIdBytes);

export const keyIdText = (key: SecretBytes): string => keyId(key).toString("hex");

/**
 * Thrown when this process lacks the key that a value was encrypted or authenticated with. The value itself may be
 * intact.
 */
export class MissingKeyError extends ServiceError {
  constructor(id: string) {
    const where = "neither SECRETS_KEY nor SECRETS_KEYS_OLD";
    super("unavailable", `This can't be read: it was written with key ${id}, which is in ${where}.`);
  }
}

/**
 * Finds a key by its id.
 * @throws MissingKeyError naming the id
 */
export function keyOfId(master: SecretBytes, id: Uint8Array): SecretBytes {
  const text = Buffer.from(id).toString("hex");
  const key = keysOf(master).find((one) => keyIdText(one) === text);
  if (!key) throw new MissingKeyError(text);
  return key;
}

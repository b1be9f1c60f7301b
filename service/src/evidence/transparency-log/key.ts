import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { join } from "node:path";
import {
  type Checkpoint,
  checkpointText,
  formatCheckpoint,
  formatNoteKey,
  noteKeyOf,
} from "@signsealship/evidence/log";
import type { Environment } from "../../kernel/identity/identity.ts";
import { writeFileDurably } from "../../kernel/platform/durable-file.ts";
import { StartupError } from "../../kernel/platform/errors.ts";
import { fileKeyPath, keyFileText } from "../seals/seals.ts";

export type LogKeySettings = { dataDir: string; logKey: string };

/** Signs the checkpoints of one log. */
export type LogSigner = {
  /** The public key in the form that verifiers read. */
  key: string;
  /** Returns the signed checkpoint. Ed25519 is deterministic, so the same checkpoint always gives the same bytes. */
  signed: (size: number, root: Uint8Array) => string;
};

/** The path of a log's key. The log of test seals always has its own file key, like the test seal. */
export const logKeyPath = ({ dataDir, logKey }: LogKeySettings, log: Environment): string =>
  log === "live" ? fileKeyPath(logKey) : join(dataDir, "keys", "log-test");

/**
 * Opens the key of a log, or creates it at the first start: Ed25519 in PKCS#8, mode 0600.
 * @throws StartupError for a file with any other kind of key
 */
export async function openLogSigner(settings: LogKeySettings, log: Environment, origin: string): Promise<LogSigner> {
  const privateKey = await ed25519KeyAt(logKeyPath(settings, log), "LOG_KEY");
  const { x = "" } = createPublicKey(privateKey).export({ format: "jwk" });
  const key = await noteKeyOf(origin, new Uint8Array(Buffer.from(x, "base64url")));
  return {
    key: formatNoteKey(key),
    signed(size, root) {
      const checkpoint: Checkpoint = { origin, size, root };
      return formatCheckpoint(checkpoint, key, sign(null, Buffer.from(checkpointText(checkpoint)), privateKey));
    },
  };
}

/**
 * Reads a key file, or creates it: Ed25519 in PKCS#8, mode 0600.
 * @throws StartupError, naming the setting, for a file with any other kind of key
 */
export async function ed25519KeyAt(path: string, setting: string): Promise<KeyObject> {
  const pem = (await keyFileText(path)) ?? (await makeKey(path));
  const refusal = () => new StartupError(`${setting}: ${path} holds no unencrypted Ed25519 key in PEM`);
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === "ed25519") return key;
  } catch {
    throw refusal();
  }
  throw refusal();
}

/** Processes that start concurrently all use the key that was written first. */
async function makeKey(path: string): Promise<string> {
  const { privateKey } = generateKeyPairSync("ed25519");
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  await writeFileDurably(path, pem, { mode: 0o600, exclusive: true });
  return (await keyFileText(path)) ?? pem;
}

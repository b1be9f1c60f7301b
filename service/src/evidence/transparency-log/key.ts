import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { join } from "node:path";
import {
  type Checkpoint,
  checkpointText,
  formatCheckpoint,
  formatNoteKey,
  noteKeyOf,
} from "@signsealship/evidence/log";
import { writeFileDurably } from "../../kernel/platform/durable-file.ts";
import { StartupError } from "../../kernel/platform/errors.ts";
import { fileKeyPath, keyFileText } from "../seals/seals.ts";
import { LogHalt } from "./grow.ts";
import { environmentOf, generationOf, type LogName } from "./trees.ts";

export type LogKeySettings = { dataDir: string; logKey: string };

/** The signer of one log's checkpoints. */
export type LogSigner = {
  /** The public key in the form that verifiers read. */
  key: string;
  /** Returns the signed checkpoint. Ed25519 is deterministic, so the same checkpoint always gives the same bytes. */
  signed: (size: number, root: Uint8Array) => string;
};

type NamedLog = { log: LogName; origin: string };

export type LogKeys = {
  /** The path of a log's key. The newest checkpoint that this node signed or accepted is stored next to it. */
  pathOf: (log: LogName) => string;
  /**
   * Opens the key of an existing log. Doesn't check that it is the log's key: compare the signer's `key` with
   * `noteKey`.
   * @throws LogHalt when the key's file is missing; StartupError when the file can't be read, or has another kind of
   * key
   */
  open: (tree: NamedLog & { noteKey: string }) => Promise<LogSigner>;
  /**
   * Opens the key of a new log. Creates the file if it is missing: Ed25519 in PKCS#8, mode 0600.
   * @throws StartupError
   */
  create: (named: NamedLog) => Promise<LogSigner>;
};

/**
 * Returns the key file of each log. Each log has its own key. For an environment's second log, `-2` is added to the
 * path of the first log's key. The keys of test logs are in DATA_DIR, whatever LOG_KEY says.
 */
export function logKeys({ dataDir, logKey }: LogKeySettings): LogKeys {
  /**
   * Signers in memory, by their public keys. If a log's public key is not among them, the key file is read again,
   * because an operator may have replaced it.
   */
  const opened = new Map<string, LogSigner>();
  const pathOf = (log: LogName): string => {
    const first = environmentOf(log) === "live" ? fileKeyPath(logKey) : join(dataDir, "keys", "log-test");
    const generation = generationOf(log);
    return generation === 1 ? first : `${first}-${generation}`;
  };
  const openedBy = async ({ origin }: NamedLog, privateKey: KeyObject): Promise<LogSigner> => {
    const signer = await signerOf(origin, privateKey);
    opened.set(signer.key, signer);
    return signer;
  };
  return {
    pathOf,
    async open(tree) {
      const cached = opened.get(tree.noteKey);
      if (cached) return cached;
      const path = pathOf(tree.log);
      const pem = await keyText(path, "LOG_KEY");
      if (pem === undefined)
        throw new LogHalt(`this node lacks the key of ${tree.origin} (${path}): copy the file of a node that has it`);
      return openedBy(tree, ed25519KeyIn(pem, path, "LOG_KEY"));
    },
    create: async (named) => openedBy(named, await ed25519KeyAt(pathOf(named.log), "LOG_KEY")),
  };
}

async function signerOf(origin: string, privateKey: KeyObject): Promise<LogSigner> {
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
 * @throws StartupError, naming the setting, for another kind of key, and for a file that can't be read or created
 */
export async function ed25519KeyAt(path: string, setting: string): Promise<KeyObject> {
  const pem = (await keyText(path, setting)) ?? (await makeKey(path, setting));
  return ed25519KeyIn(pem, path, setting);
}

/** The text of a key file; undefined if it is missing. @throws StartupError for a file that can't be read */
const keyText = (path: string, setting: string): Promise<string | undefined> =>
  keyFileText(path).catch((cause: Error) => {
    throw new StartupError(`${setting}: ${cause.message}`, { cause });
  });

function ed25519KeyIn(pem: string, path: string, setting: string): KeyObject {
  const refusal = () => new StartupError(`${setting}: ${path} holds no unencrypted Ed25519 key in PEM`);
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === "ed25519") return key;
  } catch {
    throw refusal();
  }
  throw refusal();
}

/**
 * Processes that start concurrently all use the key that was written first.
 * @throws StartupError when the file can't be written
 */
async function makeKey(path: string, setting: string): Promise<string> {
  const { privateKey } = generateKeyPairSync("ed25519");
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  await writeFileDurably(path, pem, { mode: 0o600, exclusive: true }).catch((cause: Error) => {
    throw new StartupError(`${setting}: no key could be made at ${path}: ${cause.message}`, { cause });
  });
  return (await keyText(path, setting)) ?? pem;
}

import { createHash, createPublicKey, type KeyObject, sign } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { EvidenceError } from "@signsealship/evidence/errors";
import type { Database } from "../../kernel/platform/database/database.ts";
import { writeFileDurably } from "../../kernel/platform/durable-file.ts";
import { StartupError } from "../../kernel/platform/errors.ts";
import { fileKeyPath } from "../seals/seals.ts";
import { ed25519KeyAt } from "../transparency-log/transparency-log.ts";
import { parseLogsList, type WitnessedLog } from "./logs-list.ts";
import { selectStates } from "./store.ts";

export type WitnessSettings = {
  /** The path of the list of logs to cosign. When it is null, the service is not a witness. */
  witnessLogs: string | null;
  witnessKey: string;
  /** The name of the witness's key; null to derive it from the host of `baseUrl`. */
  witnessName: string | null;
  baseUrl: string;
};

/** A witness for other operators' logs (C2SP tlog-witness). */
export type Witness = {
  /**
   * The witness's public key in hex. The stored states of logs belong to this key and not to the key's name, because a
   * cosignature doesn't cover the name. A key with a new name must not start again at size 0.
   */
  id: string;
  /** The witness's key as NAME+ID+BASE64, the form used in policies. */
  key: string;
  logs: ReadonlyMap<string, WitnessedLog>;
  /** Returns the line of a cosignature over a checkpoint's text (C2SP tlog-cosignature). */
  cosign: (text: string, at: Date) => string;
  /**
   * Returns the path of a file outside of the database. The file has the newest state of the log that this node
   * cosigned.
   */
  statePath: (origin: string) => string;
  /** Writes the file with the newest cosigned state. Called before the cosignature is sent. */
  remember: (origin: string, state: { size: number; root: Uint8Array }) => Promise<void>;
};

const timedEd25519 = 0x04;

/**
 * Opens the witness, or creates its key at the first start; null without a list of logs.
 * @param ownOrigins the service's own logs, which are refused because a witness of them would prove nothing
 * @throws StartupError for a list, a key or a name that can't be used
 */
export async function openWitness(settings: WitnessSettings, ownOrigins: readonly string[]): Promise<Witness | null> {
  const { witnessLogs, witnessName, baseUrl } = settings;
  if (witnessLogs === null) return null;
  const logs = await readLogs(witnessLogs);
  const own = ownOrigins.find((origin) => logs.has(origin));
  if (own !== undefined)
    throw new StartupError(
      `WITNESS_LOGS: ${witnessLogs}: ${own} is this installation's own log: an installation can't be a witness of its own log`,
    );
  const path = fileKeyPath(settings.witnessKey);
  const privateKey = await ed25519KeyAt(path, "WITNESS_KEY");
  const statePath = statePathOf(path);
  let turn = Promise.resolve();
  return {
    logs,
    ...identityOf(privateKey, witnessName ?? `${new URL(baseUrl).host}/witness`),
    statePath,
    remember(origin, { size, root }) {
      const write = () => writeCosigned(statePath(origin), { size, root: Buffer.from(root) });
      const written = turn.then(write);
      turn = written.catch(() => {});
      return written;
    },
  };
}

function identityOf(privateKey: KeyObject, name: string): Pick<Witness, "id" | "key" | "cosign"> {
  const { x = "" } = createPublicKey(privateKey).export({ format: "jwk" });
  const bytes = Buffer.concat([Buffer.of(timedEd25519), Buffer.from(x, "base64url")]);
  const keyId = createHash("sha256").update(`${name}\n`).update(bytes).digest().subarray(0, 4);
  return {
    id: bytes.subarray(1).toString("hex"),
    key: `${name}+${keyId.toString("hex")}+${bytes.toString("base64")}`,
    cosign(text, at) {
      const seconds = BigInt(Math.floor(at.getTime() / 1_000));
      const time = Buffer.alloc(8);
      time.writeBigUInt64BE(seconds);
      const signature = sign(null, Buffer.from(`cosignature/v1\ntime ${seconds}\n${text}`), privateKey);
      return `\u2014 ${name} ${Buffer.concat([keyId, time, signature]).toString("base64")}\n`;
    },
  };
}

const statePathOf =
  (keyPath: string) =>
  (origin: string): string =>
    join(`${keyPath}.state`, createHash("sha256").update(origin).digest("hex"));

async function readLogs(path: string): Promise<Map<string, WitnessedLog>> {
  try {
    return await parseLogsList(await readFile(path, "utf8"));
  } catch (error) {
    if (error instanceof EvidenceError) throw new StartupError(`WITNESS_LOGS: ${path}: ${error.message}`);
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    throw new StartupError(`WITNESS_LOGS: ${path}: it cannot be read`);
  }
}

/**
 * Reads the file with the last state of a log that this node cosigned; null when there is none. A restored database may
 * lack that state.
 */
export async function readCosigned(path: string): Promise<{ size: number; root: string } | null> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (text === null) return null;
  const [, size, root] = /^(\d+) ([0-9a-f]{64})\n$/.exec(text) ?? [];
  if (size === undefined || root === undefined) throw new Error(`${path} does not say what was cosigned`);
  return { size: Number(size), root };
}

/**
 * Writes the state of a log to its file, unless the file has a state that is as large. Requests may arrive here in
 * another order than they committed.
 */
async function writeCosigned(path: string, { size, root }: { size: number; root: Buffer }): Promise<void> {
  const cosigned = await readCosigned(path);
  if (cosigned !== null && cosigned.size >= size) return;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFileDurably(path, `${size} ${root.toString("hex")}\n`, { mode: 0o600 });
}

/** The state of the witness, for operators. */
export type WitnessStatus = {
  key: string;
  logs: { origin: string; size: number; maxADay: number; restoredAt: Date | null }[];
};

export async function witnessStatus(db: Database, witness: Witness): Promise<WitnessStatus> {
  const states = new Map((await selectStates(db, witness.id)).map((state) => [state.origin, state]));
  const logs = [...witness.logs.values()].map(({ origin, maxADay }) => {
    const { size = 0, restoredAt = null } = states.get(origin) ?? {};
    return { origin, size, maxADay, restoredAt };
  });
  return { key: witness.key, logs };
}

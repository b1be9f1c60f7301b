import type { TrustedLog } from "@signsealship/evidence/log";
import type { Environment } from "../../kernel/identity/identity.ts";
import type { Fetch } from "../../kernel/platform/bounds/bounded-request.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import type { Database, Sql } from "../../kernel/platform/database/database.ts";
import { StartupError } from "../../kernel/platform/errors.ts";
import type { Log } from "../../kernel/platform/logs.ts";
import type { Metrics } from "../../kernel/platform/metrics.ts";
import type { RowMac } from "../../kernel/platform/row-mac.ts";
import { emptyRoot, LogHalt } from "./grow.ts";
import { type LogKeySettings, logKeyPath, openLogSigner } from "./key.ts";
import { createLogWaits, type LogWaits } from "./published.ts";
import { createSequencer, examineTree, type LogFiles, type Sequencer } from "./sequencer.ts";
import { insertTree, logs, selectQueue, selectTree } from "./store.ts";
import { type AskedWitness, publishPolicy, selectWitnesses } from "./witness-store.ts";
import { askWitnesses, readLogPolicy } from "./witnesses.ts";

export { anchorGauges, type LineProgress, lineState } from "./anchor-store.ts";
export {
  type CheckpointProofs,
  checkpointProofs,
  composedOts,
  notAnchoredYet,
  requireComposedOts,
} from "./anchored.ts";
export { exportLog, readWholeLog, recoverLog } from "./copies.ts";
export { LogHalt } from "./grow.ts";
export { anchorRoots, type HourlyRootDeps } from "./hourly-roots.ts";
export { ed25519KeyAt } from "./key.ts";
export { type LogWaits, logProof, notLoggedYet, requireLogProof } from "./published.ts";
export { type Retraction, retractionOf, retractSeal } from "./retractions.ts";
export { logRoutes } from "./routes.ts";
export {
  haltRestored,
  logGauges,
  logs,
  markImport,
  newestCheckpointUpTo,
  originOfLog,
  protectedTables,
  queueEntry,
} from "./store.ts";
export { witnessGauges } from "./witness-store.ts";

export type LogSettings = LogKeySettings & {
  /** The host in the logs' names; null for the host of the public address. */
  logOrigin: string | null;
  logIntervalMs: number;
  /** The file with the witnesses of the live log (C2SP tlog-policy); null for none. */
  logPolicy: string | null;
  witnessIntervalMs: number;
  baseUrl: string;
};

/** The public key of a log in the form that verifiers read; null before the first start with a log. */
export const logKeyOf = async (db: Sql, log: Environment): Promise<string | null> =>
  (await selectTree(db, log))?.noteKey ?? null;

/** The origins of the logs that exist. */
export const logOrigins = async (db: Sql): Promise<string[]> =>
  (await Promise.all(logs.map((log) => selectTree(db, log)))).flatMap((tree) => (tree ? [tree.origin] : []));

export type LogOrigins = Readonly<Record<Environment, string>>;

export type OpenedLogs = {
  origins: LogOrigins;
  /** The public keys in the form that verifiers read. */
  keys: Readonly<Record<Environment, string>>;
  files: Readonly<Record<Environment, LogFiles>>;
};

/**
 * Opens the keys of both logs, and creates the logs at the first start. An origin never changes: later starts read it
 * from the database.
 * @throws StartupError when LOG_ORIGIN differs from it, or for a file without a usable key
 */
export async function openLogs(db: Sql, settings: LogSettings): Promise<OpenedLogs> {
  const opened: Awaited<ReturnType<typeof openLog>>[] = [];
  for (const log of logs) opened.push(await openLog(db, settings, log));
  const by = <T>(pick: (one: (typeof opened)[number]) => T) =>
    Object.fromEntries(opened.map((one) => [one.log, pick(one)])) as Record<Environment, T>;
  return {
    origins: by(({ origin }) => origin),
    keys: by(({ noteKey }) => noteKey),
    files: by(({ files }) => files),
  };
}

async function openLog(db: Sql, settings: LogSettings, log: Environment) {
  const { logOrigin, baseUrl } = settings;
  const wanted = `${logOrigin ?? new URL(baseUrl).host}/log/${log}`;
  const known = await selectTree(db, log);
  const origin = known?.origin ?? wanted;
  if (logOrigin !== null && origin !== wanted)
    throw new StartupError(`LOG_ORIGIN must stay ${origin.slice(0, -`/log/${log}`.length)}: an origin never changes`);
  const files = { signer: await openLogSigner(settings, log, origin), keyPath: logKeyPath(settings, log) };
  if (known) return { log, origin, noteKey: known.noteKey, files };
  const never = { restoredAt: null, recoveredAt: null };
  await insertTree(db, { log, origin, noteKey: files.signer.key, size: 0, root: emptyRoot, ...never });
  // Another node may have created the log first.
  const tree = await selectTree(db, log);
  return { log, origin: tree?.origin ?? origin, noteKey: tree?.noteKey ?? files.signer.key, files };
}

export type TransparencyLog = Pick<OpenedLogs, "origins"> &
  Sequencer & {
    /** The keys of both logs, for verifiers. */
    trusted: readonly TrustedLog[];
    /** The published policy of the live log; null when it has no witnesses. */
    policy: string | null;
    /** Requests that wait for their seal's line. */
    waits: LogWaits;
    /** Asks the witnesses that are due to cosign the live log's newest checkpoint. */
    askWitnesses: () => Promise<void>;
  };

type Deps = { db: Database; rowMac: RowMac; clock: Clock; log: Log; config: LogSettings };

/** @throws StartupError for a key, an origin or a policy that cannot be used */
export async function openTransparencyLog(deps: Deps, fetch: Fetch): Promise<TransparencyLog> {
  const { db, rowMac, clock, log, config } = deps;
  const { origins, keys, files } = await openLogs(db, config);
  const sequencer = createSequencer({ db, rowMac, clock, log, files, intervalMs: config.logIntervalMs });
  const ownLog = { key: keys.live, url: `${config.baseUrl}/log/live` };
  const published = config.logPolicy === null ? null : await readLogPolicy(config.logPolicy, ownLog);
  if (published) await publishPolicy(db, "live", published.sha256, published.text, clock());
  return {
    origins,
    trusted: logs.map((environment) => ({ environment, key: keys[environment] })),
    ...sequencer,
    policy: published?.text ?? null,
    waits: createLogWaits(),
    async askWitnesses() {
      if (published) await askWitnesses({ db, clock, log, fetch, published, intervalMs: config.witnessIntervalMs });
    },
  };
}

/** Adds a gauge for each log: 1 if it is halted on this node, else 0. */
export function logMetrics(metrics: Metrics, { halted }: TransparencyLog): void {
  const help = "Whether the transparency log halts on this node, instead of contradicting itself: 1 or 0.";
  metrics.gauge("log_halted", help, "log", async () => new Map(logs.map((log) => [log, Number(halted().has(log))])));
}

/** The state of a log, for operators. */
export type LogStatus = {
  log: Environment;
  origin: string;
  key: string;
  size: number;
  /** The number of waiting lines, including forged ones, which never get a leaf. */
  waiting: number;
  notWritten: number;
  oldestWaitingAt: Date | null;
  /** Why the log is halted, and what to do; null when it works. */
  halted: string | null;
  witnesses: AskedWitness[];
};

/** Checks both logs in the same way as the sequencer. @returns an empty list before the first start with a log */
export async function logStatuses({
  db,
  rowMac,
  config,
}: Pick<Deps, "db" | "rowMac" | "config">): Promise<LogStatus[]> {
  const statuses: LogStatus[] = [];
  for (const log of logs) {
    const tree = await selectTree(db, log);
    if (!tree) continue;
    const { origin, noteKey: key, size } = tree;
    const queue = await selectQueue(db, rowMac, log);
    const halted = await whyHalted({ db, rowMac, config }, log, origin);
    statuses.push({ log, origin, key, size, ...queue, halted, witnesses: await selectWitnesses(db, log) });
  }
  return statuses;
}

async function whyHalted(
  { db, rowMac, config }: Pick<Deps, "db" | "rowMac" | "config">,
  log: Environment,
  origin: string,
): Promise<string | null> {
  try {
    const files = { signer: await openLogSigner(config, log, origin), keyPath: logKeyPath(config, log) };
    await examineTree(db, { rowMac, files: { live: files, test: files } }, log);
    return null;
  } catch (error) {
    if (error instanceof LogHalt || error instanceof StartupError) return error.message;
    throw error;
  }
}

import { type LogEndReason, parseCheckpoint, type TrustedLog } from "@signsealship/evidence/log";
import type { Environment } from "../../kernel/identity/identity.ts";
import type { Fetch } from "../../kernel/platform/bounds/bounded-request.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import type { Database, Sql } from "../../kernel/platform/database/database.ts";
import { StartupError } from "../../kernel/platform/errors.ts";
import type { Log } from "../../kernel/platform/logs.ts";
import type { Metrics } from "../../kernel/platform/metrics.ts";
import type { RowMac } from "../../kernel/platform/row-mac.ts";
import { examineTree } from "./examine.ts";
import { emptyRoot, LogHalt } from "./grow.ts";
import { type LogKeySettings, type LogKeys, logKeys } from "./key.ts";
import { createLogWaits, type LogWaits } from "./published.ts";
import { selectQueue, waitingRows } from "./queue.ts";
import { hasKeyOf, retireLog } from "./retire.ts";
import { createSequencer, type Sequencer } from "./sequencer.ts";
import { selectCheckpoint } from "./store.ts";
import {
  currentTree,
  environmentOf,
  insertTree,
  type LogName,
  logs,
  noEnd,
  type StoredTree,
  selectTree,
  selectTrees,
  treeHolds,
  treeRows,
} from "./trees.ts";
import { type AskedWitness, publishPolicy, selectWitnesses } from "./witness-store.ts";
import { askWitnesses, type PublishedPolicy, readLogPolicy } from "./witnesses.ts";

export {
  anchorGauges,
  existingProofs,
  type LineProgress,
  lineState,
  type ProofForm,
  proofForms,
} from "./anchor-store.ts";
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
export { type LogWaits, logProof, logProofChanges, notLoggedYet, placeInLog, requireLogProof } from "./published.ts";
export { type LoggedRows, logGauges, markImport, queueEntry } from "./queue.ts";
export { successionLines } from "./retire.ts";
export { type Retraction, retractionOf, retractSeal } from "./retractions.ts";
export { logRoutes, uncachedUntilFound } from "./routes.ts";
export { linesWithLogs, newestCheckpointUpTo } from "./store.ts";
export { currentTree, haltRestored, isLogName, type LogName, originOfLog, treeOfOrigin } from "./trees.ts";
export { loggedPolicies, witnessGauges } from "./witness-store.ts";

export const protectedTables = [treeRows, waitingRows];

export type LogSettings = LogKeySettings & {
  /** The host in the logs' origins, `HOST/log/NAME`; null for the host of `baseUrl`. */
  logOrigin: string | null;
  logIntervalMs: number;
  /** The file with the witnesses of the live log (C2SP tlog-policy); null for none. */
  logPolicy: string | null;
  witnessIntervalMs: number;
  baseUrl: string;
};

/** The public key of a log in the form that verifiers read; null for a log that does not exist. */
export const logKeyOf = async (db: Sql, log: LogName): Promise<string | null> =>
  (await selectTree(db, log))?.noteKey ?? null;

/** The origins of all existing logs, including those that have ended. */
export const logOrigins = async (db: Sql): Promise<string[]> => (await selectTrees(db)).map(({ origin }) => origin);

/**
 * Opens the keys of the logs, and creates the first logs at the first start. An origin never changes: later starts read
 * it from the database.
 * @throws StartupError when LOG_ORIGIN differs from the stored origin, or for a file without a usable key
 */
export async function openLogs(db: Sql, settings: LogSettings): Promise<LogKeys> {
  const { logOrigin, baseUrl } = settings;
  const keys = logKeys(settings);
  const host = logOrigin ?? new URL(baseUrl).host;
  for (const log of logs) {
    const existing = await currentTree(db, log);
    if (!existing) {
      const origin = `${host}/log/${log}`;
      const { key } = await keys.create({ log, origin });
      const emptyTree = { size: 0, root: emptyRoot, restoredAt: null, recoveredAt: null, ...noEnd };
      // Inserts nothing if another node has created the log first.
      await insertTree(db, { log, origin, noteKey: key, ...emptyTree });
      continue;
    }
    if (logOrigin !== null && existing.origin !== `${host}/log/${existing.log}`)
      throw new StartupError(
        `LOG_ORIGIN must stay ${existing.origin.slice(0, -`/log/${existing.log}`.length)}: an origin never changes`,
      );
    // Refuses a file that is not a key. A node without the file serves the log and signs nothing.
    await hasKeyOf(keys, existing);
  }
  return keys;
}

export type TransparencyLog = Sequencer & {
  /** The origin of the log that an environment has now. */
  originOf: (environment: Environment) => string;
  /** The keys of the logs that the service made (`ownTrees`), for verifiers. */
  trusted: () => Promise<TrustedLog[]>;
  /** The published policy of the live log; null without LOG_POLICY. */
  policy: () => Promise<string | null>;
  /** Waits until the log includes a line. Limits how many requests wait at once. */
  waits: LogWaits;
  /** Asks each witness that is due to cosign a checkpoint of each live log, usually the newest one. */
  askWitnesses: () => Promise<void>;
};

type Deps = { db: Database; rowMac: RowMac; clock: Clock; log: Log; config: LogSettings };

/** Opens the logs of test and live evidence. @throws StartupError for an unusable key, origin or policy */
export async function openTransparencyLog(deps: Deps, fetch: Fetch): Promise<TransparencyLog> {
  const { db, rowMac, clock, log, config } = deps;
  const keys = await openLogs(db, config);
  const own = () => ownTrees({ db, rowMac, keys });
  const originsAtStart = new Map((await selectTrees(db)).map((tree) => [environmentOf(tree.log), tree.origin]));
  const sequencer = createSequencer({ db, rowMac, clock, log, keys, intervalMs: config.logIntervalMs });
  const published = policyReader(deps, own);
  await published();
  return {
    ...sequencer,
    originOf: (environment) => sequencer.originSeen(environment) ?? originsAtStart.get(environment) ?? "",
    trusted: async () => Promise.all((await own()).map((tree) => trustedLog(db, tree))),
    policy: async () => (await published())?.text ?? null,
    waits: createLogWaits(),
    async askWitnesses() {
      const policy = await published();
      if (!policy) return;
      for (const tree of await own())
        if (environmentOf(tree.log) === "live")
          await askWitnesses(
            { db, clock, log, fetch, published: policy, intervalMs: config.witnessIntervalMs },
            tree.log,
          );
    },
  };
}

/**
 * The trees that the service wrote. A restored tree has no valid MAC until an operator recovers its log. If this node
 * has the log's key, such a tree is included, but without its end: anybody with access to the database could have
 * written an end.
 */
async function ownTrees({ db, rowMac, keys }: { db: Sql; rowMac: RowMac; keys: LogKeys }): Promise<StoredTree[]> {
  const own: StoredTree[] = [];
  for (const tree of await selectTrees(db)) {
    if (treeHolds(rowMac, tree)) own.push(tree);
    else if (await hasKeyOf(keys, tree)) own.push({ ...tree, ...noEnd });
  }
  return own;
}

async function trustedLog(
  db: Sql,
  { log, noteKey: key, finalSize, endReason: reason }: StoredTree,
): Promise<TrustedLog> {
  const trusted = { environment: environmentOf(log), key };
  const final = finalSize === null ? undefined : await selectCheckpoint(db, log, finalSize);
  if (!final || reason === null) return trusted;
  const { size, root } = parseCheckpoint(final.note);
  return { ...trusted, end: { size, root: Buffer.from(root).toString("hex"), reason } };
}

/** A policy names at most 32 logs. */
const maxLogs = 32;

/** Reads the policy again once there is another log, because the policy then names that log, too. */
function policyReader({ db, clock, config }: Deps, own: () => Promise<StoredTree[]>) {
  let read: { keys: string; policy: PublishedPolicy } | undefined;
  return async (): Promise<PublishedPolicy | null> => {
    if (config.logPolicy === null) return null;
    const trees = (await own()).filter(({ log }) => environmentOf(log) === "live").reverse();
    const keys = trees.map(({ noteKey }) => noteKey).join(" ");
    if (read?.keys === keys) return read.policy;
    const ownLogs = trees.map(({ log, noteKey: key }) => ({ key, url: `${config.baseUrl}/log/${log}` }));
    const policy = await readLogPolicy(config.logPolicy, ownLogs.slice(0, maxLogs));
    await publishPolicy(db, "live", policy.sha256, policy.text, clock());
    read = { keys, policy };
    return policy;
  };
}

/**
 * A log that ended at `size`, and facts about the next log. `successor`: the next log's origin. `key`: its public key.
 * `keyPath`: the path of its key file on this node. `isNew` is false when the log at `origin` had already ended before
 * this call.
 */
export type RetiredLog = {
  origin: string;
  isNew: boolean;
  size: number;
  successor: string;
  key: string;
  keyPath: string;
};

/**
 * Ends a log and begins the next one, or completes an end that was interrupted.
 * @throws StartupError where `retireLog` does, and when the next log does not begin
 */
export async function retireAndBegin(deps: Deps, origin: string, reason: LogEndReason): Promise<RetiredLog> {
  const { db, config } = deps;
  const keys = await openLogs(db, config);
  const isNew = await retireLog({ ...deps, keys }, origin, reason);
  const sequencer = createSequencer({ ...deps, keys, intervalMs: config.logIntervalMs });
  for (let turn = 0; turn < 4; turn++) await sequencer.turn();
  const trees = await selectTrees(db);
  const ended = trees.find((tree) => tree.origin === origin);
  const next = trees.find((tree) => tree.noteKey === ended?.successorKey);
  if (!ended || ended.finalSize === null || !next) {
    const why = ended && sequencer.halted().get(environmentOf(ended.log));
    throw new StartupError(`${origin} has not ended yet${why ? `: ${why}` : ""}: run this again`);
  }
  const keyPath = keys.pathOf(next.log);
  return { origin, isNew, size: ended.finalSize, successor: next.origin, key: next.noteKey, keyPath };
}

/** Adds a gauge for each log: 1 if it is halted on this node, else 0. */
export function logMetrics(metrics: Metrics, { halted }: TransparencyLog): void {
  const help = "Whether the transparency log halts on this node, instead of contradicting itself: 1 or 0.";
  metrics.gauge("log_halted", help, "log", async () => new Map(logs.map((log) => [log, Number(halted().has(log))])));
}

/** @throws LogHalt with the reason when a log is halted on this node */
export function requireUnhalted({ halted }: Pick<TransparencyLog, "halted">): void {
  const [first] = halted();
  if (first) throw new LogHalt(`the ${first[0]} log halts: ${first[1]}`);
}

/** The state of a log, for operators. */
export type LogStatus = {
  log: LogName;
  origin: string;
  key: string;
  size: number;
  /** The number of waiting lines, including forged ones, which never get a leaf. 0 for a log that has a next log. */
  waiting: number;
  notWritten: number;
  oldestWaitingAt: Date | null;
  /** The reason why the log is halted, and what to do; null when it works. */
  halted: string | null;
  /** The time and reason of the log's end; null while it grows. New lines wait for the next log. */
  ended: { at: Date; reason: LogEndReason } | null;
  witnesses: AskedWitness[];
};

type StatusDeps = Pick<Deps, "db" | "rowMac" | "config">;

/** Checks growing logs as the sequencer does, and ended logs' rows. @returns an empty list before there is a log */
export async function logStatuses(deps: StatusDeps): Promise<LogStatus[]> {
  const { db, rowMac, config } = deps;
  const keys = logKeys(config);
  const trees = await selectTrees(db);
  const statuses: LogStatus[] = [];
  for (const tree of trees) {
    const { log, origin, noteKey: key, endReason, endedAt } = tree;
    const environment = environmentOf(log);
    const isCurrent = trees.findLast((one) => environmentOf(one.log) === environment) === tree;
    const none = { waiting: 0, oldestWaitingAt: null, notWritten: 0 };
    const queue = isCurrent ? await selectQueue(db, rowMac, environment) : none;
    const ended = endedAt && endReason && { at: endedAt, reason: endReason };
    const halted = await whyHalted({ db, rowMac, keys }, tree, isCurrent);
    const size = tree.finalSize ?? tree.size;
    statuses.push({ log, origin, key, size, ...queue, halted, ended, witnesses: await selectWitnesses(db, log) });
  }
  return statuses;
}

async function whyHalted(
  { db, rowMac, keys }: { db: Sql; rowMac: RowMac; keys: LogKeys },
  tree: StoredTree,
  isCurrent: boolean,
): Promise<string | null> {
  if (tree.finalSize !== null) {
    if (!treeHolds(rowMac, tree)) return "the tree's row was changed outside the service";
    return isCurrent ? "it ends, and the next log has not begun: start the service, or run log retire again" : null;
  }
  try {
    await examineTree(db, { rowMac, keys }, tree);
    return null;
  } catch (error) {
    if (error instanceof LogHalt || error instanceof StartupError) return error.message;
    throw error;
  }
}

import { parseCheckpoint, parseNoteKey, verifyNote } from "@signsealship/evidence/log";
import type { Environment } from "../../kernel/identity/identity.ts";
import { type Clock, minuteMs } from "../../kernel/platform/clock.ts";
import { type Database, longStatements, type Sql, type Tx } from "../../kernel/platform/database/database.ts";
import type { Log } from "../../kernel/platform/logs.ts";
import type { RowMac } from "../../kernel/platform/row-mac.ts";
import { examineTree } from "./examine.ts";
import { edgePlaces, grow, LogHalt } from "./grow.ts";
import { readHighWater, writeHighWater } from "./high-water.ts";
import type { LogKeys } from "./key.ts";
import { dropRepeated, lineHolds, numberWaiting, selectWaiting, type WaitingLine } from "./queue.ts";
import { succeed } from "./retire.ts";
import {
  insertCheckpoint,
  type Outlook,
  type StoredCheckpoint,
  selectNewestCheckpoint,
  selectOutlook,
  selectTiles,
  tryLock,
  writeGrowth,
} from "./store.ts";
import { currentTree, type LogName, type StoredTree } from "./trees.ts";

export type SequencerDeps = {
  db: Database;
  rowMac: RowMac;
  clock: Clock;
  log: Log;
  keys: LogKeys;
  /** The shortest time between two batches of one log, across all nodes. */
  intervalMs: number;
};

export type Sequencer = {
  /**
   * Assigns leaves to waiting lines, and signs the tree after the leaves are committed. Only the node that gets the
   * lock does this.
   * @param stopping ends the turn after its present step. The next turn, here or on another node, continues.
   */
  turn: (stopping?: AbortSignal) => Promise<void>;
  /** For each log that is halted on this node, the reason. */
  halted: () => ReadonlyMap<Environment, string>;
  /**
   * The newest checkpoint that this node has accepted, from memory. It has only the log's signature. Null before the
   * first checkpoint, and while the log is halted.
   */
  newestSeen: (log: Environment) => string | null;
  /** The origin of the log that an environment has now, as this node saw it last; null before the first turn. */
  originSeen: (log: Environment) => string | null;
};

const maxLines = 10_000;
const failuresReportedMs = minuteMs;

export function createSequencer(deps: SequencerDeps): Sequencer {
  const halted = new Map<Environment, string>();
  const failures = failureReports(deps);
  const seen = new Map<LogName, number>();
  const newest = new Map<Environment, string>();
  const origins = new Map<Environment, string>();

  /**
   * Accepts the newest published checkpoint, even one that another node signed, and remembers it. So the node later
   * refuses a database that was restored from an older backup.
   */
  async function watch({ log, environment, published }: Outlook): Promise<void> {
    const before = seen.get(log);
    if (before === published && !halted.has(environment)) return;
    const tree = await examined(deps.db, deps, environment);
    // `published` is null before the first checkpoint. If another node has begun another log, the next turn reads that
    // log.
    if (published === null || tree.log !== log) return;
    newest.set(environment, await keepPublished(deps, tree));
    seen.set(log, published);
  }

  /** Signs the committed tree, and remembers the checkpoint, so that the next turn need not examine it again. */
  async function sign({ environment }: Outlook): Promise<void> {
    const signed = await deps.db.transaction((tx) => publish(tx, deps, environment));
    if (!signed) return;
    newest.set(environment, signed.note);
    seen.set(signed.log, signed.size);
  }

  /** For a log that ends, signs its last checkpoint if that is not done yet. Then begins the next log. */
  async function end(outlook: Outlook, finalSize: number): Promise<void> {
    if ((outlook.published ?? -1) < finalSize) await sign(outlook);
    await deps.db.transaction((tx) => succeed(tx, deps, outlook.environment));
  }

  async function attempt(
    log: Environment,
    stopping: AbortSignal | undefined,
    work: () => Promise<void>,
  ): Promise<void> {
    try {
      await work();
      failures.end(log);
      if (halted.delete(log)) deps.log.info({ log }, "the transparency log goes on");
    } catch (error) {
      // While the service stops, the pool may close during a step, so an error of that step is expected.
      if (stopping?.aborted && !(error instanceof LogHalt)) return;
      if (!(error instanceof LogHalt)) return failures.report(log, error);
      if (halted.get(log) !== error.message)
        deps.log.error({ log, err: error }, "the transparency log halts; seals go on and wait");
      halted.set(log, error.message);
    }
  }

  return {
    halted: () => halted,
    originSeen: (log) => origins.get(log) ?? null,
    newestSeen: (log) => (halted.has(log) ? null : (newest.get(log) ?? null)),
    async turn(stopping) {
      for (const outlook of await selectOutlook(deps.db, deps.intervalMs)) {
        if (stopping?.aborted) return;
        const { environment, origin, finalSize, isDue } = outlook;
        origins.set(environment, origin);
        await attempt(environment, stopping, async () => {
          if (finalSize !== null) return end(outlook, finalSize);
          await watch(outlook);
          if (stopping?.aborted) return;
          const isGrown = isDue && (await deps.db.transaction((tx) => sequence(tx, deps, environment), longStatements));
          if (stopping?.aborted) return;
          if (isGrown || isUnpublished(outlook)) await sign(outlook);
        });
      }
    },
  };
}

/**
 * Reports errors that do not halt a log; the next turn tries again. The same failure is reported at most once a minute.
 */
function failureReports({ clock, log }: Pick<SequencerDeps, "clock" | "log">) {
  const reported = new Map<Environment, { message: string; at: number }>();
  return {
    report(name: Environment, error: unknown): void {
      const message = String(error);
      const at = clock().getTime();
      const last = reported.get(name);
      if (last?.message === message && at - last.at < failuresReportedMs) return;
      reported.set(name, { message, at });
      log.error({ log: name, err: error }, "a turn of the transparency log failed and will be tried again");
    },
    end: (name: Environment) => void reported.delete(name),
  };
}

const isUnpublished = ({ size, published }: Outlook): boolean => published === null || published < size;

/**
 * The tree of the log that an environment has now, if it may continue.
 * @throws LogHalt otherwise
 */
async function examined(db: Sql, deps: SequencerDeps, environment: Environment): Promise<StoredTree> {
  const tree = await currentTree(db, environment);
  if (!tree) throw new LogHalt("the log has no tree");
  await examineTree(db, deps, tree);
  return tree;
}

/**
 * Adds a batch of waiting lines to the environment's log.
 * @returns whether the log's tree grew
 */
async function sequence(tx: Tx, deps: SequencerDeps, environment: Environment): Promise<boolean> {
  if (!(await tryLock(tx, environment))) return false;
  // Checks again that a batch is due, because another node may have added a batch since this turn began.
  if (!(await selectOutlook(tx, deps.intervalMs)).some((one) => one.environment === environment && one.isDue))
    return false;
  const tree = await examined(tx, deps, environment);
  if (tree.finalSize !== null) return false;
  const { lines, repeated } = unrepeated(await writtenLines(tx, deps, environment));
  if (lines.length > 0 && !(await extend(tx, tree, lines))) return false;
  if (repeated.length > 0) await dropRepeated(tx, environment, repeated);
  return lines.length > 0;
}

/**
 * Separates the lines that need a leaf from repeated lines. A line that is twice in the queue, or that already has a
 * leaf, gets no other leaf. But a line whose leaf is `uncovered` gets a new one.
 * @throws LogHalt when a line has a forged leaf
 */
function unrepeated(waiting: readonly WaitingLine[]): { lines: WaitingLine[]; repeated: WaitingLine[] } {
  const lines = new Map<string, WaitingLine>();
  const repeated = waiting.filter((one) => {
    if (one.leaf === "forged")
      throw new LogHalt(`log_leaves has a forged row that no tree contains, of the waiting line ${one.line.trimEnd()}`);
    if (one.leaf === "covered" || lines.has(one.line)) return true;
    lines.set(one.line, one);
    return false;
  });
  return { lines: [...lines.values()], repeated };
}

/**
 * Appends lines to the tree.
 * @returns whether the tree grew; false when another node has grown it in the meantime
 */
async function extend(tx: Tx, tree: StoredTree, lines: readonly WaitingLine[]): Promise<boolean> {
  const edge = await selectTiles(tx, tree.log, edgePlaces(tree.size));
  const { size, root, tiles } = await grow(
    tree,
    edge,
    lines.map(({ line }) => line),
  );
  // The write fails if the tree's size has changed. That happens when this node lost the lock, because its connection
  // broke, and another node then grew the tree.
  if (!(await writeGrowth(tx, { tree: { ...tree, size, root }, from: tree.size, tiles }))) return false;
  await numberWaiting(tx, tree.log, tree.size, lines);
  return true;
}

/** The waiting lines that the service wrote. Forged lines wait forever, and `doctor` counts them. */
async function writtenLines(tx: Tx, { rowMac }: SequencerDeps, log: Environment): Promise<WaitingLine[]> {
  for (let after = 0; ; ) {
    const page = await selectWaiting(tx, log, after, maxLines);
    const written = page.filter((line) => lineHolds(rowMac, log, line));
    if (written.length > 0 || page.length < maxLines) return written;
    after = page.at(-1)?.id ?? after;
  }
}

/**
 * Writes the newest checkpoint of the database to this node's high-water file, unless the file has that checkpoint or a
 * larger one.
 * @returns the checkpoint's note
 * @throws LogHalt when the log's key did not sign it
 */
async function keepPublished({ db, keys }: SequencerDeps, { log, noteKey }: StoredTree): Promise<string> {
  const keyPath = keys.pathOf(log);
  const newest = await selectNewestCheckpoint(db, log);
  const highWater = await readHighWater(keyPath);
  if (!newest) throw new LogHalt("the newest checkpoint of the database is gone");
  if (highWater && highWater.size >= newest.size) return newest.note;
  const { note } = parseCheckpoint(newest.note);
  if ((await verifyNote(note, await parseNoteKey(noteKey))) !== "signed")
    throw new LogHalt("the log's key did not sign the newest checkpoint of the database");
  await writeHighWater(keyPath, newest.note);
  return newest.note;
}

type Signed = { log: LogName } & StoredCheckpoint;

/**
 * Signs the committed tree. Writes the checkpoint durably to this node's file before anybody can read it from the
 * database.
 * @returns null when another node has the lock, or when the log ended at a smaller size than the tree has
 */
async function publish(tx: Tx, deps: SequencerDeps, environment: Environment): Promise<Signed | null> {
  if (!(await tryLock(tx, environment))) return null;
  const tree = await examined(tx, deps, environment);
  const { log, size, root, finalSize } = tree;
  // The log ended at an earlier checkpoint, which is smaller than the tree. The later leaves go into the next log.
  if (finalSize !== null && finalSize < size) return null;
  const signer = await deps.keys.open(tree);
  const note = signer.signed(size, root);
  await writeHighWater(deps.keys.pathOf(log), note);
  await insertCheckpoint(tx, log, { size, note }, deps.clock());
  return { log, size, note };
}

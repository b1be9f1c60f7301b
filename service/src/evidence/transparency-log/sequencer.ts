import { parseCheckpoint, parseNoteKey, verifyNote } from "@signsealship/evidence/log";
import type { Environment } from "../../kernel/identity/identity.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import { type Database, longStatements, type Sql, type Tx } from "../../kernel/platform/database/database.ts";
import type { Log } from "../../kernel/platform/logs.ts";
import type { RowMac } from "../../kernel/platform/row-mac.ts";
import { edgePlaces, grow, LogHalt } from "./grow.ts";
import { readHighWater, requireBeginsWith, writeHighWater } from "./high-water.ts";
import type { LogSigner } from "./key.ts";
import {
  haltedSince,
  insertCheckpoint,
  lineHolds,
  type Outlook,
  type StoredTree,
  selectNewestCheckpoint,
  selectOutlook,
  selectTiles,
  selectTree,
  selectWaiting,
  treeHolds,
  tryLock,
  type WaitingLine,
  writeGrowth,
} from "./store.ts";

export type LogFiles = { signer: LogSigner; keyPath: string };

export type SequencerDeps = {
  db: Database;
  rowMac: RowMac;
  clock: Clock;
  log: Log;
  files: Readonly<Record<Environment, LogFiles>>;
  /** The shortest time between two batches of one log, across all nodes. */
  intervalMs: number;
};

export type Sequencer = {
  /**
   * Assigns leaves to waiting lines, and signs what is committed. Of several nodes, only the node that gets the lock
   * does this.
   */
  turn: () => Promise<void>;
  /** Why each halted log is halted on this node. */
  halted: () => ReadonlyMap<Environment, string>;
  /**
   * The newest checkpoint that this node has accepted, with only the log's signature; null before the first checkpoint.
   * It is kept in memory.
   */
  newestSeen: (log: Environment) => string | null;
};

const mostLines = 10_000;
const failuresReportedMs = 60_000;

export function createSequencer(deps: SequencerDeps): Sequencer {
  const halted = new Map<Environment, string>();
  const reported = new Map<Environment, { message: string; at: number }>();
  const seen = new Map<Environment, number>();
  const newest = new Map<Environment, string>();

  /**
   * A node also remembers the checkpoints that other nodes published. So it refuses an older database, even if another
   * node signed last.
   */
  async function watch({ log, published }: Outlook): Promise<void> {
    const before = seen.get(log);
    if (before === published && !halted.has(log)) return;
    await examineTree(deps.db, deps, log);
    if (published === null) return;
    newest.set(log, await keepPublished(deps, log));
    seen.set(log, published);
  }

  async function attempt(log: Environment, work: () => Promise<void>): Promise<void> {
    try {
      await work();
      reported.delete(log);
      if (halted.delete(log)) deps.log.info({ log }, "the transparency log goes on");
    } catch (error) {
      if (!(error instanceof LogHalt)) return reportFailure(log, error);
      if (halted.get(log) !== error.message)
        deps.log.error({ log, err: error }, "the transparency log halts; seals go on and wait");
      halted.set(log, error.message);
    }
  }

  /** A log that fails for a reason other than a halt is retried in each turn. Its failure is logged once a minute. */
  function reportFailure(log: Environment, error: unknown): void {
    const message = String(error);
    const at = deps.clock().getTime();
    const last = reported.get(log);
    if (last?.message === message && at - last.at < failuresReportedMs) return;
    reported.set(log, { message, at });
    deps.log.error({ log, err: error }, "a turn of the transparency log failed and will be tried again");
  }

  return {
    halted: () => halted,
    newestSeen: (log) => (halted.has(log) ? null : (newest.get(log) ?? null)),
    async turn() {
      for (const outlook of await selectOutlook(deps.db, deps.intervalMs)) {
        const { log } = outlook;
        await attempt(log, async () => {
          await watch(outlook);
          const isGrown = outlook.isDue && (await deps.db.transaction((tx) => sequence(tx, deps, log), longStatements));
          if (isGrown || isUnpublished(outlook)) await deps.db.transaction((tx) => publish(tx, deps, log));
        });
      }
    },
  };
}

const isUnpublished = ({ size, published }: Outlook): boolean => published === null || published < size;

/**
 * The tree, if it may continue: the service wrote its row, this node has its key, and it extends all checkpoints that
 * this node signed.
 * @throws LogHalt otherwise
 */
export async function examineTree(
  db: Sql,
  { rowMac, files }: Pick<SequencerDeps, "rowMac" | "files">,
  log: Environment,
): Promise<StoredTree> {
  const tree = await selectTree(db, log);
  if (!tree) throw new LogHalt("the log has no tree");
  const { signer, keyPath } = files[log];
  if (tree.noteKey !== signer.key)
    throw new LogHalt(
      `the key of this node (${keyPath}) is not the log's: copy the key file of the node that began the log`,
    );
  const since = haltedSince(tree);
  if (since !== null)
    throw new LogHalt(
      `the database was restored from a backup at ${since.toISOString()}, and may lack entries that were published: run log recover`,
    );
  if (!treeHolds(rowMac, tree)) throw new LogHalt("the service did not write the tree's row as it is");
  const highWater = await readHighWater(keyPath);
  if (highWater) await requireBeginsWith(db, tree, highWater, "what this node signed last");
  const newest = await selectNewestCheckpoint(db, log);
  if (newest) await requireBeginsWith(db, tree, parseCheckpoint(newest.note), "the newest checkpoint");
  return tree;
}

/** @returns whether the tree grew */
async function sequence(tx: Tx, deps: SequencerDeps, log: Environment): Promise<boolean> {
  if (!(await tryLock(tx, log))) return false;
  const tree = await examineTree(tx, deps, log);
  const lines = await writtenLines(tx, deps, log);
  if (lines.length === 0) return false;
  const edge = await selectTiles(tx, log, edgePlaces(tree.size));
  const { size, root, tiles } = await grow(
    tree,
    edge,
    lines.map(({ line }) => line),
  );
  const leaves = lines.map(({ id }, i) => ({ id, leaf: tree.size + i }));
  // If the connection breaks, its lock is lost too, and another node may have grown the tree by now. The write detects
  // that by the tree's size.
  return writeGrowth(tx, { tree: { ...tree, size, root }, from: tree.size, leaves, tiles });
}

/** The waiting lines that the service wrote. Forged lines wait forever, and `doctor` counts them. */
async function writtenLines(tx: Tx, { rowMac }: SequencerDeps, log: Environment): Promise<WaitingLine[]> {
  for (let after = 0; ; ) {
    const page = await selectWaiting(tx, log, after, mostLines);
    const written = page.filter((line) => lineHolds(rowMac, log, line));
    if (written.length > 0 || page.length < mostLines) return written;
    after = page.at(-1)?.id ?? after;
  }
}

/** Remembers the newest checkpoint of the database as this node's own high-water mark, if this log signed it. */
async function keepPublished({ db, files }: SequencerDeps, log: Environment): Promise<string> {
  const { signer, keyPath } = files[log];
  const newest = await selectNewestCheckpoint(db, log);
  const kept = await readHighWater(keyPath);
  if (!newest) throw new LogHalt("the newest checkpoint of the database is gone");
  if (kept && kept.size >= newest.size) return newest.note;
  const { note } = parseCheckpoint(newest.note);
  if ((await verifyNote(note, await parseNoteKey(signer.key))) !== "signed")
    throw new LogHalt("the log's key did not sign the newest checkpoint of the database");
  await writeHighWater(keyPath, newest.note);
  return newest.note;
}

/** Signs the committed tree. The file is durable before the checkpoint can be read. */
async function publish(tx: Tx, deps: SequencerDeps, log: Environment): Promise<void> {
  if (!(await tryLock(tx, log))) return;
  const { size, root } = await examineTree(tx, deps, log);
  const { signer, keyPath } = deps.files[log];
  const note = signer.signed(size, root);
  await writeHighWater(keyPath, note);
  await insertCheckpoint(tx, log, { size, note }, deps.clock());
}

import { formatEntry, type LogEndReason, parseCheckpoint, parseNoteKey, verifyNote } from "@signsealship/evidence/log";
import { auditLine } from "../../kernel/audit/audit.ts";
import type { Environment } from "../../kernel/identity/identity.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import { type Database, longStatements, type Sql, type Tx } from "../../kernel/platform/database/database.ts";
import { StartupError } from "../../kernel/platform/errors.ts";
import type { RowMac } from "../../kernel/platform/row-mac.ts";
import { examineTree, successorName } from "./examine.ts";
import { edgePlaces, emptyRoot, grow, LogHalt } from "./grow.ts";
import { readHighWater, requireBeginsWith } from "./high-water.ts";
import type { LogKeys, LogSigner } from "./key.ts";
import { queueUncovered } from "./queue.ts";
import {
  insertLeaves,
  type StoredCheckpoint,
  selectCheckpoint,
  selectNewestCheckpoint,
  selectTiles,
  waitForLock,
  writeGrowth,
} from "./store.ts";
import {
  currentTree,
  endTree,
  environmentOf,
  haltedSince,
  insertTree,
  noEnd,
  type StoredTree,
  selectTrees,
  type Tree,
  treeHolds,
} from "./trees.ts";

type RetireDeps = { db: Database; rowMac: RowMac; clock: Clock; keys: LogKeys };

/** The NAME part of a log's origin, `HOST/log/NAME`. */
const nameIn = (origin: string): string => origin.slice(origin.lastIndexOf("/") + 1);

/**
 * Ends a log permanently, and determines the key of the next log. The sequencer then signs the last checkpoint and
 * begins the next log, also after a crash.
 *
 * After a `rotation` the log's last entry names the next key, so that the old key vouches for the new one. If the log's
 * key was stolen (`key-compromise`) or its published entries were lost (`lost`), nothing more may be signed. Such a log
 * ends with its newest stored checkpoint. Entries beyond that checkpoint wait for the next log.
 * @returns whether the log ended now; false when it had ended before
 * @throws StartupError for an unknown origin, and for a log that can't end for this reason
 */
export async function retireLog(deps: RetireDeps, origin: string, reason: LogEndReason): Promise<boolean> {
  return deps.db.transaction(async (tx) => {
    const trees = await selectTrees(tx);
    const existing = trees.find((tree) => tree.origin === origin);
    if (!existing)
      throw new StartupError(`no log ${origin} here, but ${trees.map((tree) => tree.origin).join(" and ") || "none"}`);
    await waitForLock(tx, environmentOf(existing.log));
    const tree = await currentTree(tx, environmentOf(existing.log));
    if (tree?.log !== existing.log || tree.finalSize !== null) return false;
    const at = deps.clock();
    const final = reason === "rotation" ? null : await newestSigned(tx, deps, tree);
    if (final && reason === "key-compromise") await requireNothingLost(deps, tree, final);
    if (final === null) await examined(tx, deps, tree);
    const { key } = await successorOf(deps, tree);
    const end = { successorKey: key, endReason: reason, endedAt: at };
    if (final) {
      await endTree(tx, { ...tree, ...end, finalSize: final.size });
      await queueUncovered(tx, tree.log, final.size);
    } else {
      const line = formatEntry({ kind: "logkey/v1", key, change: "next" });
      const grown = await append(tx, tree, [line], at);
      await endTree(tx, { ...grown, ...end, finalSize: grown.size });
    }
    const detail = { origin, reason, successorKey: key };
    await tx.query(auditLine({ at, action: "log.retired", actor: "operator", detail }));
    return true;
  }, longStatements);
}

async function examined(tx: Tx, deps: RetireDeps, tree: StoredTree): Promise<void> {
  try {
    await examineTree(tx, deps, tree);
  } catch (error) {
    if (!(error instanceof LogHalt)) throw error;
    throw new StartupError(
      `${tree.origin} halts, and can't sign its last entry: ${error.message}. To give up what it lacks, name --reason lost`,
    );
  }
}

/**
 * The newest stored checkpoint of a log.
 * @throws StartupError when there is none, when the log's key did not sign it, or when the tree does not extend it.
 * Also when the tree's row has no valid MAC and this node doesn't have the log's key
 */
async function newestSigned(tx: Tx, { rowMac, keys }: RetireDeps, tree: StoredTree): Promise<StoredCheckpoint> {
  const isOwn = treeHolds(rowMac, tree) || (await hasKeyOf(keys, tree));
  if (!isOwn) throw new StartupError(`the service did not write the row of ${tree.origin}`);
  const newest = await selectNewestCheckpoint(tx, tree.log);
  if (!newest) throw new StartupError(`${tree.origin} has no checkpoint yet: start the service first`);
  const checkpoint = parseCheckpoint(newest.note);
  if ((await verifyNote(checkpoint.note, await parseNoteKey(tree.noteKey))) !== "signed")
    throw new StartupError(`the key of ${tree.origin} did not sign its newest checkpoint`);
  try {
    await requireBeginsWith(tx, tree, checkpoint, "the newest checkpoint");
  } catch (error) {
    throw error instanceof LogHalt ? new StartupError(error.message) : error;
  }
  return newest;
}

/**
 * Refuses to end a log as `key-compromise` when published entries are lost: the end would state a smaller size than the
 * published one. Such a log must end as `lost`.
 */
async function requireNothingLost({ keys }: RetireDeps, tree: Tree, { size }: StoredCheckpoint): Promise<void> {
  const high = await readHighWater(keys.pathOf(tree.log));
  if (haltedSince(tree) === null && (high === null || high.size <= size)) return;
  throw new StartupError(
    `the database lacks a checkpoint of ${tree.origin} that this node signed: start the service or run log recover, or name --reason lost`,
  );
}

/**
 * True if this node has the key of a log. After the database was restored, only this shows that the service wrote the
 * tree's row, because the row has no valid MAC.
 */
export async function hasKeyOf(keys: LogKeys, tree: StoredTree): Promise<boolean> {
  try {
    return (await keys.open(tree)).key === tree.noteKey;
  } catch (error) {
    if (error instanceof LogHalt) return false;
    throw error;
  }
}

/**
 * Makes the key of the next log. If this node has already signed for a log of the next name, the database has lost that
 * log, and the name is skipped.
 */
async function successorOf({ keys }: RetireDeps, { log, origin }: Tree): Promise<LogSigner> {
  let skip = 0;
  while (await readHighWater(keys.pathOf(successorName(log, skip)))) skip += 1;
  const name = successorName(log, skip);
  return keys.create({ log: name, origin: `${origin.slice(0, -log.length)}${name}` });
}

/**
 * Begins the next log after a log has ended and its last checkpoint is signed; does nothing before that. The first
 * entry of the new log ends the old key. The second entry states the final size and root of the old log.
 * @param restoredAt null, or the time of a database restore. After a restore, the new log is halted, because the
 * database may lack entries of it
 * @throws LogHalt for a tree that the service did not write
 */
export async function succeed(
  tx: Tx,
  { rowMac, clock }: Pick<RetireDeps, "rowMac" | "clock">,
  environment: Environment,
  restoredAt: Date | null = null,
): Promise<void> {
  await waitForLock(tx, environment);
  const tree = await currentTree(tx, environment);
  if (!tree || tree.finalSize === null || tree.successorKey === null || tree.endReason === null) return;
  const final = await selectCheckpoint(tx, tree.log, tree.finalSize);
  if (!final) return;
  // A restore changes the tree's row, but not its MAC. The next log may have begun before the restore, so it must not
  // be begun again here.
  if (!treeHolds(rowMac, tree))
    throw new LogHalt(
      haltedSince(tree) === null
        ? "the tree's row was changed outside the service"
        : "the database was restored from a backup that was made while this log ended: run log recover",
    );
  const { name } = await parseNoteKey(tree.successorKey);
  const empty = { size: 0, root: emptyRoot, restoredAt, recoveredAt: null, ...noEnd };
  const next: Tree = { log: nameIn(name), origin: name, noteKey: tree.successorKey, ...empty };
  await insertTree(tx, next);
  await append(tx, next, firstLines(tree.noteKey, tree.endReason, final), clock());
}

/** The first entries of a log that follows another one. */
function firstLines(key: string, reason: LogEndReason, final: StoredCheckpoint): string[] {
  const { origin, size, root } = parseCheckpoint(final.note);
  const rootInHex = Buffer.from(root).toString("hex");
  return [
    formatEntry({ kind: "logkey/v1", key, change: "end" }),
    formatEntry({ kind: "end/v1", origin, size: String(size), root: rootInHex, reason }),
  ];
}

/**
 * Computes the entries with which the logs of an environment ended and began, from the rows of their trees. No other
 * table records these entries.
 */
export async function successionLines(db: Sql, environment: Environment): Promise<{ line: string; at: Date }[]> {
  const lines: { line: string; at: Date }[] = [];
  for (const { log, noteKey, finalSize, successorKey, endReason, endedAt: at } of await selectTrees(db)) {
    if (environmentOf(log) !== environment || finalSize === null || !successorKey || !endReason || !at) continue;
    const final = await selectCheckpoint(db, log, finalSize);
    const last = formatEntry({ kind: "logkey/v1", key: successorKey, change: "next" });
    const texts = [
      ...(endReason === "rotation" ? [last] : []),
      ...(final ? firstLines(noteKey, endReason, final) : []),
    ];
    lines.push(...texts.map((text) => ({ line: text.trimEnd(), at })));
  }
  return lines;
}

/**
 * Appends lines to a tree whose log is locked.
 * @returns the grown tree
 */
async function append(tx: Tx, tree: Tree, lines: readonly string[], at: Date): Promise<Tree> {
  const { size, root, tiles } = await grow(tree, await selectTiles(tx, tree.log, edgePlaces(tree.size)), lines);
  const grown = { ...tree, size, root };
  if (!(await writeGrowth(tx, { tree: grown, from: tree.size, tiles })))
    throw new Error(`${tree.origin} grew while it was locked`);
  await insertLeaves(tx, tree.log, tree.size, lines, at);
  return grown;
}

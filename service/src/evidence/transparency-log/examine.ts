import { parseCheckpoint } from "@signsealship/evidence/log";
import type { Sql } from "../../kernel/platform/database/database.ts";
import type { RowMac } from "../../kernel/platform/row-mac.ts";
import { LogHalt } from "./grow.ts";
import { readHighWater, requireBeginsWith } from "./high-water.ts";
import type { LogKeys } from "./key.ts";
import { selectNewestCheckpoint, selectStrayLeaf } from "./store.ts";
import { environmentOf, generationOf, haltedSince, type LogName, type StoredTree, treeHolds } from "./trees.ts";

export type ExamineDeps = { rowMac: RowMac; keys: LogKeys };

/**
 * The name of the log that comes after this one, such as `live-2` after `live`. `skip`: how many names in between to
 * leave out.
 */
export const successorName = (log: LogName, skip = 0): LogName =>
  `${environmentOf(log)}-${generationOf(log) + 1 + skip}`;

/**
 * Checks that a log may continue:
 * - This node has the log's key.
 * - The service wrote the row of the log's tree.
 * - The log is not waiting for a recovery after a restore of the database.
 * - Every leaf is in a tree.
 * - This node has not seen a next log.
 * - The tree extends the checkpoint in this node's high-water file, and the newest stored checkpoint.
 * @throws LogHalt otherwise
 */
export async function examineTree(db: Sql, { rowMac, keys }: ExamineDeps, tree: StoredTree): Promise<void> {
  const signer = await keys.open(tree);
  const keyPath = keys.pathOf(tree.log);
  if (tree.noteKey !== signer.key)
    throw new LogHalt(
      `the key of this node (${keyPath}) is not the log's: copy the key file of the node that began the log`,
    );
  const since = haltedSince(tree);
  if (since !== null)
    throw new LogHalt(
      `the database was restored from a backup at ${since.toISOString()}, and may lack entries that were published: run log recover`,
    );
  if (!treeHolds(rowMac, tree)) throw new LogHalt("the tree's row was changed outside the service");
  const stray = await selectStrayLeaf(db, environmentOf(tree.log));
  if (stray)
    throw new LogHalt(
      `log_leaves has a forged row: the tree of ${stray.log} has no leaf ${stray.leaf}. Find out who wrote the row, and delete it`,
    );
  const next = successorName(tree.log);
  if (await readHighWater(keys.pathOf(next)))
    throw new LogHalt(
      `this node has seen the log ${next}, and the database does not have it: it is an older database. Run log recover, or log retire`,
    );
  const highWater = await readHighWater(keyPath);
  if (highWater) await requireBeginsWith(db, tree, highWater, "what this node signed last");
  const stored = await selectNewestCheckpoint(db, tree.log);
  const newest = stored && parseCheckpoint(stored.note);
  // If the newest checkpoint equals the one in this node's file, it has already been compared with the tree.
  if (newest && newest.note.text !== highWater?.note.text)
    await requireBeginsWith(db, tree, newest, "the newest checkpoint");
}

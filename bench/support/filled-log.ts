import { hash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { edgePlaces, grow } from "../../service/src/evidence/transparency-log/grow.ts";
import {
  insertLeaves,
  selectTiles,
  waitForLock,
  writeGrowth,
} from "../../service/src/evidence/transparency-log/store.ts";
import { currentTree } from "../../service/src/evidence/transparency-log/trees.ts";
import { type Database, longStatements } from "../../service/src/kernel/platform/database/database.ts";
import { sql } from "../../service/src/kernel/platform/database/sql.ts";
import { MacOfRow } from "../../service/src/kernel/platform/database/state-mac.ts";

/** The log entry with this number. Its commitment is artificial: it belongs to no sealed file. */
export const entryOf = (n: number) => ({ kind: "artifact/v1", commitment: hash("sha256", `bench ${n}`) }) as const;

const linesOf = (first: number, count: number): string[] =>
  Array.from({ length: count }, (_, i) => `artifact/v1 ${entryOf(first + i).commitment}\n`);

/** Queues entries for the sequencer. The rows are like those of the service, but one statement inserts many. */
export async function queueEntries(db: Database, first: number, count: number): Promise<void> {
  const lines = linesOf(first, count);
  const macs = lines.map((line) => new MacOfRow("log_entries", { log: "test", line }));
  await db.query(sql`
    INSERT INTO log_entries (log, line, queued_at, row_mac)
    SELECT 'test', line, now(), mac FROM unnest(${lines}::text[], ${macs}::bytea[]) AS n (line, mac)`);
}

const batch = 10_000;

/**
 * Grows the test log to this many leaves, without the pauses of the sequencer. This function holds the sequencer's
 * lock, so the sequencer waits. Afterwards, the running service checks and signs the log as its own.
 * @returns the number of the first added entry (for `entryOf`), and the index of its leaf
 */
export const fillLog = (db: Database, first: number, leaves: number): Promise<{ first: number; leaf: number }> =>
  db.transaction(async (tx) => {
    await waitForLock(tx, "test");
    const begun = await currentTree(tx, "test");
    if (!begun) throw new Error("the log has no tree");
    for (let tree = begun; tree.size < leaves; ) {
      const lines = linesOf(first + tree.size - begun.size, Math.min(batch, leaves - tree.size));
      await insertLeaves(tx, tree.log, tree.size, lines, new Date());
      const edge = await selectTiles(tx, tree.log, edgePlaces(tree.size));
      const { size, root, tiles } = await grow(tree, edge, lines);
      await writeGrowth(tx, { tree: { ...tree, size, root }, from: tree.size, tiles });
      tree = { ...tree, size, root };
    }
    return { first, leaf: begun.size };
  }, longStatements);

/** Waits until the service has numbered and signed all entries. @returns how many there are */
export async function published(db: Database): Promise<number> {
  for (;;) {
    const [log] = await db.query<{ size: number; isSigned: boolean }>(sql`
      SELECT size, size = (SELECT max(size) FROM log_checkpoints WHERE log = 'test')
        AND NOT EXISTS (SELECT FROM log_entries WHERE log = 'test') AS "isSigned"
      FROM log_trees WHERE log = 'test'`);
    if (log?.isSigned) return log.size;
    await sleep(20);
  }
}

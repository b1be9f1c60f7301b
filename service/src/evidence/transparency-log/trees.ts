import type { LogEndReason } from "@signsealship/evidence/log";
import type { Environment } from "../../kernel/identity/identity.ts";
import type { Sql, Tx } from "../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { MacOfRow } from "../../kernel/platform/database/state-mac.ts";
import type { MacTable } from "../../kernel/platform/protected-data.ts";
import type { Members, RowMac } from "../../kernel/platform/row-mac.ts";

/** The environments. Each has one log at a time. */
export const logs = ["live", "test"] as const satisfies readonly Environment[];

/** The name of a log: `live` or `test` for the first log, `live-2` for the one that follows `live`. */
export type LogName = string;

const nameForm = /^(live|test)(?:-([2-9]|[1-9]\d{1,2}))?$/;

export const isLogName = (text: string): boolean => nameForm.test(text);

export const environmentOf = (log: LogName): Environment => (log.startsWith("live") ? "live" : "test");

/** The number of the log: 1 for the first log of an environment. */
export const generationOf = (log: LogName): number => Number(nameForm.exec(log)?.[2] ?? 1);

/**
 * The facts about a log's end. All four are null while the log grows. `finalSize` is the size of its last checkpoint.
 */
type End = {
  finalSize: number | null;
  successorKey: string | null;
  endReason: LogEndReason | null;
  endedAt: Date | null;
};

export const noEnd: End = { finalSize: null, successorKey: null, endReason: null, endedAt: null };

/** The time when the database was last restored from a backup, and when an operator last recovered the log. */
type Restores = { restoredAt: Date | null; recoveredAt: Date | null };

/** The row of a tree, which is authoritative: `root` is the root of the first `size` leaves. */
export type Tree = { log: LogName; origin: string; noteKey: string; size: number; root: Buffer } & Restores & End;

export type StoredTree = Tree & { mac: Buffer };

/**
 * The MAC covers facts about a restore only after a restore, and facts about an end only after the log's end. So the
 * MACs that earlier releases wrote stay valid.
 */
export const treeMembers = (tree: Tree): Members => ({
  log: tree.log,
  origin: tree.origin,
  noteKey: tree.noteKey,
  size: tree.size,
  root: tree.root.toString("hex"),
  ...((tree.restoredAt ?? tree.recoveredAt) !== null && {
    restoredAt: tree.restoredAt,
    recoveredAt: tree.recoveredAt,
  }),
  ...(tree.finalSize !== null && {
    finalSize: tree.finalSize,
    successorKey: tree.successorKey,
    endReason: tree.endReason,
    endedAt: tree.endedAt,
  }),
});

const treeColumns = sql`log, origin, note_key AS "noteKey", size, root, restored_at AS "restoredAt",
  recovered_at AS "recoveredAt", final_size AS "finalSize", successor_key AS "successorKey", end_reason AS "endReason",
  ended_at AS "endedAt", row_mac AS mac`;

export const treeRows: MacTable<StoredTree> = {
  table: sql`log_trees`,
  key: sql`log`,
  mac: sql`row_mac`,
  rows: sql`SELECT log AS key, ${treeColumns} FROM log_trees`,
  members: treeMembers,
};

export const treeHolds = (rowMac: RowMac, tree: StoredTree): boolean =>
  rowMac.holds("log_trees", treeMembers(tree), tree.mac);

export const insertTree = (db: Sql, tree: Tree): Promise<unknown[]> =>
  db.query(sql`
    INSERT INTO log_trees (log, origin, note_key, size, root, restored_at, row_mac)
    VALUES (${tree.log}, ${tree.origin}, ${tree.noteKey}, ${tree.size}, ${tree.root}, ${tree.restoredAt},
      ${new MacOfRow("log_trees", treeMembers(tree))})
    ON CONFLICT DO NOTHING`);

export async function selectTree(db: Sql, log: LogName): Promise<StoredTree | undefined> {
  const [tree] = await db.query<StoredTree>(sql`SELECT ${treeColumns} FROM log_trees WHERE log = ${log}`);
  return tree;
}

export async function treeOfOrigin(db: Sql, origin: string) {
  const [tree] = await db.query<{ log: string; environment: Environment; key: string }>(sql`
    SELECT log, environment, note_key AS key FROM log_trees WHERE origin = ${origin}`);
  return tree;
}

/** All trees, including those of logs that have ended. Earlier logs of an environment come first. */
export const selectTrees = (db: Sql): Promise<StoredTree[]> =>
  db.query<StoredTree>(sql`SELECT ${treeColumns} FROM log_trees ORDER BY environment, generation`);

/** For a SELECT list: a column from the tree row of an environment's current log. */
const ofCurrent = (environment: Environment, column: Statement): Statement =>
  sql`(SELECT ${column} FROM log_trees WHERE environment = ${environment} ORDER BY generation DESC LIMIT 1)`;

/** For a SELECT list: the origin of the log that an environment has now. */
export const originOfLog = (environment: Environment): Statement => ofCurrent(environment, sql`origin`);

/** The tree of the log that an environment has now. It may be about to end. */
export async function currentTree(db: Sql, environment: Environment): Promise<StoredTree | undefined> {
  const [tree] = await db.query<StoredTree>(sql`
    SELECT ${treeColumns} FROM log_trees WHERE log = ${ofCurrent(environment, sql`log`)}`);
  return tree;
}

/** Records that a log has ended. A trigger forbids later changes to this record. */
export const endTree = (tx: Tx, tree: Tree): Promise<unknown[]> =>
  tx.query(sql`
    UPDATE log_trees SET final_size = ${tree.finalSize}, successor_key = ${tree.successorKey},
      end_reason = ${tree.endReason}, ended_at = ${tree.endedAt},
      row_mac = ${new MacOfRow("log_trees", treeMembers(tree))}
    WHERE log = ${tree.log}`);

/**
 * Halts the logs of a database that was restored from a backup, because such a database doesn't show how far they had
 * grown. Leaves out logs that have a next log, because they have ended and lack nothing. Doesn't change the MAC: only a
 * recovery writes one that ends the halt. Each restore sets a later time, so that the MAC of an earlier recovery
 * doesn't end this halt.
 */
export const haltRestored = async (tx: Tx, at: Date): Promise<void> =>
  void (await tx.query(sql`
    UPDATE log_trees t SET restored_at = greatest(${at}, restored_at + interval '1 ms')
    WHERE NOT EXISTS (SELECT FROM log_trees l WHERE l.environment = t.environment AND l.generation > t.generation)`));

/**
 * The time of the restore that halted the log. Null without a restore, or if the log was recovered after the restore.
 */
export const haltedSince = ({ restoredAt, recoveredAt }: Restores): Date | null =>
  restoredAt !== null && (recoveredAt === null || recoveredAt < restoredAt) ? restoredAt : null;

/**
 * Ends the halt of a tree. The caller has checked that the tree is consistent with the newest published tree.
 * @returns the tree with the time of the recovery
 */
export async function endHalt(tx: Tx, tree: Tree, at: Date): Promise<Tree> {
  const { restoredAt } = tree;
  const recoveredAt = restoredAt !== null && restoredAt > at ? restoredAt : at;
  const recovered = { ...tree, recoveredAt };
  await tx.query(sql`
    UPDATE log_trees SET recovered_at = ${recoveredAt}, row_mac = ${new MacOfRow("log_trees", treeMembers(recovered))}
    WHERE log = ${tree.log}`);
  return recovered;
}

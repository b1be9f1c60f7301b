import type { Sql, Tx } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import {
  encodedKey,
  fetched,
  type Head,
  nameOf,
  type PresentRecord,
  presentRecords,
  type RecordName,
  type RecordState,
  type SetRoot,
} from "./records.ts";

export type StoredHead = Head & { takenAt: Date };

type HeadRow = { day: string; takenAt: Date; salt: Buffer; position: number; sha256: string; sets: SetRoot[] };

const headColumns = sql`to_char(day, 'YYYY-MM-DD') AS day, taken_at AS "takenAt", salt, audit_position AS position,
  audit_sha256 AS sha256, sets`;

const headOfRow = ({ position, sha256, ...row }: HeadRow): StoredHead => ({ ...row, audit: { position, sha256 } });

/** Selects all daily heads, the oldest first. */
export const selectHeads = async (db: Sql): Promise<StoredHead[]> =>
  (await db.query<HeadRow>(sql`SELECT ${headColumns} FROM audit_heads ORDER BY day`)).map(headOfRow);

export async function hasHead(db: Sql, day: string): Promise<boolean> {
  return (await db.query(sql`SELECT FROM audit_heads WHERE day = ${day}`)).length > 0;
}

const advisoryLock = 7_246_009;

/** Tries to acquire the lock for creating heads, so that only one transaction creates a head at a time. */
export async function tryHeadLock(tx: Tx): Promise<boolean> {
  const [lock] = await tx.query<{ ours: boolean }>(sql`SELECT pg_try_advisory_xact_lock(${advisoryLock}) AS ours`);
  return lock?.ours === true;
}

export const insertHead = (tx: Tx, { day, takenAt, salt, audit, sets }: StoredHead) =>
  tx.query(sql`
    INSERT INTO audit_heads (day, taken_at, salt, audit_position, audit_sha256, sets)
    VALUES (${day}, ${takenAt}, ${salt}, ${audit.position}, ${audit.sha256}, ${JSON.stringify(sets)}::jsonb)`);

/** A state of a row, and the day of the first head that covers it. */
export type Leaf = RecordName & RecordState & { day: string };

/** Yields the states of each row, row by row, oldest first. */
async function* statesByRow(tx: Tx): AsyncGenerator<Leaf[]> {
  await tx.query(sql`
    DECLARE states_by_row NO SCROLL CURSOR FOR
    SELECT source, row_key AS key, to_char(day, 'YYYY-MM-DD') AS day, firm, salt, digest FROM audit_leaves l
    ORDER BY source COLLATE "C", ${encodedKey(sql`row_key`)}, l.day`);
  let states: Leaf[] = [];
  for await (const leaf of fetched<Leaf>(tx, sql`states_by_row`)) {
    const [first] = states;
    if (first && nameOf(first) !== nameOf(leaf)) {
      yield states;
      states = [];
    }
    states.push(leaf);
  }
  if (states.length > 0) yield states;
}

/** A row with its recorded states, oldest first, and its present state; null for a deleted row. */
export type FollowedRow = { name: string; states: readonly Leaf[]; record: PresentRecord | null };

/**
 * All rows that have a recorded state or exist now, in the order of their lines. Reads two pages at a time, so memory
 * doesn't grow with the number of rows.
 */
export async function* followedRows(tx: Tx): AsyncGenerator<FollowedRow> {
  const [history, present] = [statesByRow(tx), presentRecords(tx)];
  let [before, now] = [await history.next(), await present.next()];
  while (!(before.done && now.done)) {
    const stored = before.done ? null : nameOf(before.value[0] ?? { source: "", key: "" });
    const shown = now.done ? null : nameOf(now.value);
    const name = stored === null || (shown !== null && shown < stored) ? (shown ?? "") : stored;
    const states = stored === name && !before.done ? before.value : [];
    const record = shown === name && !now.done ? now.value : null;
    yield { name, states, record };
    if (states.length > 0) before = await history.next();
    if (record) now = await present.next();
  }
}

export const insertLeaves = (tx: Tx, leaves: readonly Leaf[]) =>
  tx.query(sql`
    INSERT INTO audit_leaves (source, row_key, day, firm, salt, digest)
    SELECT * FROM unnest(${leaves.map(({ source }) => source)}::text[], ${leaves.map(({ key }) => key)}::text[],
      ${leaves.map(({ day }) => day)}::date[], ${leaves.map(({ firm }) => firm)}::text[],
      ${leaves.map(({ salt }) => salt)}::bytea[], ${leaves.map(({ digest }) => digest)}::bytea[])`);

import type { Sql, Tx } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { type Head, nameOf, type RecordName, type RecordState, type SetRoot } from "./records.ts";

export type StoredHead = Head & { takenAt: Date };

type HeadRow = { day: string; takenAt: Date; salt: Buffer; position: number; sha256: string; sets: SetRoot[] };

const headColumns = sql`to_char(day, 'YYYY-MM-DD') AS day, taken_at AS "takenAt", salt, audit_position AS position,
  audit_sha256 AS sha256, sets`;

const headOfRow = ({ position, sha256, ...row }: HeadRow): StoredHead => ({ ...row, audit: { position, sha256 } });

/** All heads, oldest first. */
export const selectHeads = async (db: Sql): Promise<StoredHead[]> =>
  (await db.query<HeadRow>(sql`SELECT ${headColumns} FROM audit_heads ORDER BY day`)).map(headOfRow);

export async function hasHead(db: Sql, day: string): Promise<boolean> {
  return (await db.query(sql`SELECT FROM audit_heads WHERE day = ${day}`)).length > 0;
}

const advisoryLock = 7_246_009;

/** Allows only one transaction at a time to take a head. */
export async function tryHeadLock(tx: Tx): Promise<boolean> {
  const [lock] = await tx.query<{ ours: boolean }>(sql`SELECT pg_try_advisory_xact_lock(${advisoryLock}) AS ours`);
  return lock?.ours === true;
}

export const insertHead = (tx: Tx, { day, takenAt, salt, audit, sets }: StoredHead) =>
  tx.query(sql`
    INSERT INTO audit_heads (day, taken_at, salt, audit_position, audit_sha256, sets)
    VALUES (${day}, ${takenAt}, ${salt}, ${audit.position}, ${audit.sha256}, ${JSON.stringify(sets)}::jsonb)`);

/** A state that a row had from a day on. */
export type Leaf = RecordName & RecordState & { day: string };

/** The states of each row, oldest first, by `nameOf`. */
export async function selectLeaves(db: Sql): Promise<Map<string, Leaf[]>> {
  const rows = await db.query<Leaf>(sql`
    SELECT source, row_key AS key, to_char(day, 'YYYY-MM-DD') AS day, firm, salt, digest FROM audit_leaves
    ORDER BY source, row_key, audit_leaves.day`);
  const leaves = new Map<string, Leaf[]>();
  for (const row of rows) {
    const states = leaves.get(nameOf(row));
    if (states) states.push(row);
    else leaves.set(nameOf(row), [row]);
  }
  return leaves;
}

export const insertLeaves = (tx: Tx, leaves: readonly Leaf[]) =>
  tx.query(sql`
    INSERT INTO audit_leaves (source, row_key, day, firm, salt, digest)
    SELECT * FROM unnest(${leaves.map(({ source }) => source)}::text[], ${leaves.map(({ key }) => key)}::text[],
      ${leaves.map(({ day }) => day)}::date[], ${leaves.map(({ firm }) => firm)}::text[],
      ${leaves.map(({ salt }) => salt)}::bytea[], ${leaves.map(({ digest }) => digest)}::bytea[])`);

import { appendFile, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Sql } from "./database/database.ts";
import { type Part, type Statement, sql } from "./database/sql.ts";
import type { MacTable } from "./protected-data.ts";
import type { Members, RowMac } from "./row-mac.ts";

/**
 * Kinds of objects that are revoked forever. A revocation is a row of its own that is never changed or removed. So an
 * attacker who restores an object's earlier row, with its valid MAC, can't undo the revocation.
 */
export type RevokedKind = "session" | "member" | "operator" | "passkey" | "recovery code" | "invitation" | "webhook";

/**
 * Kinds of objects whose revocations also survive a restore from an older backup. A partner key is named by its id, a
 * seal certificate by its SHA-256.
 */
export type DurableKind = "key" | "seal";

/**
 * Builds the INSERT of revocations. Run the INSERT in the transaction of the change that revokes: alone, or inside a
 * `WITH` clause of that change's statement.
 * @param subject the id of the revoked object; for a member or an operator, the version of the row that is replaced or
 * deleted
 * @param from the text after FROM. With it, the INSERT adds one revocation for each selected row; without it, one
 */
export const revocationRow = (
  kind: RevokedKind,
  subject: Part<string>,
  effectiveAt: Date,
  from: Statement = sql`(SELECT) AS one`,
): Statement => sql`INSERT INTO revocations (kind, subject, effective_at)
  SELECT ${kind}, (${subject})::text, ${effectiveAt}::timestamptz FROM ${from}`;

/**
 * SQL condition: any of these subjects (texts or nulls) is revoked. A column must be written with its table's name,
 * because the table of revocations also has an `id`.
 */
export const isRevoked = (now: Date, ...[first, ...more]: readonly [Statement, ...Statement[]]): Statement =>
  sql`EXISTS (SELECT FROM revocations WHERE effective_at <= ${now}
    AND subject IN (${more.reduce((list, subject) => sql`${list}, ${subject}`, first)}))`;

export async function wasRevoked(db: Sql, subject: string, now: Date): Promise<boolean> {
  const [found] = await db.query<{ ended: boolean }>(sql`SELECT ${isRevoked(now, sql`${subject}::text`)} AS ended`);
  return found?.ended === true;
}

export type DurableRevocation = { kind: DurableKind; subject: string; effectiveAt: Date; reason: string | null };

const table = "revocations";

const durableMembers = ({ kind, subject, effectiveAt, reason }: DurableRevocation): Members => ({
  kind,
  subject,
  effectiveAt,
  reason,
});

/**
 * Builds the INSERT of a revocation that every node also copies to its own file. The row's MAC keeps forged rows out of
 * these files. If an attacker removes the MAC, the revocation is restored from a file.
 */
export const durableRevocationRow = (rowMac: RowMac, revocation: DurableRevocation, from?: Statement): Statement => {
  const { kind, subject, effectiveAt, reason } = revocation;
  return sql`INSERT INTO revocations (kind, subject, effective_at, reason, row_mac)
  SELECT ${kind}::text, ${subject}::text, ${effectiveAt}::timestamptz, ${reason}::text,
    ${rowMac.of(table, durableMembers(revocation))}::bytea FROM ${from ?? sql`(SELECT) AS one`}
  ON CONFLICT (kind, subject, effective_at, reason) WHERE kind IN ('key', 'seal') DO UPDATE SET row_mac = excluded.row_mac`;
};

const durableColumns = sql`id::int8 AS id, kind, subject, effective_at AS "effectiveAt", reason, row_mac AS mac`;
type DurableRow = DurableRevocation & { id: number; mac: Buffer | null };

/**
 * The revocations of keys and of seal certificates that this service wrote, in the order in which they were recorded.
 */
export async function durableRevocations(db: Sql, rowMac: RowMac): Promise<DurableRevocation[]> {
  return (await storedRevocations(db, rowMac, "key", "seal")).filter(({ isAuthentic }) => isAuthentic);
}

/** SQL subquery: the rows that revoke this key or seal certificate, including rows without a valid MAC. */
export const revocationsOf = (subject: string): Statement => sql`SELECT FROM revocations WHERE subject = ${subject}`;

/**
 * All rows that revoke objects of these kinds, in the order in which they were recorded. A row without a valid MAC may
 * be forged, or an attacker may have removed its MAC.
 */
export async function storedRevocations(
  db: Sql,
  rowMac: RowMac,
  ...kinds: DurableKind[]
): Promise<(DurableRevocation & { isAuthentic: boolean })[]> {
  const rows = await db.query<DurableRow>(sql`
    SELECT ${durableColumns} FROM revocations WHERE kind = ANY (${kinds}::text[]) ORDER BY id`);
  return rows.map((row) => ({ ...row, isAuthentic: rowMac.holds(table, durableMembers(row), row.mac) }));
}

export const revocationRows: MacTable<DurableRow> = {
  table: sql`revocations`,
  key: sql`id`,
  mac: sql`row_mac`,
  rows: sql`SELECT id AS key, ${durableColumns} FROM revocations`,
  members: (row) => (row.mac === null ? null : durableMembers(row)),
};

/** The file next to the keys, with one line of JSON for each revocation. */
export const revocationsFile = (dataDir: string): string => join(dataDir, "keys/revocations");

/**
 * Reads the revocations in the file.
 * @returns an empty list for a missing file
 * @throws Error for a line that is not a revocation
 */
export async function readRevocationsFile(path: string): Promise<DurableRevocation[]> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
  return text
    .split("\n")
    .filter(Boolean)
    .map((line, n) => {
      try {
        const { kind, subject, effectiveAt, reason } = JSON.parse(line) as Record<string, string>;
        const instant = new Date(effectiveAt ?? "");
        if ((kind === "key" || kind === "seal") && subject && Number.isFinite(instant.getTime()))
          return { kind, subject, effectiveAt: instant, reason: reason ?? null };
      } catch {
        // A malformed line is reported by the `throw` below.
      }
      throw new Error(`line ${n + 1} of ${path} is not a revocation`);
    });
}

/** The content of a revocation as one text, so that rows and lines of the file can be compared. */
export const revocationId = ({ kind, subject, effectiveAt, reason }: DurableRevocation): string =>
  JSON.stringify([kind, subject, effectiveAt.getTime(), reason]);

const without = (all: readonly DurableRevocation[], others: readonly DurableRevocation[]): DurableRevocation[] => {
  const ids = new Set(others.map(revocationId));
  return all.filter((one) => !ids.has(revocationId(one)));
};

/**
 * Copies authentic revocations from the database to this node's file, and revocations from the file to the database.
 * Each node has a file of its own, so a revocation in any node's file reaches all nodes.
 */
export async function mergeRevocations({ db, rowMac }: { db: Sql; rowMac: RowMac }, path: string): Promise<void> {
  const [rows, lines] = [await durableRevocations(db, rowMac), await readRevocationsFile(path)];
  for (const one of without(lines, rows)) await db.query(durableRevocationRow(rowMac, one));
  const fresh = without(rows, lines);
  if (fresh.length === 0) return;
  await mkdir(join(path, ".."), { recursive: true, mode: 0o700 });
  const text = fresh.map(
    ({ kind, subject, effectiveAt, reason }) => `${JSON.stringify({ kind, subject, effectiveAt, reason })}\n`,
  );
  await appendFile(path, text.join(""), { mode: 0o600, flush: true });
}

import type { Sql } from "../platform/database/database.ts";
import { nothing, quoted, type Statement, sql } from "../platform/database/sql.ts";
import type { RowMac } from "../platform/row-mac.ts";
import { leapt } from "../test-clock/test-clock.ts";
import type { Days, RetentionPlan } from "./plan.ts";

/** A rule of the retention plan. The first rule whose condition `holds` is true for a row applies to that row. */
type Rule = { name: string; holds: Statement; days: Days; since: Statement };

/**
 * A table whose rows refer to blobs of evidence, with the retention period of these blobs. The feature that owns the
 * table declares it.
 */
export type Source = {
  table: string;
  /** The text after FROM that selects the source's rows. */
  rows: Statement;
  /** The firm and the environment that own the row. */
  partnerId: Statement;
  environment: Statement;
  /** The key by which batches order the rows. `first` is a value below all keys, from which the first batch starts. */
  id: Statement;
  first: string;
  /** The locking clause for due rows. Empty if a due row always stays due. */
  lock: Statement;
  blobKey: Statement;
  /** The locking clause for all rows with the same blob. If one of these rows has an invalid MAC, the blob stays. */
  lockAll?: Statement;
  /**
   * Selects the column `isAuthentic`, which is false for a row whose MAC is invalid. The blob of such a row is never
   * deleted. For a source without `authentic`, a deletion verifies no MAC except in `confirmed`.
   */
  authentic?: Statement;
  /**
   * Selects the ids of the rows whose facts are confirmed, where SQL alone can't confirm them. An audit line must
   * confirm that a template was archived, for example, or a MAC over decrypted columns must be valid. Absent if this
   * table's deletions depend on neither.
   */
  confirmed?: (db: Sql, rowMac: RowMac, ids: readonly string[]) => Promise<string[]>;
  /** SQL expression: the time from which the blob may be deleted; `infinity` for never. */
  deletableAt: Statement;
  rule: Statement;
  /**
   * SQL condition: no other row needs the blob of the row with the alias `named` (columns: `id` as text, and
   * `blob_key`). Only rows of the feature that owns the table count. Each source decides whether another row that is
   * itself due still needs the blob.
   */
  unshared: (now: Date) => Statement;
  /**
   * True if rows of other sources may refer to the same blobs. Such a blob is deleted only when no row of another such
   * source refers to it.
   */
  sharesBlobs: boolean;
};

export type SourceOf = (plan: RetentionPlan) => Source;

const after = (since: Statement, days: Days): Statement =>
  days === "none" ? sql`'infinity'::timestamptz` : sql`${since} + make_interval(days => ${days})`;

const choose = (rules: readonly Rule[], of: (rule: Rule) => Statement, otherwise: Statement): Statement => {
  const cases = rules.map((rule) => sql`WHEN ${rule.holds} THEN ${of(rule)}`);
  return sql`CASE ${cases.reduce((before, next) => sql`${before} ${next}`)} ELSE ${otherwise} END`;
};

/** Derives two members of a source from its rules: when a blob may be deleted, and by which rule. */
export const ruled = (rules: readonly Rule[]): Pick<Source, "deletableAt" | "rule"> => ({
  deletableAt: choose(rules, ({ since, days }) => after(since, days), sql`'infinity'::timestamptz`),
  rule: choose(rules, ({ name }) => sql`${name}::text`, sql`'none'`),
});

/**
 * The members of a source that has one retention period in each environment. Periods in the test environment follow the
 * firm's test clock.
 * @param since the start of the period
 */
export const byEnvironment = (
  { test, live }: RetentionPlan,
  name: "proofPassports" | "closingPassports",
  { partnerId, environment }: Pick<Source, "partnerId" | "environment">,
  since: Statement,
): Pick<Source, "partnerId" | "environment" | "deletableAt" | "rule"> => ({
  partnerId,
  environment,
  ...ruled([
    { name: `test.${name}`, holds: sql`${environment} = 'test'`, days: test[name], since: leapt(since, partnerId) },
    { name: `live.${name}`, holds: sql`true`, days: live[name], since },
  ]),
});

/**
 * SQL condition: no row of the table refers to the blob of the row `named`.
 * @param where a further condition on these rows, which begins with AND
 */
export const unnamedIn = (table: Statement, where: Statement = nothing): Statement =>
  sql`NOT EXISTS (SELECT FROM ${table} AS other WHERE other.blob_key = named.blob_key ${where})`;

/**
 * SQL condition: no row of the source needs the blob of the row `named`. Rows that are due don't need it.
 * @param where a further condition on these rows, which begins with AND
 */
export const undueIn = (
  { rows, blobKey, deletableAt }: Pick<Source, "rows" | "blobKey" | "deletableAt">,
  now: Date,
  where: Statement = nothing,
): Statement =>
  sql`NOT EXISTS (SELECT FROM ${rows} WHERE ${blobKey} = named.blob_key AND ${deletableAt} > ${now} ${where})`;

/**
 * SQL condition: no row of `source` needs the blob of the row `named`, which is itself a row of `source`. If `source`
 * shares blobs, also: no row of any other source that shares blobs refers to this blob.
 */
export function unneeded(source: Source, sources: readonly Source[], now: Date): Statement {
  const unshared = source.unshared(now);
  if (!source.sharesBlobs) return unshared;
  const others = sources.filter(({ table, sharesBlobs }) => sharesBlobs && table !== source.table);
  return others.reduce((all, { table }) => sql`${all} AND ${unnamedIn(quoted(table))}`, unshared);
}

import type { Sql } from "../platform/database/database.ts";
import { nothing, quoted, type Statement, sql } from "../platform/database/sql.ts";
import type { RowMac } from "../platform/row-mac.ts";
import { leapt } from "../test-clock/test-clock.ts";
import type { Days, RetentionPlan } from "./plan.ts";

/**
 * A rule of the retention plan, and the condition `holds`. A row is subject to the first rule whose condition is true
 * for it.
 */
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
   * Selects the column `isAuthentic`, which is false for a row whose MAC is invalid; the blob of such a row is never
   * deleted. If it is absent, no MAC is verified before a deletion.
   */
  authentic?: Statement;
  /**
   * Selects the ids of rows whose facts are confirmed by more than SQL can check: by the audit log, such as the
   * archiving of a template, or by a MAC over decrypted columns. Absent if this table's deletions depend on neither.
   */
  confirmed?: (db: Sql, rowMac: RowMac, ids: readonly string[]) => Promise<string[]>;
  /** SQL expression: the time from which the blob may be deleted; `infinity` for never. */
  deletableAt: Statement;
  rule: Statement;
  /**
   * SQL condition: no other row of the feature that owns the table needs the blob of the row `named` (its columns: id
   * as text, and blob_key). The source decides whether rows that are due need it.
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

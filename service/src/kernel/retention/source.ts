import type { Sql } from "../platform/database/database.ts";
import { nothing, quoted, type Statement, sql } from "../platform/database/sql.ts";
import type { RowMac } from "../platform/row-mac.ts";
import { leapt } from "../test-clock/test-clock.ts";
import type { Days, RetentionPlan } from "./plan.ts";

/** A rule of the plan and its condition. The first rule whose condition holds applies. */
type Rule = { name: string; holds: Statement; days: Days; since: Statement };

/** A table whose rows refer to blobs of evidence, and how long the plan keeps them. Its owner declares it. */
export type Source = {
  table: string;
  /** The text after FROM that selects the source's rows. */
  rows: Statement;
  /** The firm and the environment that own the row. */
  partnerId: Statement;
  environment: Statement;
  /** The key that orders the rows for batches, and a value that precedes the first one. */
  id: Statement;
  first: string;
  /** The clause that locks a row while it is checked; empty when the facts that are checked can't change back. */
  lock: Statement;
  blobKey: Statement;
  /** Locks all rows that share a blob; absent when no two rows share one. */
  lockAll?: Statement;
  /**
   * Selects the column `isAuthentic`: false for rows that fail their MAC, which the plan must ignore. Absent for rows
   * that have no MAC.
   */
  authentic?: Statement;
  /** Selects the rows that the audit log confirms; absent when the check doesn't depend on the log. */
  confirmed?: (db: Sql, rowMac: RowMac, ids: readonly string[]) => Promise<string[]>;
  /** When the blob may be deleted; `infinity` for never. */
  deletableAt: Statement;
  rule: Statement;
  /**
   * For a row `named` (id as text, blob_key): a condition that is true when no row of the source's owner needs the row's
   * blob, except rows that are due.
   */
  unshared: (now: Date) => Statement;
  /** Whether rows of other sources that share blobs may have the same blob. A blob stays while one of them has it. */
  sharesBlobs: boolean;
};

export type SourceOf = (plan: RetentionPlan) => Source;

const after = (since: Statement, days: Days): Statement =>
  days === "none" ? sql`'infinity'::timestamptz` : sql`${since} + make_interval(days => ${days})`;

const choose = (rules: readonly Rule[], of: (rule: Rule) => Statement, otherwise: Statement): Statement => {
  const cases = rules.map((rule) => sql`WHEN ${rule.holds} THEN ${of(rule)}`);
  return sql`CASE ${cases.reduce((before, next) => sql`${before} ${next}`)} ELSE ${otherwise} END`;
};

/** The two members of a source that follow from its rules. */
export const ruled = (rules: readonly Rule[]): Pick<Source, "deletableAt" | "rule"> => ({
  deletableAt: choose(rules, ({ since, days }) => after(since, days), sql`'infinity'::timestamptz`),
  rule: choose(rules, ({ name }) => sql`${name}::text`, sql`'none'`),
});

/**
 * The members of a source whose rows have one period in each environment; those of the test environment are due by the
 * firm's test clock.
 * @param since from when the period is counted
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

/** A condition that is true when no row of the table has the blob of the row `named`. */
export const unnamedIn = (table: Statement, where: Statement = nothing): Statement =>
  sql`NOT EXISTS (SELECT FROM ${table} AS other WHERE other.blob_key = named.blob_key ${where})`;

/** A condition that is true when no row of the source needs the blob of the row `named`, except rows that are due. */
export const undueIn = (
  { rows, blobKey, deletableAt }: Pick<Source, "rows" | "blobKey" | "deletableAt">,
  now: Date,
  where: Statement = nothing,
): Statement =>
  sql`NOT EXISTS (SELECT FROM ${rows} WHERE ${blobKey} = named.blob_key AND ${deletableAt} > ${now} ${where})`;

/** A condition that is true when no row needs the blob of the row `named`, which is one of `source`. */
export function unneeded(source: Source, sources: readonly Source[], now: Date): Statement {
  const unshared = source.unshared(now);
  if (!source.sharesBlobs) return unshared;
  const others = sources.filter(({ table, sharesBlobs }) => sharesBlobs && table !== source.table);
  return others.reduce((all, { table }) => sql`${all} AND ${unnamedIn(quoted(table))}`, unshared);
}

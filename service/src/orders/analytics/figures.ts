import type { Environment } from "../../kernel/identity/identity.ts";
import type { Database } from "../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { hasSqlState, sqlState } from "../../kernel/platform/database/sql-errors.ts";
import { fromDocuments, fromOrders, joinMilestones } from "../order/order.ts";

/** The orders of a partner in one environment, created from `from` to `to`, both included. */
export type Cohort = { partnerId: string; environment: Environment; from: Date; to: Date };

/** The figures of the orders that were created in one month (`YYYY-MM`, UTC) and have one status. */
type Group = {
  month: string;
  status: string;
  orders: number;
  cents: number;
  sign: number;
  notarize: number;
  ship: number;
  fax: number;
};

export type Figures = {
  groups: Group[];
  sealedDocuments: number;
  deliveredShipments: number;
  /**
   * Median and 90th percentile in hours, with two decimals; null when the cohort has no order that was paid and
   * completed.
   */
  turnaround: [number, number] | null;
};

// These queries read only indexes (orders_newest, documents_sealed, shipments_delivered, workflow_events_paid). The
// join with `workflow_events` sorts its rows, because that is cheaper than one look-up for each order.

/** For each month and status: the number of orders, their total amount, and how many include each service. */
const groups = ({ from, to }: Cohort) => sql`SELECT coalesce(json_agg(g ORDER BY month, status), '[]') FROM (
    SELECT to_char(month, 'YYYY-MM') AS month, by_status.*
    FROM generate_series(date_trunc('month', ${from}::timestamptz AT TIME ZONE 'UTC'), ${to}::timestamptz AT TIME ZONE 'UTC',
      interval '1 month') month
    CROSS JOIN LATERAL (
      SELECT status, count(*) AS orders, sum(total_cents) AS cents, count(*) FILTER (WHERE sign) AS sign,
        count(*) FILTER (WHERE notarize) AS notarize, count(*) FILTER (WHERE ship) AS ship,
        count(*) FILTER (WHERE fax) AS fax
      FROM cohort
      WHERE created_at >= month AT TIME ZONE 'UTC' AND created_at < (month + interval '1 month') AT TIME ZONE 'UTC'
      GROUP BY status) by_status) g`;

/** Median and 90th percentile of the hours from an order's first payment to its completion. */
const turnaround = sql`SELECT CASE WHEN p IS NOT NULL THEN json_build_array(round(p[1]::numeric, 2), round(p[2]::numeric, 2)) END
  FROM (
    SELECT percentile_cont(ARRAY[0.5, 0.9]) WITHIN GROUP (ORDER BY hours) AS p FROM (
      SELECT DISTINCT ON (w.order_id) date_part('epoch', updated_at - w.occurred_at) / 3600 AS hours
      FROM cohort ${joinMilestones(sql`cohort.id`)}
      WHERE cohort.status = 'Completed' AND w.name = 'payment.cleared'
      ORDER BY w.order_id, w.occurred_at) earliest
    WHERE hours >= 0) q`;

/** Counts of sealed documents and of delivered shipments. */
const evidence = sql`
  SELECT count(*) FILTER (WHERE sealed) AS "sealedDocuments", count(*) FILTER (WHERE NOT sealed) AS "deliveredShipments"
  FROM cohort JOIN (
    SELECT d.order_id, true AS sealed ${fromDocuments} WHERE d.kind IN ('sealed', 'notarized')
    UNION ALL SELECT order_id, false FROM shipments WHERE status = 'Delivered') e ON order_id = cohort.id`;

/**
 * The SQL statement that reads all figures of a cohort. Building it is separate from running it, so that a benchmark
 * and a test can check its plan.
 */
export function figuresStatement(cohort: Cohort): Statement {
  const { partnerId, environment, from, to } = cohort;
  return sql`
    WITH cohort AS NOT MATERIALIZED (
      SELECT id, status, created_at, updated_at, sign, notarize, ship, fax, total_cents ${fromOrders}
      WHERE partner_id = ${partnerId} AND environment = ${environment} AND created_at BETWEEN ${from} AND ${to}
    )
    SELECT (${groups(cohort)}) AS groups, evidence.*, (${turnaround}) AS turnaround FROM (${evidence}) evidence`;
}

/**
 * Settings for the query: a plan for this firm's size, memory for its joins, and at most one extra worker process. The
 * other processor cores stay free for other requests.
 */
export const figuresSettings = `SET TRANSACTION READ ONLY; SET LOCAL plan_cache_mode = force_custom_plan;
  SET LOCAL work_mem = '64MB'; SET LOCAL max_parallel_workers_per_gather = 1; SET LOCAL jit = off;
  SET LOCAL random_page_cost = 1.1;`;

/**
 * Reads the figures of a cohort in a read-only transaction.
 * @returns undefined when the statement took longer than `timeoutMs`
 */
export async function readFigures(db: Database, cohort: Cohort, timeoutMs: number): Promise<Figures | undefined> {
  try {
    const [figures] = await db.transaction(async (tx) => {
      await tx.script(`${figuresSettings} SET LOCAL statement_timeout = ${timeoutMs};`);
      return tx.query<Figures>(figuresStatement(cohort));
    });
    return figures;
  } catch (error) {
    if (hasSqlState(error, sqlState.queryCanceled)) return undefined;
    throw error;
  }
}

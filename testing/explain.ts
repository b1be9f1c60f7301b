import assert from "node:assert/strict";
import type { Database } from "../service/src/kernel/platform/database/database.ts";
import { type Statement, sql } from "../service/src/kernel/platform/database/sql.ts";

type Plan = { "Node Type": string; "Index Name"?: string; "Relation Name"?: string; Plans?: Plan[] };
const nodes = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodes)];

/**
 * Runs a statement and returns its plan: the indexes used, the types of its nodes, the tables that were read by a
 * sequential scan (`readWhole`), and the number of shared buffers touched.
 */
export async function explain(db: Database, statement: Statement) {
  type Row = { "QUERY PLAN": { Plan: Plan & { "Shared Hit Blocks": number; "Shared Read Blocks": number } }[] };
  const [row] = await db.query<Row>(sql`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${statement}`);
  const plan = row?.["QUERY PLAN"][0]?.Plan;
  assert.ok(plan);
  const all = nodes(plan);
  return {
    indexes: all.flatMap((node) => node["Index Name"] ?? []),
    types: all.map((node) => node["Node Type"]),
    readWhole: all.flatMap((node) => (node["Node Type"] === "Seq Scan" ? (node["Relation Name"] ?? []) : [])),
    blocks: plan["Shared Hit Blocks"] + plan["Shared Read Blocks"],
  };
}

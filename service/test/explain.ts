import assert from "node:assert/strict";
import type { Database } from "../src/kernel/platform/database/database.ts";
import { Statement, ToSeal } from "../src/kernel/platform/database/sql.ts";
import { MacOfRow } from "../src/kernel/platform/database/state-mac.ts";

/** A node of a plan, in the format of `EXPLAIN (FORMAT JSON)`. */
export type PlanNode = {
  "Node Type": string;
  "Relation Name"?: string;
  "Index Name"?: string;
  "Shared Hit Blocks"?: number;
  "Shared Read Blocks"?: number;
  Plans?: PlanNode[];
};

const nodesOf = (plan: PlanNode): PlanNode[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

/** A value as a literal in a statement's text. */
function literal(value: unknown): string {
  if (value === null || value === undefined) return "NULL";
  // Writes plain text in place of the encrypted form, because every form has the same plan.
  if (value instanceof ToSeal) return literal(value.forms === "all" ? [`c1.${value.text}`] : `c1.${value.text}`);
  if (typeof value === "number") return String(value);
  if (Array.isArray(value)) return `ARRAY[${value.map(literal).join(", ")}]`;
  if (Buffer.isBuffer(value)) return `'\\x${value.toString("hex")}'`;
  if (value instanceof MacOfRow) return "'\\x00'";
  if (value !== null && typeof value === "object" && !(value instanceof Date)) return literal(JSON.stringify(value));
  return `'${(value instanceof Date ? value.toISOString() : String(value)).replaceAll("'", "''")}'`;
}

export type ExplainOptions = {
  /** `generic`: the plan for any values. `custom` (the default): the plan for the statement's own values. */
  mode?: "generic" | "custom";
  /** True to run the statement and count the pages that it reads. */
  analyze?: boolean;
  /** Settings of the transaction, as a script. */
  settings?: string;
};

/** The nodes of a statement's plan, from the top down. */
export function explain(db: Database, { text, values }: Statement, options: ExplainOptions = {}): Promise<PlanNode[]> {
  const { mode = "custom", analyze = false, settings = "" } = options;
  return db.transaction(async (tx) => {
    await tx.script(`${settings}; SET LOCAL plan_cache_mode = force_${mode}_plan; PREPARE explained AS ${text}`);
    const given = values.length > 0 ? `(${values.map(literal).join(", ")})` : "";
    const how = analyze ? "ANALYZE, BUFFERS, FORMAT JSON" : "FORMAT JSON";
    const [row] = await tx.query<{ "QUERY PLAN": { Plan: PlanNode }[] }>(
      new Statement([`EXPLAIN (${how}) EXECUTE explained ${given}`], []),
    );
    await tx.script("DEALLOCATE explained");
    const plan = row?.["QUERY PLAN"][0]?.Plan;
    assert.ok(plan);
    return nodesOf(plan);
  });
}

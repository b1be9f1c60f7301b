import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Statement, sql } from "../service/src/kernel/platform/database/sql.ts";
import type { Harness } from "./harness.ts";

const calls = 20;

/**
 * The statements that a running service sends to its database for one call of `work`, from the database server's log.
 * `work` runs 20 times at once. The result has each statement as often as a call sends it on average, rounded. So the
 * few statements of the service's own jobs are left out.
 */
export async function statementsOf(
  { db, service }: Pick<Harness, "db" | "service">,
  work: () => Promise<unknown>,
): Promise<string[]> {
  const log = join(service.dataDir, "postgres/server.log");
  const callAll = () => Promise.all(Array.from({ length: calls }, work));
  const change = async (setting: Statement) => {
    await db.query(setting);
    await db.query(sql`SELECT pg_reload_conf()`);
    // Calls `work` once more, because each connection reads the changed setting only when it gets its next statement.
    await callAll();
  };
  await change(sql`ALTER SYSTEM SET log_statement = 'all'`);
  const start = readFileSync(log).length;
  await callAll();
  const sent = statementsIn(readFileSync(log).subarray(start).toString());
  await change(sql`ALTER SYSTEM RESET log_statement`);
  return [...Map.groupBy(sent, (text) => text)].flatMap(([text, all]) =>
    Array<string>(Math.round(all.length / calls)).fill(text),
  );
}

/** The texts of the statements in a part of the server's log. The server indents the further lines of a text. */
const statementsIn = (log: string): string[] =>
  log
    .split(/^(?=\S)/m)
    .flatMap((entry) => / LOG: {2}(?:execute \S+|statement): ([\s\S]*)/.exec(entry)?.[1]?.trim() ?? []);

import { databaseOfRunning } from "@signsealship/testing/database";
import { type Statement, sql } from "../../src/kernel/platform/database/sql.ts";

/** An attacker with the service's own database role, but without its keys. */
export function openInsider(dataDir: string) {
  const db = databaseOfRunning(dataDir);
  return {
    run: <Row>(statement: Statement) => db.query<Row>(statement),
    close: db.close,
    /** Saves a row. @returns a function that restores it */
    async keep(table: Statement, key: Statement, value: string): Promise<() => Promise<void>> {
      const [kept] = await db.query<{ row: object }>(sql`
        SELECT to_jsonb(t) AS row FROM ${table} t WHERE ${key}::text = ${value}`);
      if (!kept) throw new Error(`no row of ${table.text}`);
      return async () => {
        await db.query(sql`DELETE FROM ${table} WHERE ${key}::text = ${value}`);
        await db.query(
          sql`INSERT INTO ${table} SELECT * FROM jsonb_populate_record(NULL::${table}, ${kept.row}::jsonb)`,
        );
      };
    },
  };
}

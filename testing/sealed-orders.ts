import type { Sql } from "../service/src/kernel/platform/database/database.ts";
import { type Statement, sealed, sql } from "../service/src/kernel/platform/database/sql.ts";
import { codeStart } from "../service/src/kernel/platform/text.ts";

/** Seals the codes of orders that a test inserted in the form `c1.` plus the plain code. @returns the plain codes */
export async function sealMadeCodes(db: Sql, which: Statement): Promise<string[]> {
  const made = await db.query<{ id: number; code: string }>(sql`
    SELECT id, substr(code, 4) AS code FROM orders WHERE code ~ '^c1[.][0-9a-f]{40}$' AND ${which} ORDER BY id`);
  for (const { id, code } of made)
    await db.query(sql`
      UPDATE orders SET code = ${sealed("order", code)}, code_start = ${sealed("orderStart", codeStart(code))} WHERE id = ${id}`);
  return made.map(({ code }) => code);
}

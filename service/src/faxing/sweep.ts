import type { Sql } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";

const batchSize = 500;

/** Deletes whom faxes were sent to, and Telnyx's words about those that it refused, of attempts made before the instant, batch by batch. */
export async function sweepFaxNumbers(db: Sql, before: Date, stopping?: AbortSignal): Promise<void> {
  let swept = batchSize;
  while (swept === batchSize && !stopping?.aborted) {
    const rows = await db.query(sql`
      UPDATE fax_attempts SET fax_to = '', reason = CASE WHEN state = 'refused' THEN NULL ELSE reason END WHERE id IN (
        SELECT id FROM fax_attempts
        WHERE fax_to <> '' AND created_at < ${before} AND state IN ('withdrawn', 'refused', 'failed', 'delivered')
        ORDER BY created_at LIMIT ${batchSize}
      ) RETURNING 1`);
    swept = rows.length;
  }
}

import type { Sql } from "../../platform/database/database.ts";
import { sql } from "../../platform/database/sql.ts";

const batchSize = 500;

/** Deletes who signed for parcels, and where their labels could be fetched, of labels bought before the instant, batch by batch. */
export async function sweepLabels(db: Sql, before: Date, stopping?: AbortSignal): Promise<void> {
  let swept = batchSize;
  while (swept === batchSize && !stopping?.aborted) {
    const rows = await db.query(sql`
      UPDATE labels SET signed_by = NULL, label_url = NULL WHERE id IN (
        SELECT id FROM labels WHERE num_nonnulls(signed_by, label_url) > 0 AND bought_at < ${before}
        ORDER BY bought_at LIMIT ${batchSize}
      ) RETURNING 1`);
    swept = rows.length;
  }
}

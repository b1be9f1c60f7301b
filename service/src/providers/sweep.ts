import type { Sql } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";

const batchSize = 500;

/**
 * Deletes what was asked of providers by acts that ended before the instant with their words about it, and the bytes of their events that came before it, batch by
 * batch. Hashes and outcomes stay.
 */
export async function sweepProviderRecords(db: Sql, before: Date, stopping?: AbortSignal): Promise<void> {
  const batches = [
    sql`UPDATE provider_calls SET payload = NULL, result = NULL, why = NULL WHERE id IN (
      SELECT id FROM provider_calls WHERE payload IS NOT NULL AND ended_at < ${before} ORDER BY ended_at LIMIT ${batchSize}
    ) RETURNING 1`,
    sql`UPDATE provider_events SET content = NULL WHERE id IN (
      SELECT id FROM provider_events WHERE content IS NOT NULL AND worked_at IS NOT NULL AND received_at < ${before}
      ORDER BY received_at LIMIT ${batchSize}
    ) RETURNING 1`,
  ];
  for (const batch of batches) {
    let swept = batchSize;
    while (swept === batchSize && !stopping?.aborted) swept = (await db.query(batch)).length;
  }
}

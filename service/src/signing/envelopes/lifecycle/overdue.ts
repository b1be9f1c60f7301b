import { type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import type { EnvelopeDeps } from "../records/deps.ts";
import { followOrder } from "./follow.ts";

const lateMs = 15 * 60_000;
const batchSize = 100;

/** Orders that wait for signatures with nobody left to sign: their envelope was not opened, or not completed. */
export const overdueStatement = (before: Date, after: number): Statement => sql`
  SELECT o.id FROM orders o
  WHERE o.status = 'EsignPending' AND o.updated_at < ${before} AND o.id > ${after} AND NOT EXISTS (
    SELECT FROM envelopes e JOIN envelope_signers s ON s.envelope_id = e.id
    WHERE e.order_id = o.id AND e.ended_at IS NULL AND s.signed_at IS NULL)
  ORDER BY o.id LIMIT ${batchSize}`;

/** Does the work that a job gave up, and that of earlier releases without jobs. Safe on several nodes at once. */
export async function followOverdue(deps: EnvelopeDeps, stopping?: AbortSignal): Promise<void> {
  const { db, clock, log } = deps;
  const before = new Date(clock().getTime() - lateMs);
  let last: number | undefined = 0;
  while (last !== undefined) {
    // Those that fail are passed over: they hold nobody else up.
    const page: { id: number }[] = await db.query(overdueStatement(before, last));
    for (const { id } of page) {
      if (stopping?.aborted) return;
      await followOrder(deps, id).catch((error: Error) =>
        log.error({ err: error, orderId: id }, "the envelope of an order can't be opened or completed"),
      );
    }
    last = page.at(-1)?.id;
  }
}

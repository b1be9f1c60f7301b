import type { Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { type Marked, marked } from "../../../kernel/platform/database/state-mac.ts";
import { envelopeState, vouchForEnvelopes } from "../records/envelope.ts";

/**
 * Lets a firm's open test envelopes remind and expire so many seconds earlier. Their trails record it only when it happens.
 * Envelopes that were altered stay as they are.
 */
export async function bringEnvelopesNearer(tx: Tx, partnerId: string, seconds: number): Promise<void> {
  const open = await tx.query<{ id: number } & Marked>(sql`
    SELECT e.id, ${marked(envelopeState, sql`e`)} FROM envelopes e JOIN orders o ON o.id = e.order_id
    WHERE o.partner_id = ${partnerId} AND o.environment = 'test' AND e.ended_at IS NULL ORDER BY e.id FOR UPDATE OF e`);
  const ids = open.filter(({ isAuthentic }) => isAuthentic).map(({ id }) => id);
  const which = sql`id = ANY (${ids}::bigint[])`;
  await tx.query(sql`
    UPDATE envelopes SET expires_at = greatest(expires_at - make_interval(secs => ${seconds}), created_at),
      remind_at = greatest(remind_at - make_interval(secs => ${seconds}), created_at)
    WHERE ${which}`);
  await vouchForEnvelopes(tx, which);
}

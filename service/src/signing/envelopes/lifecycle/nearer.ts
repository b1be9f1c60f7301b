import type { Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";

/** Has a firm's open test envelopes remind and expire so many seconds earlier. Their trails say nothing of it: it happens when it happens. */
export const bringEnvelopesNearer = (tx: Tx, partnerId: string, seconds: number) =>
  tx.query(sql`
    UPDATE envelopes e SET expires_at = greatest(e.expires_at - make_interval(secs => ${seconds}), e.created_at),
      remind_at = greatest(e.remind_at - make_interval(secs => ${seconds}), e.created_at)
    FROM orders o WHERE o.id = e.order_id AND o.partner_id = ${partnerId} AND o.environment = 'test'
      AND e.ended_at IS NULL`);

import type { Owner } from "../identity/identity.ts";
import type { Sql } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";

export type FailingWebhook = { id: string; url: string; since: Date };

/** The owner's webhooks that keep failing: from the mail about it until a delivery arrives. */
export const failingWebhooks = ({ db }: { db: Sql }, { partnerId, environment }: Owner): Promise<FailingWebhook[]> =>
  db.query<FailingWebhook>(sql`
SELECT id, url, failing_since AS since FROM webhooks
WHERE partner_id = ${partnerId} AND environment = ${environment} AND alerted_at IS NOT NULL AND deleted_at IS NULL
ORDER BY failing_since LIMIT 10`);

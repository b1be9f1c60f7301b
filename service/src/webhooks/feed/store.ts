import type { Owner } from "../../identity/identity.ts";
import type { Sql } from "../../platform/database/database.ts";
import { nothing, sql } from "../../platform/database/sql.ts";
import { type ContextRow, contextColumns, contextJoins, contextOf } from "../event-context.ts";

const of = ({ partnerId, environment }: Owner) =>
  sql`link.partner_id = ${partnerId} AND link.environment = ${environment}`;

/** The last place that was given, 0 where there is none, and whether events wait for theirs. */
export async function selectEnd(db: Sql, owner: Owner): Promise<{ last: number; isWaiting: boolean }> {
  const [row] = await db.query<{ last: number; isWaiting: boolean }>(sql`
SELECT coalesce((SELECT max(position) FROM event_chain AS link WHERE ${of(owner)} AND position IS NOT NULL), 0) AS last,
  EXISTS (SELECT FROM event_chain AS link WHERE ${of(owner)} AND position IS NULL) AS "isWaiting"`);
  return row ?? { last: 0, isWaiting: false };
}

export type FeedRange = { after: number; upTo: number; topics: readonly string[] | null };

/** Events of the range that have a place, in its order. */
export async function selectEvents(db: Sql, owner: Owner, { after, upTo, topics }: FeedRange, limit: number) {
  const rows = await db.query<ContextRow<{ position: number; head: Buffer }>>(sql`
SELECT link.position, link.head, ${contextColumns}, event.subject AS "webhookId"
FROM event_chain AS link JOIN events AS event ON event.id = link.event ${contextJoins}
WHERE ${of(owner)} AND link.position > ${after} AND link.position <= ${upTo}
  ${topics === null ? nothing : sql`AND event.topic = ANY (${topics})`}
ORDER BY link.position LIMIT ${limit}`);
  return rows.map(contextOf);
}

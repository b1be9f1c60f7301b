import type { Place } from "../../events/events.ts";
import type { Sql } from "../../platform/database/database.ts";
import { type Statement, sql } from "../../platform/database/sql.ts";
import { type ContextRow, contextColumns, contextJoins, contextOf } from "../event-context.ts";
import type { EventContext } from "../payload.ts";
import { type Capacity, limits } from "./adaptive-window.ts";

/** A delivery that this node has leased, with what its body is made of; a passport is read when it is sent. */
export type Claimed = Omit<EventContext, "passport"> & {
  seq: number;
  event: number;
  partnerId: string;
  /** Whose event it is. */
  eventPartnerId: string;
  /** Whether the event has a place in its firm's chain, or waits for one; those of before there was a chain do not. */
  isChained: boolean;
  place: Place | null;
};

/** A lease: deliveries that none holds at `now` are ours until `until`. */
export type Lease = { now: Date; until: Date };

// Hops from subscription to subscription over the index of what is pending, so a long queue of one costs nothing.
const waiting = sql`
  (SELECT webhook_id, partner_id FROM webhook_deliveries WHERE state = 'pending' ORDER BY webhook_id LIMIT 1)
  UNION ALL
  SELECT next.webhook_id, next.partner_id FROM waiting, LATERAL (
    SELECT webhook_id, partner_id FROM webhook_deliveries
    WHERE state = 'pending' AND webhook_id > waiting.webhook_id ORDER BY webhook_id LIMIT 1
  ) AS next`;

// Plans that stay right however many rows are pending or ended: BETWEEN leaves the index of what is pending as the only one in
// this order (by equality the planner may walk the primary key past all that has ended), and an array is looked up by index.
/** Of each subscription the oldest; then everybody's first comes before anybody's second. */
const leasing = ({ now, until }: Lease, { total, webhooks, partners }: Capacity): Statement => sql`
WITH RECURSIVE waiting AS (${waiting}
), due AS (
  SELECT oldest.seq, waiting.webhook_id, waiting.partner_id
  FROM waiting LEFT JOIN unnest(${webhooks.ids}::uuid[], ${webhooks.free}::int[]) AS known (webhook_id, free)
    USING (webhook_id), LATERAL (
    SELECT seq FROM webhook_deliveries
    WHERE state = 'pending' AND webhook_id BETWEEN waiting.webhook_id AND waiting.webhook_id
      AND (leased_until IS NULL OR leased_until < ${now})
    ORDER BY webhook_id, seq LIMIT coalesce(known.free, ${limits.firstWindow}) FOR UPDATE SKIP LOCKED
  ) AS oldest
), placed AS (
  SELECT seq, partner_id, row_number() OVER (PARTITION BY webhook_id ORDER BY seq) AS place FROM due
), ranked AS (
  SELECT seq, partner_id, place, row_number() OVER (PARTITION BY partner_id ORDER BY place, seq) AS of_partner FROM placed
), taken AS (
  SELECT seq
  FROM ranked LEFT JOIN unnest(${partners.ids}::uuid[], ${partners.free}::int[]) AS known (partner_id, free)
    USING (partner_id)
  WHERE of_partner <= coalesce(known.free, ${limits.perPartner}) ORDER BY place, seq LIMIT ${total}
), leased AS (
  UPDATE webhook_deliveries SET leased_until = ${until}, attempts = attempts + 1
  WHERE seq = ANY (array(SELECT seq FROM taken))
  RETURNING seq, event, webhook_id, partner_id
)`;

/** Leases what is due and fits, and reads what its bodies are made of. */
export const claimStatement = (lease: Lease, capacity: Capacity): Statement => sql`${leasing(lease, capacity)}
SELECT leased.seq, leased.event, leased.webhook_id AS "webhookId", leased.partner_id AS "partnerId",
  link.event IS NOT NULL AS "isChained", link.position, link.head,
  event.partner_id AS "eventPartnerId", ${contextColumns}
FROM leased
JOIN events AS event ON event.id = leased.event
LEFT JOIN event_chain AS link ON link.event = leased.event ${contextJoins}
ORDER BY leased.seq`;

type LeasedRow = ContextRow<{
  eventPartnerId: string;
  seq: number;
  event: number;
  partnerId: string;
  isChained: boolean;
  position: number | null;
  head: Buffer | null;
}>;

function claimedOf({ position, head, ...row }: LeasedRow): Claimed {
  return { ...contextOf(row), place: position === null || head === null ? null : { position, head } };
}

/**
 * Leases what is due and fits. Nodes pass over each other's rows; what a dead node had leased is due again when the lease
 * has run out.
 */
export async function claimDue(db: Sql, lease: Lease, capacity: Capacity): Promise<Claimed[]> {
  return (await db.query<LeasedRow>(claimStatement(lease, capacity))).map(claimedOf);
}

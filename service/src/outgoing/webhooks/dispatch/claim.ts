import { joinEvent, leftJoinPlace, type Place, placeSomeEvents, placesOf } from "../../../kernel/events/events.ts";
import type { Owner } from "../../../kernel/identity/identity.ts";
import type { Database, Sql } from "../../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import type { Log } from "../../../kernel/platform/logs.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import { type ContextRow, contextColumns, contextJoins, contextOf } from "../event-context.ts";
import type { EventContext } from "../payload.ts";
import { type Capacity, limits } from "./adaptive-window.ts";

/**
 * A delivery that this node has leased, with the records from which its body is built. Passports are read later, when
 * the delivery is sent.
 */
export type Claimed = Omit<EventContext, "passport"> & {
  seq: number;
  event: number;
  /** True if the event's MAC is valid. */
  isWhole: boolean;
  partnerId: string;
  /** The id of the event's firm. `partnerId` is from the delivery's row; both must be the firm of the subscription. */
  eventPartnerId: string;
  /**
   * True if the event was queued for a position in its firm's hash chain. If its MAC is valid, the event gets this
   * position. Events from before the chain was introduced were never queued.
   */
  isChained: boolean;
  place: Place | null;
  /** The end of the lease, by the database's clock. */
  leasedUntil: Date;
};

// The lease ends by the database's clock. A node whose own clock is fast would see another node's lease as ended, and
// resend its delivery. The time is truncated to milliseconds, the precision of a `Date`.
const leaseEnd = (leaseMs: number): Statement => sql`date_trunc('milliseconds', now() + ${leaseMs} * interval '1 ms')`;

// Finds the subscriptions with pending deliveries. A loose index scan skips from one subscription to the next, so a
// long queue costs no more than a short one.
const waiting = sql`
  (SELECT webhook_id, partner_id FROM webhook_deliveries WHERE state = 'pending' ORDER BY webhook_id LIMIT 1)
  UNION ALL
  SELECT next.webhook_id, next.partner_id FROM waiting, LATERAL (
    SELECT webhook_id, partner_id FROM webhook_deliveries
    WHERE state = 'pending' AND webhook_id > waiting.webhook_id ORDER BY webhook_id LIMIT 1
  ) AS next`;

// The statement must be fast for any number of pending and ended rows. With BETWEEN, only the index of pending rows has
// the order `webhook_id, seq`, so the planner uses it. With `=`, the planner might scan the primary key past all ended
// rows.
//
// For the same reason, the UPDATE finds its rows with `seq = ANY (array(...))`, which does one index look-up for each
// row.
/**
 * Leases the oldest deliveries of each subscription, round-robin: the first delivery of every subscription precedes the
 * second delivery of any.
 */
const leasing = (leaseMs: number, { total, webhooks, partners }: Capacity): Statement => sql`
WITH RECURSIVE waiting AS (${waiting}
), due AS (
  SELECT oldest.seq, waiting.webhook_id, waiting.partner_id
  FROM waiting LEFT JOIN unnest(${webhooks.ids}::uuid[], ${webhooks.free}::int[]) AS known (webhook_id, free)
    USING (webhook_id), LATERAL (
    SELECT seq FROM webhook_deliveries
    WHERE state = 'pending' AND webhook_id BETWEEN waiting.webhook_id AND waiting.webhook_id
      AND (leased_until IS NULL OR leased_until < now())
    ORDER BY webhook_id, seq LIMIT coalesce(known.free, ${limits.firstWindow}) FOR NO KEY UPDATE SKIP LOCKED
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
  UPDATE webhook_deliveries SET leased_until = ${leaseEnd(leaseMs)}, attempts = attempts + 1
  WHERE seq = ANY (array(SELECT seq FROM taken))
  RETURNING seq, event, webhook_id, partner_id, leased_until
)`;

/** Leases due deliveries within the capacity, and reads the records from which their bodies are built. */
export const claimStatement = (leaseMs: number, capacity: Capacity): Statement => sql`${leasing(leaseMs, capacity)}
SELECT leased.seq, leased.webhook_id AS "webhookId", leased.partner_id AS "partnerId",
  leased.leased_until AS "leasedUntil", link.event IS NOT NULL AS "isChained", link.position, link.head, ${contextColumns}
FROM leased
${joinEvent(sql`leased.event`)} ${leftJoinPlace(sql`leased.event`)} ${contextJoins}
ORDER BY leased.seq`;

type LeasedRow = ContextRow<{
  seq: number;
  partnerId: string;
  isChained: boolean;
  position: number | null;
  head: Buffer | null;
  leasedUntil: Date;
}>;

function claimedOf(rowMac: RowMac, { position, head, ...row }: LeasedRow): Claimed {
  return { ...contextOf(rowMac, row), place: position === null || head === null ? null : { position, head } };
}

/**
 * Leases due deliveries within the capacity. Skips rows that another node is leasing. When a node dies, its deliveries
 * become due again at the end of their leases.
 */
export async function claimDue(
  { db, rowMac }: { db: Sql; rowMac: RowMac },
  leaseMs: number,
  capacity: Capacity,
): Promise<Claimed[]> {
  const rows = await db.query<LeasedRow>(claimStatement(leaseMs, capacity));
  return rows.map((row) => claimedOf(rowMac, row));
}

/**
 * `ready`: deliveries whose events have a position in the chain, or don't need one. `waiting`: deliveries whose events
 * still need a position.
 */
type ByPosition = { ready: readonly Claimed[]; waiting: readonly Claimed[] };

// True if the delivery waits for its event's position in the chain. An event whose MAC is invalid never gets one, so
// its delivery doesn't wait, and fails at once.
const isWaiting = ({ isChained, isWhole, place }: Claimed): boolean => isChained && isWhole && place === null;

/**
 * Adds the events of `waiting` deliveries to their firms' hash chains, one batch for each firm and environment. Other
 * firms are not delayed when the batch of one firm fails, or when another node is extending that firm's chain.
 */
export async function withChainPosition(
  { db, rowMac, log }: { db: Database; rowMac: RowMac; log: Log },
  claimed: readonly Claimed[],
): Promise<ByPosition> {
  const unplaced = claimed.filter(isWaiting);
  if (unplaced.length === 0) return { ready: claimed, waiting: [] };
  const owners = new Map<string, Owner>(unplaced.map((each) => [`${each.partnerId} ${each.environment}`, each]));
  for (const { partnerId, environment } of owners.values())
    await placeSomeEvents({ db, rowMac }, { partnerId, environment }).catch((error: unknown) =>
      log.error({ err: error, partner: partnerId, environment }, "events could not be given their places"),
    );
  const places = await placesOf(
    db,
    unplaced.map(({ event }) => event),
  );
  const all = claimed.map((each) => (each.place ? each : { ...each, place: places.get(each.event) ?? null }));
  return { ready: all.filter((each) => !isWaiting(each)), waiting: all.filter(isWaiting) };
}

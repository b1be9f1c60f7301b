import type { Sql } from "../../platform/database.ts";
import type { Told } from "../payload.ts";
import { limits, type Room } from "./adaptive-window.ts";

/** A delivery that this node has leased, with what it tells. */
export type Claimed = Told & { seq: number; partnerId: string };

// `waiting` hops from subscription to subscription over the index of what is pending, so a long queue of one costs nothing.
// Of each subscription the oldest are taken; then everybody's first comes before anybody's second.
const claim = `
WITH RECURSIVE waiting AS (
  (SELECT webhook_id, partner_id FROM webhook_deliveries WHERE state = 'pending' ORDER BY webhook_id LIMIT 1)
  UNION ALL
  SELECT next.webhook_id, next.partner_id FROM waiting, LATERAL (
    SELECT webhook_id, partner_id FROM webhook_deliveries
    WHERE state = 'pending' AND webhook_id > waiting.webhook_id ORDER BY webhook_id LIMIT 1
  ) AS next
), due AS (
  SELECT oldest.seq, waiting.webhook_id, waiting.partner_id
  FROM waiting LEFT JOIN unnest($3::uuid[], $4::int[]) AS known (webhook_id, free) USING (webhook_id), LATERAL (
    SELECT seq FROM webhook_deliveries
    WHERE state = 'pending' AND webhook_id = waiting.webhook_id AND (leased_until IS NULL OR leased_until < $1)
    ORDER BY seq LIMIT coalesce(known.free, $5) FOR UPDATE SKIP LOCKED
  ) AS oldest
), placed AS (
  SELECT seq, partner_id, row_number() OVER (PARTITION BY webhook_id ORDER BY seq) AS place FROM due
), ranked AS (
  SELECT seq, partner_id, place, row_number() OVER (PARTITION BY partner_id ORDER BY place, seq) AS of_partner FROM placed
), taken AS (
  SELECT seq FROM ranked LEFT JOIN unnest($6::uuid[], $7::int[]) AS known (partner_id, free) USING (partner_id)
  WHERE of_partner <= coalesce(known.free, $8) ORDER BY place, seq LIMIT $9
), leased AS (
  UPDATE webhook_deliveries AS delivery SET leased_until = $2, attempts = attempts + 1
  FROM taken WHERE delivery.seq = taken.seq
  RETURNING delivery.seq, delivery.event, delivery.webhook_id, delivery.partner_id
)
SELECT leased.seq, leased.webhook_id AS "webhookId", leased.partner_id AS "partnerId",
  event.topic, event.event_id AS "eventId", event.occurred_at AS "occurredAt", event.environment, event.subject,
  "order".status AS "orderStatus", "order".external_reference AS "externalReference",
  passport.verify_code AS "verifyCode", passport.doc_sha256 AS "docSha256", passport.sealed_sha256 AS "sealedSha256",
  passport.created_at AS "sealedAt", room.code AS "roomCode", room.name AS "roomName"
FROM leased
JOIN events AS event ON event.id = leased.event
LEFT JOIN orders AS "order" ON "order".code = event.subject
LEFT JOIN passports AS passport ON passport.id = CASE WHEN event.topic = 'passport.sealed' THEN event.subject::uuid END
LEFT JOIN rooms AS room ON room.id = event.room_id
ORDER BY leased.seq`;

type ClaimedRow = Omit<Claimed, "order" | "passport" | "room"> & {
  orderStatus: string | null;
  externalReference: string | null;
  verifyCode: string | null;
  docSha256: string | null;
  sealedSha256: string | null;
  sealedAt: Date | null;
  roomCode: string | null;
  roomName: string | null;
};

function claimedOf(row: ClaimedRow): Claimed {
  const { orderStatus, externalReference, verifyCode, docSha256, sealedSha256, sealedAt, roomCode, roomName } = row;
  return {
    ...row,
    order: orderStatus === null ? null : { status: orderStatus, externalReference },
    passport:
      verifyCode === null || docSha256 === null || sealedSha256 === null || sealedAt === null
        ? null
        : { verifyCode, docSha256, sealedSha256, createdAt: sealedAt },
    room: roomCode === null || roomName === null ? null : { code: roomCode, name: roomName },
  };
}

/**
 * Leases what is due and fits. Nodes pass over each other's rows; what a dead node had leased is due again when the lease
 * has run out.
 */
export async function claimDue(sql: Sql, now: Date, leasedUntil: Date, room: Room): Promise<Claimed[]> {
  const rows = await sql.rows<ClaimedRow>(claim, [
    now,
    leasedUntil,
    room.webhooks.ids,
    room.webhooks.free,
    limits.firstWindow,
    room.partners.ids,
    room.partners.free,
    limits.perPartner,
    room.total,
  ]);
  return rows.map(claimedOf);
}

/** Where and with what a subscription is told. */
export type Destination = {
  id: string;
  url: string;
  deleted: boolean;
  /** The encrypted hashes of the secrets that sign, newest first. */
  hashes: Buffer[];
};

export const selectDestinations = (sql: Sql, webhookIds: readonly string[], now: Date) =>
  sql.rows<Destination>(
    `SELECT id, url, deleted_at IS NOT NULL AS deleted,
       array(SELECT hash FROM webhook_secrets WHERE webhook_id = webhooks.id AND (expires_at IS NULL OR expires_at > $2)
         ORDER BY id DESC) AS hashes
     FROM webhooks WHERE id = ANY ($1::uuid[])`,
    [webhookIds, now],
  );

export type Finished = {
  seq: number;
  statusCode: number | null;
  durationMs: number | null;
  reason: string | null;
  completedAt: Date;
};

// Asked by completed_at and not by the state, or all that is pending would be read for the few rows that are meant.
const complete = `
UPDATE webhook_deliveries AS delivery
SET state = CASE WHEN done.reason IS NULL THEN 'delivered' ELSE 'failed' END, last_status_code = done.status_code,
  duration_ms = done.duration_ms, reason = done.reason, completed_at = done.completed_at, leased_until = NULL
FROM unnest($1::bigint[], $2::int[], $3::int[], $4::text[], $5::timestamptz[])
  AS done (seq, status_code, duration_ms, reason, completed_at)
WHERE delivery.seq = done.seq AND delivery.completed_at IS NULL`;

/** Writes what became of many deliveries at once. */
export const completeDeliveries = (sql: Sql, done: readonly Finished[]) =>
  sql.rows(complete, [
    done.map(({ seq }) => seq),
    done.map(({ statusCode }) => statusCode),
    done.map(({ durationMs }) => durationMs),
    done.map(({ reason }) => reason),
    done.map(({ completedAt }) => completedAt),
  ]);

/** Gives leases back, so that nobody need wait for their end. @param untried of which nothing was sent. */
export const releaseDeliveries = (sql: Sql, seqs: readonly number[], untried: readonly boolean[]) =>
  sql.rows(
    `UPDATE webhook_deliveries AS delivery SET leased_until = NULL, attempts = attempts - back.untried::int
     FROM unnest($1::bigint[], $2::bool[]) AS back (seq, untried)
     WHERE delivery.seq = back.seq AND delivery.completed_at IS NULL`,
    [seqs, untried],
  );

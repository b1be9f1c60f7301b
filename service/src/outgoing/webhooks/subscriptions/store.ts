import { fromMembers } from "../../../firms/members/members.ts";
import { firstOfBoth, isKeyActive, lockFirm } from "../../../firms/partners/partners.ts";
import { auditLine, linesWhere } from "../../../kernel/audit/audit.ts";
import type { Environment, Owner, Principal } from "../../../kernel/identity/identity.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import type { MacTable } from "../../../kernel/platform/protected-data.ts";
import { revocationRow } from "../../../kernel/platform/revocations.ts";
import type { Members, RowMac } from "../../../kernel/platform/row-mac.ts";

export type Subscription = { id: string; url: string; topics: string[]; active: boolean; createdAt: Date };

const columns = sql`id, url, topics, active, created_at AS "createdAt"`;

export const webhookTable = "webhooks";

/** Fields of a subscription that its MAC covers. */
export type WebhookFacts = Owner & { id: string; url: string; topics: string[] };

export const webhookMembers = ({ id, partnerId, environment, url, topics }: WebhookFacts): Members => ({
  id,
  partnerId,
  environment,
  url,
  topics: topics.join(),
});

export const webhookColumns = sql`webhooks.id, webhooks.partner_id AS "partnerId", webhooks.environment, url, topics,
  webhooks.row_mac AS mac`;

export const webhookRows: MacTable<WebhookFacts> = {
  table: sql`webhooks`,
  key: sql`id`,
  mac: sql`row_mac`,
  rows: sql`SELECT id AS key, ${webhookColumns} FROM webhooks`,
  members: webhookMembers,
  backfill: { set: "webhooks" },
};

const presentOf = ({ partnerId, environment }: Owner) =>
  sql`partner_id = ${partnerId} AND environment = ${environment} AND deleted_at IS NULL`;

/** For a firm's launchpad (its list of first steps): the time at which the firm created its first webhook. */
export const firstWebhook = { webhookAt: firstOfBoth(sql`webhooks`, sql` AND deleted_at IS NULL`) };

export const selectSubscriptions = (db: Sql, owner: Owner) =>
  db.query<Subscription>(
    sql`SELECT ${columns} FROM webhooks WHERE ${presentOf(owner)} ORDER BY created_at DESC, id DESC`,
  );

/** The owner's subscription, or undefined. */
export async function selectSubscription(db: Sql, id: string, owner: Owner): Promise<Subscription | undefined> {
  const [row] = await db.query<Subscription>(
    sql`SELECT ${columns} FROM webhooks WHERE id = ${id} AND ${presentOf(owner)}`,
  );
  return row;
}

/**
 * Locks the partner, so that concurrent requests create subscriptions one after another.
 * @returns the partner's subscriptions in the owner's environment
 */
export async function lockAndRead(tx: Tx, owner: Owner): Promise<Subscription[]> {
  await lockFirm(tx, owner.partnerId);
  return selectSubscriptions(tx, owner);
}

/**
 * True if the caller is still authorized. During the request, the key may be revoked or expire, or the member may be
 * removed. Only owners with live access may change live webhooks in a session.
 */
export async function isStillAllowed(
  tx: Tx,
  { key, member, partnerId, environment }: Principal,
  now: Date,
): Promise<boolean> {
  if (key) return isKeyActive(tx, { id: key.id, partnerId, environment }, now);
  const members = await tx.query(sql`
    SELECT ${fromMembers} WHERE m.user_id = ${member?.userId} AND m.partner_id = ${partnerId}
      AND (${environment} = 'test' OR (m.role = 'owner' AND m.live_access))`);
  return members.length === 1;
}

export type Change = Owner & { id: string; at: Date; actor: string };

const auditOf = (action: string, { id, partnerId, at, actor }: Change, from?: Statement) =>
  auditLine({ at, action, actor, partnerId, detail: { webhookId: id } }, from);

export const insertSubscription = (
  tx: Tx,
  rowMac: RowMac,
  row: Change & { url: string; topics: string[]; hash: Buffer },
) =>
  tx.query(sql`
WITH webhook AS (
  INSERT INTO webhooks (id, partner_id, environment, url, topics, created_at, row_mac)
  VALUES (${row.id}, ${row.partnerId}, ${row.environment}, ${row.url}, ${row.topics}, ${row.at},
    ${rowMac.of(webhookTable, webhookMembers(row))})
), secret AS (
  INSERT INTO webhook_secrets (webhook_id, hash) VALUES (${row.id}, ${row.hash})
)
${auditOf("webhook.created", row)}`);

/**
 * Ends a subscription and deletes its secrets.
 * @returns false when the owner has no such subscription
 */
export async function endSubscription(db: Sql, change: Change): Promise<boolean> {
  const rows = await db.query(sql`
WITH webhook AS (
  UPDATE webhooks SET deleted_at = ${change.at} WHERE id = ${change.id} AND ${presentOf(change)} RETURNING id
), revoked AS (${revocationRow("webhook", sql`id`, change.at, sql`webhook`)}
), secrets AS (
  DELETE FROM webhook_secrets WHERE webhook_id IN (SELECT id FROM webhook)
)
${auditOf("webhook.deleted", change, sql`webhook`)} RETURNING 1`);
  return rows.length === 1;
}

const createdColumns = sql`w.id AS "webhookId", w.environment, w.url, w.topics, w.created_at AS "createdAt",
  a.actor AS "createdBy"`;

/**
 * A subscription as the operator's pages show it. `createdBy` is the actor in the audit log: `key:ID` or `member:ID`.
 */
export type SubscriptionRecord = {
  webhookId: string;
  environment: Environment;
  url: string;
  topics: string[];
  createdAt: Date;
  createdBy: string;
};

/** The FROM and WHERE clauses of a query for the firm's webhooks, with their creators from the audit log. */
const webhooksOf = (partnerId: string) => sql`FROM webhooks w
  JOIN ${linesWhere(sql`partner_id = ${partnerId} AND action = 'webhook.created'`)} a ON a.detail ->> 'webhookId' = w.id::text
  WHERE w.partner_id = ${partnerId} AND w.deleted_at IS NULL`;

export const selectOfPartner = (db: Sql, partnerId: string) =>
  db.query<SubscriptionRecord>(
    sql`SELECT ${createdColumns} ${webhooksOf(partnerId)} ORDER BY w.created_at DESC, w.id DESC`,
  );

/**
 * Selects the subscriptions that this API key created. Also selects all those of members whom the key added, or whose
 * live access it changed. A member's subscriptions are included even after the member was removed. Deleted
 * subscriptions are left out.
 */
export const selectCreatedByKey = (db: Sql, partnerId: string, keyId: string) =>
  db.query<SubscriptionRecord>(sql`
SELECT ${createdColumns} ${webhooksOf(partnerId)} AND (a.actor = ${`key:${keyId}`} OR a.actor IN (
  SELECT l.actor FROM ${linesWhere(sql`partner_id = ${partnerId}
    AND action IN ('member.linked', 'member.live_access_changed') AND detail ->> 'keyId' = ${keyId}`)} l
)) ORDER BY w.created_at DESC, w.id DESC`);

/**
 * Ends any subscription on behalf of the operator.
 * @returns undefined for an unknown or ended subscription
 */
export async function endAnySubscription(db: Sql, id: string, at: Date): Promise<Owner | undefined> {
  const [owner] = await db.query<Owner>(
    sql`SELECT partner_id AS "partnerId", environment FROM webhooks WHERE id = ${id} AND deleted_at IS NULL`,
  );
  const ended = owner && (await endSubscription(db, { ...owner, id, at, actor: "operator" }));
  return ended ? owner : undefined;
}

export async function ownsSubscription(db: Sql, id: string, owner: Owner): Promise<boolean> {
  const rows = await db.query(sql`SELECT 1 FROM webhooks WHERE id = ${id} AND ${presentOf(owner)}`);
  return rows.length === 1;
}

/**
 * Locks the subscription until the transaction ends.
 * @returns false when the owner has no such subscription
 */
export async function lockSubscription(tx: Tx, id: string, owner: Owner): Promise<boolean> {
  const rows = await tx.query(sql`SELECT 1 FROM webhooks WHERE id = ${id} AND ${presentOf(owner)} FOR NO KEY UPDATE`);
  return rows.length === 1;
}

/**
 * Retires the current secret: sets its expiry, and deletes the oldest replaced secrets. The caller must have locked the
 * subscription, and inserts the new secret.
 * @param keep how many replaced secrets remain, including the one that was current
 */
export async function retireSecret(tx: Tx, webhookId: string, expiresAt: Date, keep: number): Promise<void> {
  await tx.query(
    sql`UPDATE webhook_secrets SET expires_at = ${expiresAt} WHERE webhook_id = ${webhookId} AND expires_at IS NULL`,
  );
  await tx.query(sql`
DELETE FROM webhook_secrets WHERE webhook_id = ${webhookId} AND id NOT IN (
  SELECT id FROM webhook_secrets WHERE webhook_id = ${webhookId} ORDER BY id DESC LIMIT ${keep}
)`);
}

export const insertSecret = (tx: Tx, change: Change & { hash: Buffer }) =>
  tx.query(sql`
WITH secret AS (INSERT INTO webhook_secrets (webhook_id, hash) VALUES (${change.id}, ${change.hash}))
${auditOf("webhook.secret_rotated", change)}`);

/** Deletes replaced secrets after their expiry. */
export const deleteExpiredSecrets = (db: Sql, now: Date) =>
  db.query(sql`DELETE FROM webhook_secrets WHERE expires_at < ${now}`);

/** Makes the replaced secrets of a firm's test webhooks expire earlier, by this many seconds. */
export const bringSecretEndsNearer = (tx: Tx, partnerId: string, seconds: number) =>
  tx.query(sql`
    UPDATE webhook_secrets s SET expires_at = s.expires_at - make_interval(secs => ${seconds})
    FROM webhooks w WHERE w.id = s.webhook_id AND w.partner_id = ${partnerId} AND w.environment = 'test'
      AND s.expires_at > now()`);

/** A firm's webhook, with the results of its latest deliveries. */
type WebhookHealth = {
  webhookId: string;
  environment: string;
  url: string;
  topics: string[];
  /** `delivered`, `failed` and `pending` count the webhook's latest 100 deliveries by their state. */
  delivered: number;
  failed: number;
  pending: number;
  lastReason: string | null;
};

/** The webhooks of a firm that have not ended, oldest first. */
export const webhookHealth = (db: Sql, partnerId: string): Promise<WebhookHealth[]> =>
  db.query<WebhookHealth>(sql`
  SELECT w.id AS "webhookId", w.environment, w.url, w.topics, (count(*) FILTER (WHERE d.state = 'delivered'))::int AS delivered,
    (count(*) FILTER (WHERE d.state = 'failed'))::int AS failed, (count(*) FILTER (WHERE d.state = 'pending'))::int AS pending,
    (array_agg(d.reason ORDER BY d.seq DESC) FILTER (WHERE d.state = 'failed'))[1] AS "lastReason"
  FROM webhooks w LEFT JOIN LATERAL (
    SELECT seq, state, reason FROM webhook_deliveries WHERE webhook_id = w.id ORDER BY seq DESC LIMIT 100) d ON true
  WHERE w.partner_id = ${partnerId} AND w.deleted_at IS NULL GROUP BY w.id ORDER BY w.created_at, w.id`);

import type { Owner } from "../../identity/identity.ts";
import type { Sql, Tx } from "../../platform/database.ts";

/** Whose: a partner's, in the environment of its key. */

export type Subscription = { id: string; url: string; topics: string[]; active: boolean; createdAt: Date };

export const selectSubscriptions = (sql: Sql, { partnerId, environment }: Owner) =>
  sql.rows<Subscription>(
    `SELECT id, url, topics, active, created_at AS "createdAt" FROM webhooks
     WHERE partner_id = $1 AND environment = $2 AND deleted_at IS NULL ORDER BY created_at DESC, id DESC`,
    [partnerId, environment],
  );

/** A subscription of this owner, or undefined. */
export async function selectSubscription(sql: Sql, id: string, { partnerId, environment }: Owner) {
  const [row] = await sql.rows<Subscription>(
    `SELECT id, url, topics, active, created_at AS "createdAt" FROM webhooks
     WHERE id = $1 AND partner_id = $2 AND environment = $3 AND deleted_at IS NULL`,
    [id, partnerId, environment],
  );
  return row;
}

/** Locks the partner against other new subscriptions. @returns how many there are. */
export async function lockAndCount(tx: Tx, { partnerId, environment }: Owner): Promise<number> {
  await tx.rows("SELECT 1 FROM partners WHERE id = $1 FOR NO KEY UPDATE", [partnerId]);
  const [row] = await tx.rows<{ count: number }>(
    "SELECT count(*) AS count FROM webhooks WHERE partner_id = $1 AND environment = $2 AND deleted_at IS NULL",
    [partnerId, environment],
  );
  return row?.count ?? 0;
}

export type Change = Owner & { id: string; at: Date; actor: string };

export const insertSubscription = (tx: Tx, row: Change & { url: string; topics: string[]; hash: Buffer }) =>
  tx.rows(
    `WITH webhook AS (
       INSERT INTO webhooks (id, partner_id, environment, url, topics, created_at) VALUES ($1, $2, $3, $4, $5, $6)
       RETURNING id
     ), secret AS (
       INSERT INTO webhook_secrets (webhook_id, hash) SELECT id, $7 FROM webhook
     )
     INSERT INTO audit_log (occurred_at, action, actor, partner_id, detail)
     SELECT $6, 'webhook.created', $8, $2, jsonb_build_object('webhookId', id) FROM webhook`,
    [row.id, row.partnerId, row.environment, row.url, row.topics, row.at, row.hash, row.actor],
  );

/** Ends a subscription and forgets its secrets. @returns false when the owner has no such one. */
export async function endSubscription(sql: Sql, change: Change): Promise<boolean> {
  const rows = await sql.rows(
    `WITH webhook AS (
       UPDATE webhooks SET deleted_at = $4
       WHERE id = $1 AND partner_id = $2 AND environment = $3 AND deleted_at IS NULL RETURNING id
     ), secrets AS (
       DELETE FROM webhook_secrets WHERE webhook_id IN (SELECT id FROM webhook)
     )
     INSERT INTO audit_log (occurred_at, action, actor, partner_id, detail)
     SELECT $4, 'webhook.deleted', $5, $2, jsonb_build_object('webhookId', id) FROM webhook RETURNING 1`,
    [change.id, change.partnerId, change.environment, change.at, change.actor],
  );
  return rows.length === 1;
}

export async function ownsSubscription(sql: Sql, id: string, { partnerId, environment }: Owner): Promise<boolean> {
  const rows = await sql.rows(
    "SELECT 1 FROM webhooks WHERE id = $1 AND partner_id = $2 AND environment = $3 AND deleted_at IS NULL",
    [id, partnerId, environment],
  );
  return rows.length === 1;
}

/** Holds the subscription until the end of the transaction. @returns false when the owner has no such one. */
export async function lockSubscription(tx: Tx, id: string, { partnerId, environment }: Owner): Promise<boolean> {
  const rows = await tx.rows(
    `SELECT 1 FROM webhooks WHERE id = $1 AND partner_id = $2 AND environment = $3 AND deleted_at IS NULL
     FOR NO KEY UPDATE`,
    [id, partnerId, environment],
  );
  return rows.length === 1;
}

/** Under the subscription's lock: the secret in use gets an end, and of those that have one only the latest stay. */
export async function retireSecret(tx: Tx, webhookId: string, expiresAt: Date, keep: number): Promise<void> {
  await tx.rows("UPDATE webhook_secrets SET expires_at = $2 WHERE webhook_id = $1 AND expires_at IS NULL", [
    webhookId,
    expiresAt,
  ]);
  await tx.rows(
    `DELETE FROM webhook_secrets WHERE webhook_id = $1
     AND id NOT IN (SELECT id FROM webhook_secrets WHERE webhook_id = $1 ORDER BY id DESC LIMIT $2)`,
    [webhookId, keep],
  );
}

export const insertSecret = (tx: Tx, change: Change & { hash: Buffer }) =>
  tx.rows(
    `WITH secret AS (INSERT INTO webhook_secrets (webhook_id, hash) VALUES ($1, $2))
     INSERT INTO audit_log (occurred_at, action, actor, partner_id, detail)
     VALUES ($3, 'webhook.secret_rotated', $4, $5, jsonb_build_object('webhookId', $1::uuid))`,
    [change.id, change.hash, change.at, change.actor, change.partnerId],
  );

/** Forgets secrets that sign no more. */
export const deleteLapsedSecrets = (sql: Sql, now: Date) =>
  sql.rows("DELETE FROM webhook_secrets WHERE expires_at < $1", [now]);

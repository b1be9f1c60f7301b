import { auditLine } from "../../../kernel/audit/audit.ts";
import type { Environment, Owner, Scope } from "../../../kernel/identity/identity.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { durableRevocationRow } from "../../../kernel/platform/revocations.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import { verifiedFirms } from "../firm-mac.ts";
import type { KeyFacts } from "./format.ts";

/** The record of a key, without its text. */
export type KeyMetadata = {
  keyId: string;
  environment: Environment;
  last4: string;
  name: string | null;
  /** The scopes of the key; null for a key without restrictions. */
  scopes: Scope[] | null;
  createdAt: Date;
  expiresAt: Date | null;
  lastUsedAt: Date | null;
  /** The network of the last use whose IP address was known; not the full address. */
  lastUsedFrom: string | null;
  revokedAt: Date | null;
  /** The earlier key that this key replaced. */
  replaces: string | null;
};

const columns = sql`id AS "keyId", environment, last4, name, scopes, created_at AS "createdAt", expires_at AS "expiresAt",
  last_used_at AS "lastUsedAt", last_used_from AS "lastUsedFrom", revoked_at AS "revokedAt", replaces`;

export type NewKey = KeyFacts & {
  last4: string;
  name: string | null;
  issuedBy: string | null;
  replaces: string | null;
  mac: Buffer;
};

export const insertKey = (db: Sql, key: NewKey) =>
  db.query(sql`INSERT INTO partner_keys
    (id, partner_id, environment, key_sha256, last4, name, scopes, expires_at, issued_by, replaces, row_mac)
    VALUES (${key.keyId}, ${key.partnerId}, ${key.environment}, ${key.sha256}, ${key.last4}, ${key.name},
      ${key.scopes}::text[], ${key.expiresAt}, ${key.issuedBy}, ${key.replaces}, ${key.mac})`);

export const selectKeys = (db: Sql, partnerId: string) =>
  db.query<KeyMetadata>(
    sql`SELECT ${columns} FROM partner_keys WHERE partner_id = ${partnerId} ORDER BY created_at, id`,
  );

/**
 * Of the keys with these ids, selects those whose rows are not marked as revoked and have not expired. It doesn't read
 * the recorded revocations.
 */
export async function keysInForce(db: Sql, ids: readonly string[], now: Date): Promise<string[]> {
  const keys = await db.query<{ id: string }>(sql`
    SELECT id FROM partner_keys WHERE id::text = ANY (${ids}::text[])
      AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${now})`);
  return keys.map(({ id }) => id);
}

/**
 * True if a key of a firm is still active, according to its row. It may have been revoked or have expired since the
 * request began.
 */
export async function isKeyActive(
  db: Sql,
  { id, partnerId, environment }: Owner & { id: string },
  now: Date,
): Promise<boolean> {
  const active = await db.query(sql`
    SELECT FROM partner_keys WHERE id = ${id} AND partner_id = ${partnerId} AND environment = ${environment}
      AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${now})`);
  return active.length === 1;
}

/** The FROM clause with which other features read keys; their alias is `k`. */
export const fromKeys: Statement = sql`FROM partner_keys k`;

/** The keys whose rows say that they were revoked. It doesn't read the recorded revocations. */
export const revokedKeys = (db: Sql) =>
  db.query<{ subject: string; effectiveAt: Date }>(sql`
    SELECT id AS subject, revoked_at AS "effectiveAt" FROM partner_keys WHERE revoked_at IS NOT NULL`);

export type KeyRow = KeyMetadata & KeyFacts & { mac: Buffer | null; isReplaced: boolean };

/** A key as stored, without verifying its MAC; the caller must have locked its firm. */
export async function selectKey(tx: Tx, keyId: string): Promise<KeyRow | undefined> {
  const [key] = await tx.query<KeyRow>(sql`
    SELECT ${columns}, partner_id AS "partnerId", key_sha256 AS sha256, row_mac AS mac,
      EXISTS (SELECT FROM partner_keys n WHERE n.replaces = k.id) AS "isReplaced"
    FROM partner_keys k WHERE id = ${keyId}`);
  return key;
}

export async function countActiveKeys(tx: Tx, partnerId: string, environment: Environment, now: Date): Promise<number> {
  const [row] = await tx.query<{ keys: number }>(sql`
    SELECT count(*) AS keys FROM partner_keys WHERE partner_id = ${partnerId} AND environment = ${environment}
      AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${now})`);
  return row?.keys ?? 0;
}

/** The number of keys that members of the firm have created since `since`. */
export async function countCreatedKeys(tx: Tx, partnerId: string, since: Date): Promise<number> {
  const [row] = await tx.query<{ keys: number }>(sql`
    SELECT count(*) AS keys FROM partner_keys
    WHERE partner_id = ${partnerId} AND issued_by IS NOT NULL AND created_at > ${since}`);
  return row?.keys ?? 0;
}

/**
 * Makes a key expire at a future time. The expiry is also stored as a revocation, so an attacker who restores the old
 * row does not extend the key.
 */
export const updateExpiry = (
  tx: Tx,
  rowMac: RowMac,
  { keyId, expiresAt, mac }: { keyId: string; expiresAt: Date; mac: Buffer },
) => {
  const revocation = { kind: "key", subject: keyId, effectiveAt: expiresAt, reason: null } as const;
  return tx.query(sql`
    WITH revoked AS (${durableRevocationRow(rowMac, revocation)})
    UPDATE partner_keys SET expires_at = ${expiresAt}, row_mac = ${mac} WHERE id = ${keyId}`);
};

type LockedFirm = { tier: string; liveEnabled: boolean };

/** Serializes, until the transaction ends, changes to the firm's keys. @returns undefined for an unknown firm */
export async function lockFirm(tx: Tx, partnerId: string): Promise<LockedFirm | undefined> {
  const [firm] = await tx.query<LockedFirm>(
    sql`SELECT tier, live_enabled AS "liveEnabled", ${verifiedFirms} FROM partners WHERE id = ${partnerId} FOR NO KEY UPDATE`,
  );
  return firm;
}

/** Locks the firm of a key until the transaction ends. @returns the firm's id; undefined for an unknown key */
export async function lockFirmOfKey(tx: Tx, keyId: string): Promise<string | undefined> {
  const [firm] = await tx.query<{ id: string }>(
    sql`SELECT id FROM partners WHERE id = (SELECT partner_id FROM partner_keys WHERE id = ${keyId}) FOR NO KEY UPDATE`,
  );
  return firm?.id;
}

/**
 * Revokes a key. A key that is already revoked keeps the time of its first revocation.
 * @returns undefined for an unknown key
 */
export async function revokeKey(
  db: Sql,
  rowMac: RowMac,
  keyId: string,
  { at, actor }: { at: Date; actor: string },
): Promise<KeyMetadata | undefined> {
  const [firm] = await db.query<{ id: string }>(sql`SELECT partner_id AS id FROM partner_keys WHERE id = ${keyId}`);
  if (!firm) return undefined;
  const line = { at, action: "key.revoked", actor, partnerId: firm.id, detail: { keyId } };
  const revocation = { kind: "key", subject: keyId, effectiveAt: at, reason: null } as const;
  const [key] = await db.query<KeyMetadata>(sql`
    WITH revoked AS (
      UPDATE partner_keys SET revoked_at = coalesce(revoked_at, ${at}), row_mac = NULL WHERE id = ${keyId} RETURNING *
    ), ended AS (${durableRevocationRow(rowMac, revocation, sql`revoked`)}
    ), audit AS (${auditLine(line, sql`revoked`)})
    SELECT ${columns} FROM revoked`);
  return key;
}

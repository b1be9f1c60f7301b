import { auditLine } from "../../audit/audit.ts";
import type { Environment } from "../../identity/identity.ts";
import type { Sql, Tx } from "../../platform/database/database.ts";
import { sql } from "../../platform/database/sql.ts";

/** What is known of a key without its text. */
export type KeyMetadata = {
  keyId: string;
  environment: Environment;
  last4: string;
  createdAt: Date;
  lastUsedAt: Date | null;
  revokedAt: Date | null;
};

const columns = sql`id AS "keyId", environment, last4, created_at AS "createdAt", last_used_at AS "lastUsedAt",
  revoked_at AS "revokedAt"`;

export type NewKey = { id: string; partnerId: string; environment: Environment; sha256: Buffer; last4: string };

export const insertKey = (db: Sql, { id, partnerId, environment, sha256, last4 }: NewKey) =>
  db.query(sql`INSERT INTO partner_keys (id, partner_id, environment, key_sha256, last4)
    VALUES (${id}, ${partnerId}, ${environment}, ${sha256}, ${last4})`);

export const selectKeys = (db: Sql, partnerId: string) =>
  db.query<KeyMetadata>(
    sql`SELECT ${columns} FROM partner_keys WHERE partner_id = ${partnerId} ORDER BY created_at, id`,
  );

/** @returns the firm's id; undefined for an unknown key */
export async function lockFirmOfKey(tx: Tx, keyId: string): Promise<string | undefined> {
  const [firm] = await tx.query<{ id: string }>(
    sql`SELECT id FROM partners WHERE id = (SELECT partner_id FROM partner_keys WHERE id = ${keyId}) FOR NO KEY UPDATE`,
  );
  return firm?.id;
}

/** A key that was revoked before keeps its first instant. @returns undefined for an unknown key */
export async function revokeKey(
  db: Sql,
  keyId: string,
  { at, actor }: { at: Date; actor: string },
): Promise<KeyMetadata | undefined> {
  const line = { at, action: "key.revoked", actor, partnerId: sql`partner_id`, detail: { keyId } };
  const [key] = await db.query<KeyMetadata>(sql`
    WITH revoked AS (
      UPDATE partner_keys SET revoked_at = coalesce(revoked_at, ${at}) WHERE id = ${keyId} RETURNING *
    ), audit AS (${auditLine(line, sql`revoked`)})
    SELECT ${columns} FROM revoked`);
  return key;
}

import type { Sql } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { StartupError } from "../../kernel/platform/errors.ts";
import { keyIdText, keysOf, openSecretsKey, type SecretBytes } from "../../kernel/platform/secrets.ts";

/** The ids of keys that stored data may depend on. */
export async function recordedKeys(db: Sql): Promise<string[]> {
  const rows = await db.query<{ keyId: string }>(
    sql`SELECT key_id AS "keyId" FROM secrets_keys ORDER BY first_used_at`,
  );
  return rows.map(({ keyId }) => keyId);
}

/**
 * Opens the keys of SECRETS_KEY and SECRETS_KEYS_OLD, and records the key of SECRETS_KEY as the current one. Creates a
 * key only for a new database.
 * @throws StartupError naming a missing key that data may depend on
 */
export async function openRecordedKeys(
  db: Sql,
  { secretsKey, secretsKeysOld }: { secretsKey: string; secretsKeysOld: readonly string[] },
  at: Date,
): Promise<SecretBytes> {
  const recorded = await recordedKeys(db);
  const secrets = await openSecretsKey(secretsKey, secretsKeysOld, { mayMake: recorded.length === 0 });
  const there = new Set(keysOf(secrets).map(keyIdText));
  const missing = recorded.find((id) => !there.has(id));
  if (missing !== undefined) {
    throw new StartupError(
      `SECRETS_KEYS_OLD: data may have been written with key ${missing}, which is not there: name its file, or the right one in SECRETS_KEY`,
    );
  }
  await db.query(sql`
INSERT INTO secrets_keys (key_id, first_used_at) VALUES (${keyIdText(secrets)}, ${at}) ON CONFLICT DO NOTHING`);
  return secrets;
}

/** Deletes the records of keys that no data depends on, so that a start no longer requires these keys. */
export async function forgetKeys(db: Sql, keyIds: readonly string[]): Promise<void> {
  await db.query(sql`DELETE FROM secrets_keys WHERE key_id = ANY (${keyIds}::text[])`);
}

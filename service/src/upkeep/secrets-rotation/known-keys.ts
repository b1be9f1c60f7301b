import type { Sql } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";
import { StartupError } from "../platform/errors.ts";
import { keyIdText, keysOf, openSecretsKey, type SecretBytes } from "../platform/secrets.ts";

/** The ids of the keys that data may hang on. */
async function knownKeys(db: Sql): Promise<string[]> {
  const rows = await db.query<{ keyId: string }>(
    sql`SELECT key_id AS "keyId" FROM secrets_keys ORDER BY first_used_at`,
  );
  return rows.map(({ keyId }) => keyId);
}

/**
 * Opens the keys of SECRETS_KEY and SECRETS_KEYS_OLD, and records that data are written with the first from now on. A database that
 * was never written makes a key where there is none.
 * @throws StartupError naming a key that data may hang on, and that is not there
 */
export async function openKnownKeys(
  db: Sql,
  { secretsKey, secretsKeysOld }: { secretsKey: string; secretsKeysOld: readonly string[] },
  at: Date,
): Promise<SecretBytes> {
  const known = await knownKeys(db);
  const secrets = await openSecretsKey(secretsKey, secretsKeysOld, { mayMake: known.length === 0 });
  const there = new Set(keysOf(secrets).map(keyIdText));
  const missing = known.find((id) => !there.has(id));
  if (missing !== undefined) {
    throw new StartupError(
      `SECRETS_KEYS_OLD: data may have been written with key ${missing}, which is not there: name its file, or the right one in SECRETS_KEY`,
    );
  }
  await db.query(sql`
INSERT INTO secrets_keys (key_id, first_used_at) VALUES (${keyIdText(secrets)}, ${at}) ON CONFLICT DO NOTHING`);
  return secrets;
}

/** Takes out keys that nothing hangs on any more: a start does not ask for them. */
export async function forgetKeys(db: Sql, keyIds: readonly string[]): Promise<void> {
  await db.query(sql`DELETE FROM secrets_keys WHERE key_id = ANY (${keyIds}::text[])`);
}

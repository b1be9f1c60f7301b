import { keyCipherColumn } from "../access-requests/access-requests.ts";
import { columnCipher, columnMagic, columnPrefix } from "../platform/column-cipher.ts";
import type { Sql } from "../platform/database/database.ts";
import { type Statement, sql } from "../platform/database/sql.ts";
import { keyIdBytes, type SecretBytes } from "../platform/secrets.ts";
import { webhookSecretColumn } from "../webhooks/webhooks.ts";
import { countsOf, type KeyCounts, unionOf } from "./rows.ts";

/** A column of encrypted values: what each is bound to is `context`. */
type SealedColumn = { use: string; table: Statement; key: Statement; column: Statement; context: Statement };

const columns: readonly SealedColumn[] = [
  {
    use: webhookSecretColumn,
    table: sql`webhook_secrets`,
    key: sql`id`,
    column: sql`hash`,
    context: sql`webhook_id::text`,
  },
  {
    use: keyCipherColumn,
    table: sql`access_requests`,
    key: sql`id`,
    column: sql`sealed_key`,
    context: sql`id::text`,
  },
];

/**
 * Encrypts each value anew that is not under the current key. One that no key decrypts stays as it is. Safe like `rotateRowMacs`.
 * @returns how many values were encrypted anew
 */
export async function rotateValues(db: Sql, secrets: SecretBytes): Promise<number> {
  const prefix = columnPrefix(secrets);
  let rotated = 0;
  for (const { use, table, key, column, context } of columns) {
    const cipher = columnCipher(secrets, use);
    // Few rows: a subscription has two secrets at most, and keys wait only for their mail.
    const rows = await db.query<{ key: string | number; context: string; sealed: Buffer }>(sql`
SELECT ${key} AS key, ${context} AS context, ${column} AS sealed FROM ${table}
WHERE substring(${column} FROM 1 FOR ${prefix.length}::int) <> ${prefix}`);
    for (const row of rows) {
      const plain = decryptedOrNull(() => cipher.decrypt(row.sealed, row.context));
      if (plain === null) continue;
      await db.query(sql`
UPDATE ${table} SET ${column} = ${cipher.encrypt(plain, row.context)} WHERE ${key} = ${row.key} AND ${column} = ${row.sealed}`);
      rotated++;
    }
  }
  return rotated;
}

/** What can't be decrypted is counted, under its key, by whoever asks what is left. */
function decryptedOrNull(decrypt: () => Buffer): Buffer | null {
  try {
    return decrypt();
  } catch {
    return null;
  }
}

/** How many values are under which key; `none` for those of before there were ids. */
export async function countValues(db: Sql): Promise<KeyCounts> {
  const values = columns.map(
    ({ table, column }) => sql`SELECT ${column} AS value FROM ${table} WHERE ${column} IS NOT NULL`,
  );
  const [from, length] = [columnMagic.length + 1, columnMagic.length];
  const id = sql`CASE WHEN substring(value FROM 1 FOR ${length}::int) = ${columnMagic}
    THEN encode(substring(value FROM ${from}::int FOR ${keyIdBytes}::int), 'hex') ELSE 'none' END`;
  return countsOf(db, id, unionOf(values));
}

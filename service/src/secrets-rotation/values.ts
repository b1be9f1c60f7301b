import { keyCipherColumn } from "../access-requests/access-requests.ts";
import { firmNoteColumn } from "../orders/orders.ts";
import { columnCipher, columnMagic, columnPrefix } from "../platform/column-cipher.ts";
import type { Sql } from "../platform/database/database.ts";
import { nothing, type Statement, sql } from "../platform/database/sql.ts";
import { documentNameColumn } from "../platform/document-name.ts";
import { keyIdBytes, type SecretBytes } from "../platform/secrets.ts";
import { callColumn, eventColumn } from "../providers/providers.ts";
import { sealedTextIds } from "../sealed-texts.ts";
import { exchangeColumn, webhookKeyColumn, webhookSecretColumn } from "../webhooks/webhooks.ts";
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
    use: webhookKeyColumn,
    table: sql`webhook_keys`,
    key: sql`partner_id || ':' || environment`,
    column: sql`private_key`,
    context: sql`partner_id || ':' || environment`,
  },
  {
    use: exchangeColumn,
    table: sql`webhook_deliveries`,
    key: sql`seq`,
    column: sql`exchange`,
    context: sql`seq::text`,
  },
  {
    use: keyCipherColumn,
    table: sql`access_requests`,
    key: sql`id`,
    column: sql`sealed_key`,
    context: sql`id::text`,
  },
  ...[
    { table: sql`orders`, key: sql`code` },
    { table: sql`passports`, key: sql`id` },
  ].map(({ table, key }) => ({
    use: documentNameColumn,
    table,
    key,
    column: sql`document_name`,
    context: sql`${key}::text`,
  })),
  {
    use: documentNameColumn,
    table: sql`orders`,
    key: sql`code`,
    column: sql`document_notices`,
    context: sql`code || '/notices'`,
  },
  {
    use: firmNoteColumn,
    table: sql`firm_notes`,
    key: sql`id`,
    column: sql`text`,
    context: sql`id::text`,
  },
  ...[sql`payload`, sql`result`].map((column) => ({
    use: callColumn,
    table: sql`provider_calls`,
    key: sql`id`,
    column,
    context: sql`act || ':' || order_id || ':' || attempt`,
  })),
  {
    use: eventColumn,
    table: sql`provider_events`,
    key: sql`id`,
    column: sql`content`,
    context: sql`provider || ':' || event_id`,
  },
];

// Events are up to 2 MiB each.
const atOnce = 20;

/**
 * Encrypts each value anew that is not under the current key. One that no key decrypts stays as it is. Safe like `rotateRowMacs`.
 * @returns how many values were encrypted anew
 */
export async function rotateValues(db: Sql, secrets: SecretBytes): Promise<number> {
  let rotated = 0;
  for (const column of columns) rotated += await rotateColumn(db, secrets, column);
  return rotated;
}

type SealedRow = { key: string | number; context: string; sealed: Buffer };

async function rotateColumn(
  db: Sql,
  secrets: SecretBytes,
  { use, table, key, column, context }: SealedColumn,
): Promise<number> {
  const prefix = columnPrefix(secrets);
  const cipher = columnCipher(secrets, use);
  let rotated = 0;
  let last: SealedRow | undefined;
  do {
    const rows: SealedRow[] = await db.query<SealedRow>(sql`
SELECT ${key} AS key, ${context} AS context, ${column} AS sealed FROM ${table}
WHERE substring(${column} FROM 1 FOR ${prefix.length}::int) <> ${prefix} ${last ? sql`AND ${key} > ${last.key}` : nothing}
ORDER BY ${key} LIMIT ${atOnce}`);
    for (const row of rows) {
      const plain = decryptedOrNull(() => cipher.decrypt(row.sealed, row.context));
      if (plain === null) continue;
      await db.query(sql`
UPDATE ${table} SET ${column} = ${cipher.encrypt(plain, row.context)} WHERE ${key} = ${row.key} AND ${column} = ${row.sealed}`);
      rotated++;
    }
    last = rows.at(-1);
  } while (last);
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
  const ids = sql`SELECT ${id} AS id FROM (${unionOf(values)}) AS each UNION ALL ${sealedTextIds}`;
  return countsOf(db, sql`id`, ids);
}

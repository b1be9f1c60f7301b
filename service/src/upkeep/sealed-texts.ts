import { longStatements, type Sql, type Tx } from "../kernel/platform/database/database.ts";
import type { AsOwner } from "../kernel/platform/database/migrations.ts";
import { nothing, type Statement, sql, unionAll } from "../kernel/platform/database/sql.ts";
import type { Log } from "../kernel/platform/logs.ts";
import type { SealedColumn } from "../kernel/platform/protected-data.ts";
import { keyIdStart, type SealedKind, type SealedTexts, sealedStart } from "../kernel/platform/sealed-text.ts";
import { keyIdText, type SecretBytes } from "../kernel/platform/secrets.ts";
import { protectedTables } from "./protected-data.ts";

type Column = SealedColumn & { table: Statement; by: Statement };

const columns: readonly Column[] = protectedTables.flatMap(({ table, texts = [] }) =>
  texts.map((text) => ({ by: text.column, ...text, table })),
);

// Number of the advisory lock that all nodes share. Its holder encrypts the texts; the other nodes wait, and then find
// nothing to do.
const advisoryLock = 7_246_005;
const batch = 500;

type Row = { key: string | number; text: string };

/**
 * Encrypts the texts that an earlier release stored as plain text. Each table is one transaction, which ends by
 * validating its constraints. So the database itself guarantees that no plain text remains, and later starts have
 * nothing to do.
 */
export async function sealTexts(
  { db, asOwner, log }: { db: Sql; asOwner: AsOwner; log: Log },
  texts: SealedTexts,
): Promise<void> {
  if ((await unsealed(db)).length === 0) return;
  await asOwner(async (owner) => {
    for (const table of new Set(columns.map((column) => column.table))) {
      const rows = await owner.transaction((tx) => sealTable(tx, texts, table), longStatements);
      if (rows > 0) log.info({ rows, table: table.text }, "codes of an earlier release were sealed");
    }
  });
}

async function unsealed(db: Sql): Promise<Column[]> {
  const open = await db.query<{ name: string }>(sql`
    SELECT conname AS name FROM pg_constraint
    WHERE NOT convalidated AND conname = ANY (${columns.map(({ constraint }) => constraint)}::text[])
      AND connamespace = current_schema()::regnamespace`);
  return columns.filter(({ constraint }) => open.some(({ name }) => name === constraint));
}

async function sealTable(tx: Tx, texts: SealedTexts, table: Statement): Promise<number> {
  // This transaction waits longer than usual for locks, because another node may be encrypting the texts.
  await tx.script("SET LOCAL lock_timeout = '10min'");
  await tx.query(sql`SELECT pg_advisory_xact_lock(${advisoryLock})`);
  const open = (await unsealed(tx)).filter((column) => column.table === table);
  const [first] = open;
  if (!first) return 0;
  // Updates all sealed columns of a row at once, because a constraint checks the whole row. No table has more than two
  // sealed columns.
  const [second = first] = open.slice(1);
  await tx.query(sql`
    DECLARE unsealed_texts NO SCROLL CURSOR FOR SELECT * FROM (
      SELECT ${first.by} AS key, ${plainText(first)} AS text, ${plainText(second)} AS second FROM ${table}
    ) AS texts WHERE num_nonnulls(text, second) > 0`);
  let sealed = 0;
  for (;;) {
    const rows = await tx.query<PlainRow>(sql`FETCH 500 FROM unsealed_texts`);
    if (rows.length === 0) break;
    const formsOf = ({ kind }: Column, plain: (row: PlainRow) => string | null) =>
      rows.map(plain).map((text) => text && texts.seal(kind, text));
    const forms = { first: formsOf(first, ({ text }) => text), second: formsOf(second, (row) => row.second) };
    const also =
      second === first ? nothing : sql`, ${second.column} = coalesce(changed.second, ${table}.${second.column})`;
    await tx.query(sql`
      UPDATE ${table} SET ${first.column} = coalesce(changed.form, ${table}.${first.column}) ${also}
      FROM unnest(${rows.map(({ key }) => String(key))}::text[], ${forms.first}::text[], ${forms.second}::text[])
        AS changed (key, form, second)
      WHERE ${isKey(first)}`);
    sealed += rows.length;
  }
  await tx.query(sql`CLOSE unsealed_texts`);
  for (const { constraint } of open) await tx.script(`ALTER TABLE ${table.text} VALIDATE CONSTRAINT ${constraint}`);
  return sealed;
}

type PlainRow = { key: string | number; text: string | null; second: string | null };

const plainText = ({ column, text = column, which = sql`true` }: Column): Statement =>
  sql`CASE WHEN ${which} AND NOT starts_with(${column}, ${sealedStart}) THEN ${text} END`;

const isKey = ({ by, isNumbered }: Column): Statement =>
  sql`${by} = ${isNumbered ? sql`changed.key::bigint` : sql`changed.key`}`;

/**
 * Re-encrypts each text under the current key. A text that no key decrypts stays unchanged. Safe on a running service
 * and after an interruption. Runs as the owner, because the service's own role has no right to change events.
 * @returns the number of changed texts
 */
export async function rotateTexts(owner: Sql, texts: SealedTexts, secrets: SecretBytes): Promise<number> {
  let rotated = 0;
  for (const column of columns) rotated += await rotateColumn(owner, texts, secrets, column);
  return rotated;
}

async function rotateColumn(owner: Sql, texts: SealedTexts, secrets: SecretBytes, of: Column): Promise<number> {
  const { kind, table, column, by } = of;
  const current = `${sealedStart}${keyIdText(secrets)}.`;
  let rotated = 0;
  let last: Row | undefined;
  do {
    const rows: Row[] = await owner.query<Row>(sql`
      SELECT ${by} AS key, ${column} AS text FROM ${table}
      WHERE starts_with(${column}, ${sealedStart}) AND NOT starts_with(${column}, ${current})
        ${last ? sql`AND ${by} > ${last.key}` : nothing}
      ORDER BY ${by} LIMIT ${batch}`);
    const opened = rows.flatMap((row) => {
      const plain = openedOrNull(texts, kind, row.text);
      return plain === null ? [] : [{ ...row, plain }];
    });
    if (opened.length > 0)
      await owner.query(sql`
        UPDATE ${table} SET ${column} = changed.form
        FROM unnest(${opened.map((row) => String(row.key))}::text[], ${opened.map(({ text }) => text)}::text[],
          ${opened.map(({ plain }) => texts.seal(kind, plain))}::text[]) AS changed (key, was, form)
        WHERE ${isKey(of)} AND ${column} = changed.was`);
    rotated += opened.length;
    last = rows.at(-1);
  } while (last);
  return rotated;
}

/**
 * The decrypted text; null for a text that no key decrypts, or that is not encrypted. `secretsStatus` still counts a
 * text that no key decrypts, under the id of its key.
 */
function openedOrNull(texts: SealedTexts, kind: SealedKind, stored: string): string | null {
  try {
    const text = texts.open(kind, stored);
    return text === stored ? null : text;
  } catch {
    return null;
  }
}

/** Selects the key id of each encrypted text. */
export const sealedTextIds: Statement = unionAll(
  columns.map(
    ({ table, column }) => sql`
      SELECT substring(${column} FROM ${keyIdStart + 1}::int FOR 8) AS id FROM ${table}
      WHERE starts_with(${column}, ${sealedStart})`,
  ),
);

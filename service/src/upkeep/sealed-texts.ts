import { longStatements, type Sql, type Tx } from "./platform/database/database.ts";
import type { AsOwner } from "./platform/database/migrations.ts";
import { nothing, type Statement, sql } from "./platform/database/sql.ts";
import type { Log } from "./platform/logs.ts";
import { keyIdStart, type SealedKind, type SealedTexts, sealedStart } from "./platform/sealed-text.ts";
import { keyIdText, type SecretBytes } from "./platform/secrets.ts";

/** A column of sealed texts. */
type SealedColumn = {
  kind: SealedKind;
  table: Statement;
  column: Statement;
  /** The column that identifies and orders its rows; a text unless it is said to be a number. */
  key: Statement;
  isNumbered?: true;
  /** The constraint that holds once every row is sealed. */
  constraint: string;
  /** The text of a row that was written before there were sealed texts, where it is not the column itself. */
  text?: Statement;
  /** Which rows have one. */
  which?: Statement;
};

const ofRooms = sql`starts_with(topic, 'room.')`;
const answerKey = sql`partner_id || ' ' || environment || ' ' || route || ' ' || idempotency_key`;

const [closings, events] = [sql`closing_passports`, sql`events`];

const columns: readonly SealedColumn[] = [
  {
    kind: "proof",
    table: sql`passports`,
    column: sql`verify_code`,
    key: sql`verify_code`,
    constraint: "passports_verify_code_sealed",
  },
  {
    kind: "manifest",
    table: closings,
    column: sql`manifest`,
    key: sql`verify_code`,
    constraint: "closing_passports_manifest_sealed",
  },
  {
    kind: "closing",
    table: closings,
    column: sql`verify_code`,
    key: sql`verify_code`,
    constraint: "closing_passports_verify_code_sealed",
  },
  { kind: "room", table: sql`rooms`, column: sql`code`, key: sql`code`, constraint: "rooms_code_sealed" },
  {
    kind: "envelope",
    table: sql`envelopes`,
    column: sql`verify_code`,
    key: sql`verify_code`,
    constraint: "envelopes_verify_code_sealed",
  },
  {
    kind: "answer",
    table: sql`idempotency_keys`,
    column: sql`body`,
    key: answerKey,
    constraint: "idempotency_keys_body_sealed",
    text: sql`${answerKey} || E'\n' || body`,
  },
  {
    kind: "event",
    table: events,
    column: sql`event_id`,
    key: sql`id`,
    isNumbered: true,
    constraint: "events_event_id_sealed",
    which: ofRooms,
  },
  {
    kind: "event",
    table: events,
    column: sql`subject`,
    key: sql`id`,
    isNumbered: true,
    constraint: "events_subject_sealed",
    which: sql`topic = 'room.passport_sealed'`,
  },
];

// One number for all nodes: the holder seals, the others wait and then find it done.
const advisoryLock = 7_246_005;
const batch = 500;

type Row = { key: string | number; text: string };

/**
 * Seals the texts that an earlier release stored plain. A table is sealed in one transaction, which ends with the validation of its
 * constraints: so the database itself vouches that no plain text is left, and a start that finds them all valid does nothing.
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

async function unsealed(db: Sql): Promise<SealedColumn[]> {
  const open = await db.query<{ name: string }>(sql`
    SELECT conname AS name FROM pg_constraint
    WHERE NOT convalidated AND conname = ANY (${columns.map(({ constraint }) => constraint)}::text[])
      AND connamespace = current_schema()::regnamespace`);
  return columns.filter(({ constraint }) => open.some(({ name }) => name === constraint));
}

async function sealTable(tx: Tx, texts: SealedTexts, table: Statement): Promise<number> {
  // Another node may be busy with it: wait.
  await tx.script("SET LOCAL lock_timeout = '10min'");
  await tx.query(sql`SELECT pg_advisory_xact_lock(${advisoryLock})`);
  const open = (await unsealed(tx)).filter((column) => column.table === table);
  const [first] = open;
  if (!first) return 0;
  // A row is updated once, as each constraint looks at the row as a whole. No table has more than two such columns.
  const [second = first] = open.slice(1);
  await tx.query(sql`
    DECLARE unsealed_texts NO SCROLL CURSOR FOR SELECT * FROM (
      SELECT ${first.key} AS key, ${plainText(first)} AS text, ${plainText(second)} AS second FROM ${table}
    ) AS texts WHERE num_nonnulls(text, second) > 0`);
  let sealed = 0;
  for (;;) {
    const rows = await tx.query<PlainRow>(sql`FETCH 500 FROM unsealed_texts`);
    if (rows.length === 0) break;
    const formsOf = ({ kind }: SealedColumn, plain: (row: PlainRow) => string | null) =>
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

const plainText = ({ column, text = column, which = sql`true` }: SealedColumn): Statement =>
  sql`CASE WHEN ${which} AND NOT starts_with(${column}, ${sealedStart}) THEN ${text} END`;

const isKey = ({ key, isNumbered }: SealedColumn): Statement =>
  sql`${key} = ${isNumbered ? sql`changed.key::bigint` : sql`changed.key`}`;

/**
 * Gives each sealed text its form under the current key. A text that no key opens stays as it is. Safe on a running service, and when
 * it is cut off: the next run goes on with what is left. Run as the owner: the service's own role may change no event.
 * @returns how many texts got another form
 */
export async function rotateTexts(owner: Sql, texts: SealedTexts, secrets: SecretBytes): Promise<number> {
  let rotated = 0;
  for (const column of columns) rotated += await rotateColumn(owner, texts, secrets, column);
  return rotated;
}

async function rotateColumn(owner: Sql, texts: SealedTexts, secrets: SecretBytes, of: SealedColumn): Promise<number> {
  const { kind, table, column, key } = of;
  const current = `${sealedStart}${keyIdText(secrets)}.`;
  let rotated = 0;
  let last: Row | undefined;
  do {
    const rows: Row[] = await owner.query<Row>(sql`
      SELECT ${key} AS key, ${column} AS text FROM ${table}
      WHERE starts_with(${column}, ${sealedStart}) AND NOT starts_with(${column}, ${current})
        ${last ? sql`AND ${key} > ${last.key}` : nothing}
      ORDER BY ${key} LIMIT ${batch}`);
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

/** What can't be opened is counted, under its key, by the status. */
function openedOrNull(texts: SealedTexts, kind: SealedKind, stored: string): string | null {
  try {
    const text = texts.open(kind, stored);
    return text === stored ? null : text;
  } catch {
    return null;
  }
}

/** A statement of all sealed texts, for a count by the id of their key. */
export const sealedTextIds: Statement = columns
  .map(
    ({ table, column }) => sql`
      SELECT substring(${column} FROM ${keyIdStart + 1}::int FOR 8) AS id FROM ${table}
      WHERE starts_with(${column}, ${sealedStart})`,
  )
  .reduce((all, one) => sql`${all} UNION ALL ${one}`);

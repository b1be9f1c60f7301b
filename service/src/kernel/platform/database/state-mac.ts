import { AlteredRecordError } from "../errors.ts";
import type { Members, RowMac } from "../row-mac.ts";
import type { SealedKind, SealedTexts } from "../sealed-text.ts";
import { MissingKeyError } from "../secrets.ts";
import { nothing, quoted, type Statement, sql, ToSeal, textual } from "./sql.ts";

/**
 * A table whose rows have a MAC over a digest of some of their columns. PostgreSQL computes the digest when it reads
 * the row, and the database handle verifies the MAC. A query only has to select `verified`.
 */
export type StateMac = {
  table: Statement;
  /** The column that identifies a row. */
  key: Statement;
  /** The column that contains the MAC. */
  mac: Statement;
  /** The columns that the MAC covers. `row` is the alias of the row in the query. */
  covered: (row: Statement) => Statement;
  /**
   * The table's column of sealed texts, if it has one. The MAC covers the decrypted text, because rotating SECRETS_KEY
   * changes the encrypted form.
   */
  opened?: { column: Statement; kind: SealedKind };
};

/**
 * A placeholder in a statement's values for the new MAC of an existing row. The database handle, which has the key,
 * replaces it by the MAC.
 */
export class MacOfState {
  readonly table: string;
  readonly digest: string;
  readonly open: string | undefined;

  constructor(table: string, digest: string, open?: string) {
    this.table = table;
    this.digest = digest;
    this.open = open;
  }
}

/**
 * The members that a row's MAC covers. For a value that is stored sealed (encrypted), the MAC covers the plain text.
 */
export type OpenMembers = { readonly [name: string]: Members[string] | ToSeal };

/**
 * A placeholder in a statement's values for the MAC of a new row. The database handle replaces it by the MAC, so that
 * features need no key.
 */
export class MacOfRow {
  readonly table: string;
  readonly members: Members;

  constructor(table: string, members: OpenMembers) {
    const open = ([name, value]: [string, OpenMembers[string]]) => [name, value instanceof ToSeal ? value.text : value];
    this.table = table;
    this.members = Object.fromEntries(Object.entries(members).map(open));
  }
}

/**
 * The members that the MAC covers in a table with a `StateMac`.
 * @param open the decrypted text of the sealed column, if the table has one
 */
export const stateMembers = (digest: string, open?: string): Members => ({
  state: digest,
  ...(open !== undefined && { open }),
});

/** For a select list: the decrypted text of the sealed column as `open`, if the table has one. */
export const openedOf = ({ opened }: StateMac, row: Statement): Statement =>
  opened ? sql`, ${row}.${opened.column} AS ${quoted(`open@${opened.kind}`)}` : nothing;

/**
 * SQL expression: the SHA-256 of the text that `json_build_array` makes of the covered columns. `textOf` makes the same
 * text in this process.
 */
export const digestOf = ({ covered }: StateMac, row: Statement): Statement =>
  sql`sha256(convert_to(json_build_array(${covered(row)})::text, 'UTF8'))`;

/**
 * SQL expression: the text from which the database handle verifies a row. It has the digest and the MAC in hex, the
 * row's key, and the sealed text with its kind. Spaces and line feeds in the key are replaced, because outsiders choose
 * some keys, such as the payment processor's event ids.
 */
const stateText = (state: StateMac, row: Statement): Statement =>
  sql`(encode(${digestOf(state, row)}, 'hex') || ' ' || coalesce(encode(${row}.${state.mac}, 'hex'), '') || ' ' || translate(${row}.${state.key}::text, E' \\n', '__')${
    state.opened ? sql` || ${literal(` ${state.opened.kind} `)} || ${row}.${state.opened.column}` : nothing
  })`;

/** Prefixes of the columns that the database handle evaluates and removes. The name of the table follows the prefix. */
const throwing = "verified ";
const marking = "marked ";
const dating = "dated ";

/** For a select list: a column that makes the database handle throw if the row's MAC is invalid. */
export const verified = (state: StateMac, row: Statement): Statement =>
  sql`${stateText(state, row)} AS ${quoted(throwing + state.table.text)}`;

/**
 * For a select list: one column for all rows that `from` selects under the alias `row`. The database handle throws
 * unless all their MACs are valid.
 * @param from `FROM ... WHERE ...`
 */
export const verifiedAll = (state: StateMac, row: Statement, from: Statement): Statement =>
  sql`${textOfAll(state, row, from)} AS ${quoted(throwing + state.table.text)}`;

const textOfAll = (state: StateMac, row: Statement, from: Statement): Statement =>
  sql`(SELECT string_agg(${stateText(state, row)}, chr(10)) ${from})`;

/**
 * For the select list of a query that lists rows: a column that the database handle turns into a boolean member. The
 * member is false if the row's MAC is invalid.
 * @param as the member's name; if rows of two tables use the same name, the member is true only if both rows are valid
 */
export const marked = (state: StateMac, row: Statement, as = "isAuthentic"): Statement =>
  sql`${stateText(state, row)} AS ${quoted(`${marking}${state.table.text} ${as}`)}`;

/**
 * Like `marked`, for a group of rows: the member is true if the MACs of all rows that `from` selects as `row` are
 * valid.
 */
export const markedAll = (state: StateMac, row: Statement, from: Statement, as = "isAuthentic"): Statement =>
  sql`${textOfAll(state, row, from)} AS ${quoted(`${marking}${state.table.text} ${as}`)}`;

/**
 * For a select list: the time of an event, taken from rows with a MAC. The database handle replaces the column by the
 * latest time among the rows with a valid MAC, or by null.
 * @param rows `SELECT json_agg(json_build_object(...)) FROM ...`. Each object has the members that the MAC covers, in
 * the MAC's order; the time is the last of these. After them comes `mac`, in hex
 */
export const dated = (table: string, as: string, rows: Statement): Statement =>
  sql`(${rows})::text AS ${quoted(`${dating}${table} ${as}`)}`;

/** The member that the database handle sets for a column made by `marked`: false if the row's MAC is invalid. */
export type Marked = { isAuthentic: boolean };

/** A text as an SQL literal. The text is not escaped, so callers must pass a constant. */
const literal = (text: string): Statement => textual(`'${text}'`);

export const isStateColumn = (name: string): boolean =>
  [throwing, marking, dating].some((prefix) => name.startsWith(prefix));

/** The keys with which a database handle verifies rows. */
export type StateKeys = { rowMac: RowMac | null; seals: () => SealedTexts };

/**
 * Reads a text made by `stateText`. Returns the members, the MAC and the row. The MAC is null if the row's sealed text
 * can't be opened; the row then counts as altered.
 */
function stateOf(seals: StateKeys["seals"], text: string) {
  const [digest = "", mac = "", id = "", kind, ...sealed] = text.split(" ");
  const row = { id, digest };
  try {
    const open = kind === undefined ? undefined : seals().open(kind as SealedKind, sealed.join(" "));
    return { members: stateMembers(digest, open), mac: Buffer.from(mac, "hex"), row };
  } catch (error) {
    if (!isAltered(error) && !(error instanceof MissingKeyError)) throw error;
    return { members: row, mac: null, row };
  }
}

type DatedRow = { [name: string]: string } & { mac: string };

/**
 * The latest time of the rows in `text`, the JSON of a column made by `dated`. Rows whose MAC is invalid are ignored.
 */
function latestOf(rowMac: RowMac, table: string, text: string | null): Date | null {
  const rows = text === null ? [] : ((JSON.parse(text) ?? []) as DatedRow[]);
  const times = rows.flatMap(({ mac, ...members }) => {
    const [name, time] = Object.entries(members).at(-1) ?? ["", ""];
    const at = new Date(time);
    return rowMac.holds(table, { ...members, [name]: at }, Buffer.from(mac, "hex")) ? [at.getTime()] : [];
  });
  return times.length === 0 ? null : new Date(Math.max(...times));
}

/** True if a read failed because a record was altered. False if the database is busy or unavailable. */
export const isAltered = (error: unknown): error is AlteredRecordError => error instanceof AlteredRecordError;

/** For `catch` after a read: null if the read failed because a record was altered. Other errors are thrown again. */
export function nullIfAltered(error: unknown): null {
  if (!isAltered(error)) throw error;
  return null;
}

/**
 * Verifies rows by the columns that `verified`, `marked` and `dated` select, and removes those columns.
 * @throws AlteredRecordError; not for a column of `marked`
 */
export function verifyRows(rows: readonly object[], columns: readonly string[], { rowMac, seals }: StateKeys): void {
  if (rowMac === null) throw new Error("this database handle has no key to verify MACs");
  for (const row of rows as Record<string, unknown>[]) {
    for (const column of columns) {
      const value = row[column] as string | null;
      delete row[column];
      const [, table = "", as = ""] = column.split(" ");
      if (column.startsWith(dating)) {
        row[as] = latestOf(rowMac, table, value);
        continue;
      }
      // The column's value is null when an outer join found no row.
      const texts = value === null ? [] : value.split("\n");
      const states = texts.map((text) => stateOf(seals, text));
      if (column.startsWith(marking)) {
        const hold = states.every((state) => rowMac.holds(table, state.members, state.mac, state.row));
        row[as] = hold && row[as] !== false;
      } else for (const state of states) rowMac.verify(table, state.members, state.mac, state);
    }
  }
}

const isMac = (value: unknown): value is MacOfState | MacOfRow =>
  value instanceof MacOfState || value instanceof MacOfRow;

const hasMac = (value: unknown): boolean => (Array.isArray(value) ? value.some(isMac) : isMac(value));

/** The values of a statement, with each `MacOfState` and `MacOfRow` replaced by its MAC, also inside lists. */
export function withMacs(values: readonly unknown[], rowMac: RowMac | null): readonly unknown[] {
  if (!values.some(hasMac)) return values;
  if (rowMac === null) throw new Error("this database handle has no key to make MACs");
  const macOf = (mac: MacOfState | MacOfRow) =>
    rowMac.of(mac.table, mac instanceof MacOfRow ? mac.members : stateMembers(mac.digest, mac.open));
  const replaced = (value: unknown): unknown => {
    if (isMac(value)) return macOf(value);
    return hasMac(value) ? (value as unknown[]).map(replaced) : value;
  };
  return values.map(replaced);
}

type Queries = { query: <Row>(statement: Statement) => Promise<Row[]> };

/**
 * Updates the MACs of rows after a change. The transaction must have locked and verified the rows before the change;
 * otherwise a forged row would become authentic.
 */
export async function writeStateMacs(tx: Queries, state: StateMac, where: Statement): Promise<void> {
  const { table, key, mac } = state;
  const rows = await tx.query<{ key: string | number; digest: Buffer; open?: string }>(
    sql`SELECT ${key} AS key, ${digestOf(state, table)} AS digest${openedOf(state, table)} FROM ${table} WHERE ${where}`,
  );
  if (rows.length === 0) return;
  const keys = rows.map((row) => row.key);
  const macs = rows.map(({ digest, open }) => new MacOfState(table.text, digest.toString("hex"), open));
  await tx.query(sql`
    UPDATE ${table} SET ${mac} = (${macs}::bytea[])[array_position(${keys}, ${key})] WHERE ${key} = ANY (${keys})`);
}

/**
 * The text that `json_build_array` makes of these values: texts, whole numbers, booleans, null, and JSON in the form of
 * jsonb.
 */
export const textOf = (values: readonly unknown[]): string => `[${values.map(jsonbText).join(", ")}]`;

function jsonbText(value: unknown): string {
  if (Array.isArray(value)) return textOf(value);
  if (value === null || typeof value !== "object") return JSON.stringify(value ?? null);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  // jsonb sorts keys by length in bytes, then by bytes.
  const byLength = (one: string, other: string) =>
    Buffer.byteLength(one) - Buffer.byteLength(other) || Buffer.compare(Buffer.from(one), Buffer.from(other));
  const texts = members
    .sort(([one], [other]) => byLength(one, other))
    .map(([name, member]) => `${JSON.stringify(name)}: ${jsonbText(member)}`);
  return `{${texts.join(", ")}}`;
}

import { ServiceError } from "../errors.ts";
import type { Members, RowMac } from "../row-mac.ts";
import type { SealedKind, SealedTexts } from "../sealed-text.ts";
import { nothing, type Statement, sql, ToSeal } from "./sql.ts";

/**
 * A table whose rows have a MAC over a digest of some of their columns. PostgreSQL computes the digest in the statement that
 * reads the row, the database handle verifies the MAC: a statement only adds `verified` to what it selects.
 */
export type StateMac = {
  table: Statement;
  /** The column that identifies a row. */
  key: Statement;
  /** The column with the MAC. */
  mac: Statement;
  /** The covered columns of the row that `row` names. */
  covered: (row: Statement) => Statement;
  /** A column of sealed texts. The MAC covers the text itself, because rotation of SECRETS_KEY gives it another form. */
  opened?: { column: Statement; kind: SealedKind };
};

/** A MAC that the database handle, which has the key, puts in place of this value. */
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

/** Members of a row's MAC; it covers the text of a value that is stored sealed. */
export type OpenMembers = { readonly [name: string]: Members[string] | ToSeal };

/** The MAC of a new row: the database handle makes it, so that the writers of rows need no key. */
export class MacOfRow {
  readonly table: string;
  readonly members: Members;

  constructor(table: string, members: OpenMembers) {
    const open = ([name, value]: [string, OpenMembers[string]]) => [name, value instanceof ToSeal ? value.text : value];
    this.table = table;
    this.members = Object.fromEntries(Object.entries(members).map(open));
  }
}

/** @param open the text of the sealed column, where the table has one */
export const stateMembers = (digest: string, open?: string): Members => ({
  state: digest,
  ...(open !== undefined && { open }),
});

/** For a select list: the text of the sealed column as `open`, where the table has one. */
export const openedOf = ({ opened }: StateMac, row: Statement): Statement =>
  opened ? sql`, ${row}.${opened.column} AS ${quoted(`open@${opened.kind}`)}` : nothing;

/** SHA-256 over the text that `json_build_array` writes of the covered columns; `textOf` predicts it. */
export const digestOf = ({ covered }: StateMac, row: Statement): Statement =>
  sql`sha256(convert_to(json_build_array(${covered(row)})::text, 'UTF8'))`;

/**
 * The digest in hex, the MAC in hex, the key of a row, and its sealed text, as one text: what `stateHolds` reads. Others choose some
 * keys (ids of the processor's events), so the parts' separators are taken out of a key.
 */
const stateText = (state: StateMac, row: Statement): Statement =>
  sql`(encode(${digestOf(state, row)}, 'hex') || ' ' || coalesce(encode(${row}.${state.mac}, 'hex'), '') || ' ' || translate(${row}.${state.key}::text, E' \\n', '__')${
    state.opened ? sql` || ${literal(` ${state.opened.kind} `)} || ${row}.${state.opened.column}` : nothing
  })`;

/** Prefixes of the columns that a handle looks at: the table's name follows. */
const throwing = "verified ";
const marking = "marked ";
const dating = "dated ";

/** For a select list: the handle throws in place of a row whose MAC does not hold. */
export const verified = (state: StateMac, row: Statement): Statement =>
  sql`${stateText(state, row)} AS ${quoted(throwing + state.table.text)}`;

/**
 * For a select list: the same for all rows that `from` names as `row`.
 * @param from `FROM ... WHERE ...`
 */
export const verifiedAll = (state: StateMac, row: Statement, from: Statement): Statement =>
  sql`${textOfAll(state, row, from)} AS ${quoted(throwing + state.table.text)}`;

const textOfAll = (state: StateMac, row: Statement, from: Statement): Statement =>
  sql`(SELECT string_agg(${stateText(state, row)}, chr(10)) ${from})`;

/**
 * For the select list of a list: the handle sets a member to false for a row whose MAC does not hold.
 * @param as the member; one that rows of two tables share is true when both hold
 */
export const marked = (state: StateMac, row: Statement, as = "isAuthentic"): Statement =>
  sql`${stateText(state, row)} AS ${quoted(`${marking}${state.table.text} ${as}`)}`;

/** For the select list of a list: the same for all rows that `from` names as `row`. */
export const markedAll = (state: StateMac, row: Statement, from: Statement, as = "isAuthentic"): Statement =>
  sql`${textOfAll(state, row, from)} AS ${quoted(`${marking}${state.table.text} ${as}`)}`;

/**
 * For a select list: when something was done, by rows that say so and have a MAC. The handle makes it the latest time among those whose
 * MAC holds, null without one.
 * @param rows `SELECT json_agg(json_build_object(...)) FROM ...`: the members by name in the order of the MAC, the time last, and then `mac` in hex
 */
export const dated = (table: string, as: string, rows: Statement): Statement =>
  sql`(${rows})::text AS ${quoted(`${dating}${table} ${as}`)}`;

/** The value that the handle puts in the place of `marked`. */
export type Marked = { isAuthentic: boolean };

const names = new Map<string, Statement>();

/** A quoted name. */
const quoted = (column: string): Statement => textual(`"${column}"`);

/** A text of this file as a literal. */
const literal = (text: string): Statement => textual(`'${text}'`);

/** A part of a statement's text; the same statement each time, so that texts made of it are prepared once. */
function textual(text: string): Statement {
  const known = names.get(text) ?? sql(Object.assign([text], { raw: [text] }));
  names.set(text, known);
  return known;
}

export const isStateColumn = (name: string): boolean =>
  [throwing, marking, dating].some((prefix) => name.startsWith(prefix));

/** The keys by which a database handle verifies rows. */
export type StateKeys = { rowMac: RowMac | null; seals: () => SealedTexts };

/** Whether the MAC in a text of `stateText` holds. */
function stateHolds(rowMac: RowMac, seals: StateKeys["seals"], table: string, text: string): boolean {
  const [digest = "", mac = "", id = "", kind, ...sealed] = text.split(" ");
  const open = kind === undefined ? undefined : seals().open(kind as SealedKind, sealed.join(" "));
  return rowMac.holds(table, stateMembers(digest, open), Buffer.from(mac, "hex"), { id, digest });
}

type DatedRow = { [name: string]: string } & { mac: string };

/** The latest time in a text of `dated`; a row whose MAC does not hold says nothing. */
function latestOf(rowMac: RowMac, table: string, text: string | null): Date | null {
  const rows = text === null ? [] : ((JSON.parse(text) ?? []) as DatedRow[]);
  const times = rows.flatMap(({ mac, ...said }) => {
    const [name, time] = Object.entries(said).at(-1) ?? ["", ""];
    const at = new Date(time);
    return rowMac.holds(table, { ...said, [name]: at }, Buffer.from(mac, "hex")) ? [at.getTime()] : [];
  });
  return times.length === 0 ? null : new Date(Math.max(...times));
}

/** Refuses a record whose MAC does not hold. */
export const forged = (): ServiceError =>
  new ServiceError(
    "unavailable",
    "This record is not what the service wrote, so it is neither shown nor used. The operator has to look into it.",
  );

/** Verifies rows by their columns of `verified`, `marked` and `dated`, and takes those columns away. @throws ServiceError `unavailable` for a forged one */
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
      // Null where an outer join found no row.
      const texts = value === null ? [] : value.split("\n");
      const holds = texts.every((text) => stateHolds(rowMac, seals, table, text));
      if (column.startsWith(marking)) row[as] = holds && row[as] !== false;
      else if (!holds) throw forged();
    }
  }
}

const isMac = (value: unknown): value is MacOfState | MacOfRow =>
  value instanceof MacOfState || value instanceof MacOfRow;

const hasMac = (value: unknown): boolean => (Array.isArray(value) ? value.some(isMac) : isMac(value));

/** The values of a statement, each `MacOfState` and `MacOfRow` replaced by its MAC, also in lists. */
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
 * Gives rows the MAC of what they say now. Only for rows that the transaction holds locked, and verified before it changed
 * them: what was forged would be authentic afterwards.
 */
export async function writeStateMacs(tx: Queries, state: StateMac, where: Statement): Promise<void> {
  const { table, key, mac } = state;
  const rows = await tx.query<{ key: string | number; digest: Buffer; open?: string }>(
    sql`SELECT ${key} AS key, ${digestOf(state, table)} AS digest${openedOf(state, table)} FROM ${table} WHERE ${where}`,
  );
  for (const row of rows) {
    const made = new MacOfState(table.text, row.digest.toString("hex"), row.open);
    await tx.query(sql`UPDATE ${table} SET ${mac} = ${made} WHERE ${key} = ${row.key}`);
  }
}

/** The text that `json_build_array` makes of these values: texts, whole numbers, booleans, null, and JSON as jsonb writes it. */
export const textOf = (values: readonly unknown[]): string => `[${values.map(jsonbText).join(", ")}]`;

function jsonbText(value: unknown): string {
  if (Array.isArray(value)) return textOf(value);
  if (value === null || typeof value !== "object") return JSON.stringify(value ?? null);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  // jsonb keeps keys by length in bytes, then by bytes.
  const byLength = (one: string, other: string) =>
    Buffer.byteLength(one) - Buffer.byteLength(other) || Buffer.compare(Buffer.from(one), Buffer.from(other));
  const texts = members
    .sort(([one], [other]) => byLength(one, other))
    .map(([name, member]) => `${JSON.stringify(name)}: ${jsonbText(member)}`);
  return `{${texts.join(", ")}}`;
}

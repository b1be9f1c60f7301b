/**
 * Declares which columns of a table are encrypted or authenticated with SECRETS_KEY. Each feature declares its own
 * tables once, as `protectedTables`. Backfills, key rotation, counts, the removal of orphaned blobs and restores
 * iterate over these lists (upkeep/protected-data.ts).
 */
import type { BlobUse } from "./blobs/cipher.ts";
import { type Statement, sql } from "./database/sql.ts";
import { digestOf, openedOf, type StateMac, stateMembers } from "./database/state-mac.ts";
import type { Members } from "./row-mac.ts";
import type { SealedKind } from "./sealed-text.ts";

export type ProtectedTable = {
  table: Statement;
  /** The column that identifies a row of the table. */
  key: Statement;
  ciphers?: readonly EncryptedColumn[];
  texts?: readonly SealedColumn[];
  /** Reads the identity of the blob that a row names in `blob_key`. Absent for a table without blobs. */
  blobs?: BlobRows<unknown>;
};

/** A column of encrypted values. */
export type EncryptedColumn = {
  /** The name from which the column's key is derived. */
  use: string;
  column: Statement;
  /** SQL for the context that is authenticated together with a value. The constant text `after` is appended to it. */
  context: Statement;
  /**
   * The alias under which the context is selected. An alias `"context@kind"` means that the context is a sealed text,
   * which the database handle decrypts.
   */
  as?: Statement;
  after?: string;
};

/** A column of sealed (encrypted) texts. */
export type SealedColumn = {
  kind: SealedKind;
  column: Statement;
  /**
   * The column that identifies and orders the rows; by default the sealed column itself. Its values are numbers if
   * `isNumbered` is set, and texts otherwise.
   */
  by?: Statement;
  isNumbered?: true;
  /** The constraint that is validated once the text of every row is encrypted. Until then it checks changed rows. */
  constraint: string;
  /**
   * The SQL expression for the plain text of a row that was written before texts were encrypted. By default it is
   * `column`.
   */
  text?: Statement;
  /** The condition for the rows whose text must be encrypted; by default all rows. */
  which?: Statement;
};

export type BlobRows<Row> = {
  /** The columns of a row from which `useOf` makes the blob's identity. */
  columns: Statement;
  useOf(row: Row): BlobUse;
};

/** A row as the SELECT `rows` returns it: its key, its members, and its MAC. */
export type MacRow<Row> = Row & { key: string | number | Buffer; mac: Buffer | null };

/** A table whose rows have a MAC. */
export type MacTable<Row = unknown> = ProtectedTable & {
  /** The key's column as the SELECT in `rows` names it, such as `o.id`, if that differs from `key`. */
  keyInRows?: Statement;
  /** A condition that selects one row, for a table whose key alone has no index. By default the key selects the row. */
  rowOf?(row: MacRow<Row>): Statement;
  /** The MAC's column in the SELECT of `rows`, with the alias of its table. */
  mac: Statement;
  /** The MAC's column in the table; default `row_mac`. */
  column?: Statement;
  /** The SELECT of the rows, up to WHERE. It names the key `key` and the MAC `mac`. */
  rows: Statement;
  /** The members of a row that its MAC covers; null for a row that gets no MAC. */
  members(row: MacRow<Row>): Members | null;
  /**
   * For rows that were written before the table had MACs and get their MACs later. `set`: the name of a set of tables
   * whose rows get their MACs together. `which`: the condition for the rows that get a MAC.
   */
  backfill?: { set: string; which?: Statement };
};

export const isMacTable = (table: ProtectedTable | MacTable): table is MacTable => "members" in table;

export const macColumn = ({ column = sql`row_mac` }: MacTable): Statement => column;

type StateRow = { digest: Buffer; open?: string };

/** Declares a table whose rows have a MAC over a digest that PostgreSQL computes. */
export function stateRows(state: StateMac, more: Partial<MacTable<StateRow>> = {}): MacTable<StateRow> {
  const { table, key, mac: column } = state;
  return {
    table,
    key,
    mac: column,
    column,
    rows: sql`SELECT ${key} AS key, ${digestOf(state, table)} AS digest${openedOf(state, table)}, ${column} AS mac FROM ${table}`,
    members: ({ digest, open }) => stateMembers(digest.toString("hex"), open),
    ...more,
  };
}

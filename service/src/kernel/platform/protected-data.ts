/**
 * Declares which columns of a table are protected under SECRETS_KEY. Each feature declares its own tables once, as `protectedTables`. Backfill, rotation, counts, the
 * sweep of orphaned blobs and restores walk these lists (upkeep/protected-data.ts).
 */
import type { BlobUse } from "./blobs/cipher.ts";
import { type Statement, sql } from "./database/sql.ts";
import { digestOf, openedOf, type StateMac, stateMembers } from "./database/state-mac.ts";
import type { Members } from "./row-mac.ts";
import type { SealedKind } from "./sealed-text.ts";

export type ProtectedTable = {
  table: Statement;
  /** The column that identifies and orders its rows. */
  key: Statement;
  ciphers?: readonly EncryptedColumn[];
  texts?: readonly SealedColumn[];
  /** How to find the blob that a row’s `blob_key` names. */
  blobs?: BlobRows<unknown>;
};

/** A column of encrypted values. */
export type EncryptedColumn = {
  /** The name that its key is derived for. */
  use: string;
  column: Statement;
  /** The context that a value is bound to, before `after`. */
  context: Statement;
  /** `"context@kind"` where the context is a sealed text. */
  as?: Statement;
  after?: string;
};

/** A column of sealed texts. */
export type SealedColumn = {
  kind: SealedKind;
  column: Statement;
  /** Identifies and orders the rows; the column itself where it is left out. A text, unless `isNumbered`. */
  by?: Statement;
  isNumbered?: true;
  /** The constraint that holds once every row is sealed. */
  constraint: string;
  /** The text of a row that was written before there were sealed texts, where it is not the column itself. */
  text?: Statement;
  /** Which rows have one. */
  which?: Statement;
};

export type BlobRows<Row> = {
  /** The columns that the select of a row adds for `useOf`. */
  columns: Statement;
  useOf(row: Row): BlobUse;
};

/** A row as it is read: its key, its members, and its MAC. */
export type MacRow<Row> = Row & { key: string | number | Buffer; mac: Buffer | null };

/** A table whose rows have a MAC. */
export type MacTable<Row = unknown> = ProtectedTable & {
  /** The key where `rows` has to name it otherwise. */
  keyInRows?: Statement;
  /** The MAC as `rows` names it. */
  mac: Statement;
  /** The column with the MAC; `row_mac` where it is left out. */
  column?: Statement;
  /** The select of its rows, up to WHERE: the key is `key`, the MAC `mac`. */
  rows: Statement;
  /** The covered members of a row; null for a row that gets no MAC. */
  members(row: MacRow<Row>): Members | null;
  /** The set of rows that got their MACs with one release, and which of those without one do. */
  backfill?: { set: string; which?: Statement };
};

export const isMacTable = (table: ProtectedTable | MacTable): table is MacTable => "members" in table;

export const macColumn = ({ column = sql`row_mac` }: MacTable): Statement => column;

type StateRow = { digest: Buffer; open?: string };

/** Rows whose MAC covers a digest that PostgreSQL computes. */
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

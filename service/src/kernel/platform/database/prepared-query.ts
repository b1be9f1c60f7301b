import pg from "pg";
import type { SealedKind, SealedTexts } from "../sealed-text.ts";
import { AllToSeal, ToSeal } from "./sql.ts";
import { reaching } from "./sql-errors.ts";
import { isStateColumn } from "./state-mac.ts";

const unreplicatedMessage = "The synchronous standby did not confirm the commit";

/** The connections whose last commit the synchronous standby did not confirm. */
const unreplicated = new WeakSet<object>();

/**
 * Notes commits that the synchronous standby did not confirm. This happens when an operator cancels a statement that
 * waits for the standby: PostgreSQL then reports success, with a warning. The commit exists only on this server, and a
 * failover would lose it.
 *
 * `statement_timeout` doesn't limit that wait, so the driver's time limit ends it.
 */
export function watchReplication(client: pg.PoolClient): void {
  const { connection } = client as unknown as { connection: Connection };
  client.on("notice", ({ routine }) => {
    if (routine === "SyncRepWaitForLSN") unreplicated.add(connection);
  });
}

/** True if the last commit of this connection was not replicated. Clears that state, so a second call returns false. */
const wasUnreplicated = (connection: object): boolean => unreplicated.delete(connection);

/**
 * Must be called after each COMMIT of a transaction; a single statement checks this itself (`handleReadyForQuery`).
 * PostgreSQL reports success even for a commit that was not replicated, and says so only in a notice
 * (`watchReplication`).
 * @throws Error when the last commit exists only on the primary
 */
export async function confirmed(client: Queryable): Promise<void> {
  if (wasUnreplicated((client as unknown as { connection: object }).connection)) throw new Error(unreplicatedMessage);
}

const int8 = 20;
const jsonTypes: ReadonlySet<number> = new Set([114, 3802]);

/**
 * Returns the keys for sealed texts.
 * @throws Error before the keys are set
 */
export type Seals = () => SealedTexts;

/** Parses a column's text. PostgreSQL's int8, as in counts, becomes a plain number. */
const parserOf = (oid: number): ((text: string) => unknown) => (oid === int8 ? Number : pg.types.getTypeParser(oid));

type Columns = {
  names: string[];
  parsers: ((text: string) => unknown)[];
  empty: object;
  /** The columns that contain MACs of rows, which the database handle verifies (state-mac.ts). */
  ofState: string[];
};

/**
 * A parser for a column of sealed texts. `how` is the part of the column's name after `@`. In the name of a text column
 * (`name@kind`), `how` is the kind of the texts. In the name of a JSON column (`name@kind.member,kind.member`), `how`
 * lists the members to decrypt and their kinds.
 */
function openingParser(type: number, how: string, seals: Seals): (text: string) => unknown {
  if (!jsonTypes.has(type)) return (text) => seals().open(how as SealedKind, text);
  const kinds = new Map(how.split(",").map((each) => each.split(".").reverse() as [string, SealedKind]));
  return (text) =>
    JSON.parse(text, (name, value: unknown) => {
      const kind = typeof value === "string" ? kinds.get(name) : undefined;
      return kind === undefined ? value : seals().open(kind, value as string);
    });
}

function columnsOf(fields: readonly pg.FieldDef[], seals: Seals): Columns {
  const named = fields.map(({ name, dataTypeID }) => ({ type: dataTypeID, split: name.split("@") }));
  const names = named.map(({ split: [name = ""] }) => name);
  const parsers = named.map(({ type, split: [, how] }) =>
    how === undefined ? parserOf(type) : openingParser(type, how, seals),
  );
  const empty = Object.fromEntries(names.map((name) => [name, null]));
  return { names, parsers, empty, ofState: names.filter(isStateColumn) };
}

const noColumns: Columns = { names: [], parsers: [], empty: {}, ofState: [] };

/** The parts of the driver's connection that send the extended query protocol. The driver's own types omit them. */
type Connection = {
  stream: { cork: () => void; uncork: () => void };
  /** The texts of prepared statements, by name. */
  parsedStatements: Record<string, string | undefined>;
  parse: (statement: { name: string; text: string }) => void;
  bind: (portal: { statement: string; values: readonly unknown[] }) => void;
  describe: (portal: { type: "P" }) => void;
  execute: () => void;
  close: (statement: { type: "S"; name: string }) => void;
  sync: () => void;
  sendCopyFail: (message: string) => void;
};

/**
 * The column descriptions of each prepared statement, by name. Each connection requests them once for each statement,
 * because PostgreSQL doesn't let them change later. The descriptions of a FETCH depend on its cursor, so they aren't
 * kept.
 */
const described = new WeakMap<Connection, Map<string, Columns>>();

function describedOn(connection: Connection): Map<string, Columns> {
  const columnsByName = described.get(connection) ?? new Map<string, Columns>();
  described.set(connection, columnsByName);
  return columnsByName;
}

const { prepareValue } = (pg as unknown as { utils: { prepareValue: (value: unknown) => unknown } }).utils;

const sealedValue = (texts: SealedTexts, { kind, text, forms }: ToSeal): string | string[] =>
  forms === "all" ? texts.allForms(kind, text) : texts.seal(kind, text);

function storedValue(texts: Seals, value: unknown): unknown {
  if (value instanceof ToSeal) return sealedValue(texts(), value);
  if (value instanceof AllToSeal) return value.texts.flatMap((each) => sealedValue(texts(), each));
  return value;
}

/**
 * Like the driver's own prepared query, but it requests the column descriptions once for each connection and not with
 * each result.
 */
export class PreparedQuery {
  readonly name: string;
  readonly text: string;
  readonly query_timeout: number;
  /** The callback, which the driver sets. */
  callback: ((error: Error | null, rows?: object[]) => void) | undefined;
  readonly #values: readonly unknown[];
  readonly #rows: object[] = [];
  readonly #seals: Seals;
  #columns: Columns | undefined;
  #unreadable: Error | undefined;

  constructor(name: string, text: string, values: readonly unknown[], timeoutMs: number, seals: Seals) {
    this.name = name;
    this.text = text;
    this.query_timeout = timeoutMs;
    this.callback = undefined;
    this.#seals = seals;
    this.#values = values.map((value) => prepareValue(storedValue(seals, value)));
  }

  /** The columns that contain the MACs of rows to verify. Known once the statement has been answered. */
  get stateColumns(): readonly string[] {
    return this.#columns?.ofState ?? [];
  }

  /** An error in reading the rows of a statement that PostgreSQL has run. */
  get unreadable(): Error | undefined {
    return this.#unreadable;
  }

  submit(connection: Connection): null {
    const { name, text } = this;
    this.#columns = describedOn(connection).get(name);
    connection.stream.cork();
    if (connection.parsedStatements[name] === undefined) connection.parse({ name, text });
    connection.bind({ statement: name, values: this.#values });
    if (!this.#columns) connection.describe({ type: "P" });
    connection.execute();
    connection.sync();
    connection.stream.uncork();
    return null;
  }

  handleRowDescription({ fields }: { fields: pg.FieldDef[] }): void {
    this.#columns = columnsOf(fields, this.#seals);
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    const { names, parsers, empty } = this.#columns ?? noColumns;
    const row: Record<string, unknown> = { ...empty };
    try {
      if (fields.length !== names.length) throw new Error(`${fields.length} columns came, not ${names.length}`);
      for (let n = 0; n < names.length; n++) {
        const text = fields[n] ?? null;
        // If several columns have the same name, the last value is used, as in the driver's own query.
        row[names[n] as string] = text === null ? null : parsers[n]?.(text);
      }
      this.#rows.push(row);
    } catch (error) {
      this.#unreadable ??= error as Error;
    }
  }

  handleCommandComplete({ text }: { text: string }, connection: Connection): void {
    if (!text.startsWith("FETCH")) describedOn(connection).set(this.name, this.#columns ?? noColumns);
  }

  handleCopyInResponse(connection: Connection): void {
    connection.sendCopyFail("COPY is not for here");
  }

  handleCopyData(): void {
    this.#unreadable ??= new Error("COPY is not for here");
  }

  handleEmptyQuery(): void {}

  handleReadyForQuery(connection: Connection): void {
    if (wasUnreplicated(connection)) this.callback?.(new Error(unreplicatedMessage));
    else this.callback?.(null, this.#rows);
  }

  handleError(error: Error): void {
    this.callback?.(error);
  }
}

/** Makes a connection forget a prepared statement. */
export class CloseStatement {
  readonly name: string;
  /** The callback, which the driver sets. */
  callback: ((error: Error | null) => void) | undefined;

  constructor(name: string) {
    this.name = name;
    this.callback = undefined;
  }

  submit(connection: Connection): null {
    const { name } = this;
    connection.stream.cork();
    connection.close({ type: "S", name });
    connection.sync();
    connection.stream.uncork();
    delete connection.parsedStatements[name];
    describedOn(connection).delete(name);
    return null;
  }

  handleReadyForQuery(): void {
    this.callback?.(null);
  }

  handleError(error: Error): void {
    this.callback?.(error);
  }
}

/** A connection or pool of the driver, typed to accept `PreparedQuery` and `CloseStatement` as well. */
export type Queryable = {
  query: {
    (query: PreparedQuery | CloseStatement, answered: (error: Error | null, rows?: object[]) => void): void;
    // The driver supports a time-out for each query, but its types don't declare it.
    (config: { text: string; query_timeout: number }): Promise<unknown>;
  };
};

/**
 * Runs a query on a connection.
 * @returns the query's rows; an empty list for `CloseStatement`
 * @throws as `reaching` does; the error of a row that can't be read
 */
export async function answerOf(client: Queryable, query: PreparedQuery | CloseStatement): Promise<object[]> {
  const rows = await reaching(
    new Promise<object[]>((resolve, reject) => {
      client.query(query, (error, answered = []) => (error ? reject(error) : resolve(answered)));
    }),
  );
  if (query instanceof PreparedQuery && query.unreadable) throw query.unreadable;
  return rows;
}

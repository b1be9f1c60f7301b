import pg from "pg";
import { hourMs } from "../clock.ts";
import { PreparedQuery } from "./prepared-query.ts";
import type { Statement } from "./sql.ts";
import { gaveUp, reaching, withRetries } from "./sql-errors.ts";

/** Something that runs one SQL statement: the pool, or a transaction. */
export type Sql = {
  /** Runs one statement, prepared under a name made of its text; rows come back as plain objects. */
  query: <Row>(statement: Statement) => Promise<Row[]>;
};

/** A transaction in progress: statements inside it use its own connection, never another. */
export type Tx = Sql & {
  /** Runs many statements of a trusted script at once. */
  script: (text: string) => Promise<void>;
};

/** How long one statement may take, in milliseconds. */
export type StatementTime = { readonly statementMs: number };

/** For a transaction whose statements may take long: a migration, a wait for another node's. */
export const longStatements: StatementTime = { statementMs: hourMs };

export type Database = Sql & {
  /**
   * Runs `work` in one transaction: committed when it resolves, rolled back when it throws, and run again when PostgreSQL
   * rolled it back in favor of another (deadlock).
   */
  transaction: <T>(work: (tx: Tx) => Promise<T>, time?: StatementTime) => Promise<T>;
  /**
   * Hears notifications on a connection of its own, and reconnects when that breaks: then `onNotify` is called with an
   * empty payload, for some may have been missed. @returns the function that ends it.
   */
  listen: (channel: string, onNotify: (payload: string) => void) => Promise<() => Promise<void>>;
  close: () => Promise<void>;
};

type Queryable = {
  query: {
    (query: PreparedQuery, answered: (error: Error | null, rows?: object[]) => void): void;
    // The driver knows a time for each query; its types do not.
    (config: { text: string; query_timeout: number }): Promise<unknown>;
  };
};

// The server ends a statement that takes too long. Only one that cannot say so any more is given up here, a little later.
const graceMs = 2_000;
const usualStatementMs = 30_000;

function sqlOver(client: Queryable, { statementMs }: StatementTime): Sql {
  return {
    query: <Row>({ name, text, values }: Statement) =>
      reaching(
        new Promise<Row[]>((resolve, reject) => {
          const query = new PreparedQuery(name, text, values, statementMs + graceMs);
          client.query(query, (error, rows) => (error ? reject(error) : resolve(rows as Row[])));
        }),
      ),
  };
}

/**
 * Opens a pool. Every statement waits at most 5 s for a lock, so that a stuck peer shows as an error and not as a hang, and takes
 * at most `statementMs`, also when the server's machine is gone without a word.
 * @param connection a URL, or the settings of a local server.
 */
export function openDatabase(
  connection: pg.PoolConfig,
  onIdleError: (error: Error) => void,
  { poolSize = 20, statementMs = usualStatementMs }: { poolSize?: number; statementMs?: number } = {},
): Database {
  const settings = {
    connectionTimeoutMillis: 10_000,
    lock_timeout: 5_000,
    statement_timeout: statementMs,
    idle_in_transaction_session_timeout: 60_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    ...connection,
  };
  const pool = new pg.Pool({ max: poolSize, ...settings });
  // A connection that is being closed may still hear that the server stops: no news to anybody.
  let closing = false;
  const tellIdleError = (error: Error) => {
    if (!closing) onIdleError(error);
  };
  pool.on("error", tellIdleError);
  const statements = sqlOver(pool as Queryable, { statementMs });
  return {
    query: (statement) => withRetries(() => statements.query(statement)),
    transaction: (work, time) => withRetries(() => transactionOn(pool, work, time, statementMs)),
    listen: (channel, onNotify) => listen(settings, channel, onNotify, tellIdleError),
    close() {
      closing = true;
      return pool.end();
    },
  };
}

/** The same database for work beside the requests, which may take long. */
export const withLongStatements = (db: Database): Sql => ({
  query: (statement) => db.transaction((tx) => tx.query(statement), longStatements),
});

async function transactionOn<T>(
  pool: pg.Pool,
  work: (tx: Tx) => Promise<T>,
  longer: StatementTime | undefined,
  usualMs: number,
): Promise<T> {
  const time = longer ?? { statementMs: usualMs };
  const query_timeout = time.statementMs + graceMs;
  const client = await reaching(pool.connect());
  let broken: Error | undefined;
  // Said also of a connection that breaks between two statements; unheard it would end the process.
  const onBroken = (error: Error) => {
    broken = error;
  };
  client.on("error", onBroken);
  const run = (text: string) => reaching((client as Queryable).query({ text, query_timeout }));
  try {
    await run("BEGIN");
    try {
      if (longer) await run(`SET LOCAL statement_timeout = ${longer.statementMs}`);
      const result = await work({
        ...sqlOver(client as Queryable, time),
        script: async (text) => {
          await run(text);
        },
      });
      await run("COMMIT");
      return result;
    } catch (error) {
      // A server that said nothing in time says nothing to this either; its connection is of no more use.
      if (gaveUp(error)) onBroken(error as Error);
      else await run("ROLLBACK").catch(onBroken);
      throw error;
    }
  } finally {
    client.release(broken);
    client.off("error", onBroken);
  }
}

async function listen(
  settings: pg.ClientConfig,
  channel: string,
  onNotify: (payload: string) => void,
  onBroken: (error: Error) => void,
): Promise<() => Promise<void>> {
  let client: pg.Client | undefined;
  let retry: NodeJS.Timeout | undefined;
  let ended = false;

  async function connect(): Promise<void> {
    const next = new pg.Client(settings);
    next.on("notification", ({ payload }) => onNotify(payload ?? ""));
    next.on("error", onBroken);
    next.on("end", reconnect);
    client = next;
    await next.connect();
    await next.query(`LISTEN ${pg.escapeIdentifier(channel)}`);
  }

  function reconnect(): void {
    if (ended) return;
    clearTimeout(retry);
    retry = setTimeout(() => {
      connect().then(() => onNotify(""), onRefused);
    }, 1_000);
  }

  function onRefused(error: Error): void {
    onBroken(error);
    reconnect();
  }

  await connect().catch(onRefused);
  return async () => {
    ended = true;
    clearTimeout(retry);
    await client?.end();
  };
}

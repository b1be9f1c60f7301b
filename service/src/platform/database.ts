import { createHash } from "node:crypto";
import pg from "pg";
import type { Statement } from "./sql.ts";
import { reaching, withRetries } from "./sql-errors.ts";

/** Something that runs one SQL statement: the pool, or a transaction. */
export type Sql = {
  /** Runs one statement, prepared under a name made of its text; rows come back as plain objects. */
  query: <Row>(statement: Statement) => Promise<Row[]>;
};

/** A transaction in progress: statements inside it use its own connection, never another. */
export type Tx = Sql & {
  /** Runs many statements of a trusted script at once (migrations). */
  script: (text: string) => Promise<void>;
};

export type Database = Sql & {
  /**
   * Runs `work` in one transaction: committed when it resolves, rolled back when it throws, and run again when PostgreSQL
   * rolled it back in favor of another (deadlock).
   */
  transaction: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;
  /**
   * Hears notifications on a connection of its own, and reconnects when that breaks: then `onNotify` is called with an
   * empty payload, for some may have been missed. @returns the function that ends it.
   */
  listen: (channel: string, onNotify: (payload: string) => void) => Promise<() => Promise<void>>;
  close: () => Promise<void>;
};

const names = new Map<string, string>();

/** Unnamed statements are planned anew each time; the name is the text's hash, so equal texts share a plan. */
function statementName(text: string): string {
  let name = names.get(text);
  if (name === undefined) {
    name = createHash("sha256").update(text).digest("base64url").slice(0, 20);
    names.set(text, name);
  }
  return name;
}

const int8 = 20;
const types = {
  getTypeParser: ((oid: number, format?: "text") =>
    oid === int8 ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

type Queryable = { query: (config: pg.QueryConfig) => Promise<pg.QueryResult> };

function sqlOver(client: Queryable): Sql {
  return {
    query: async <Row>({ text, values }: Statement) =>
      (await reaching(client.query({ name: statementName(text), text, values: values as unknown[] }))).rows as Row[],
  };
}

/**
 * Opens a pool. Every statement waits at most 5 s for a lock, so that a stuck peer shows as an error and not as a hang.
 * @param connection a URL, or the settings of a local server.
 */
export function openDatabase(
  connection: pg.PoolConfig,
  onIdleError: (error: Error) => void,
  options: { poolSize?: number } = {},
): Database {
  const settings = {
    connectionTimeoutMillis: 10_000,
    application_name: "signsealship",
    lock_timeout: 5_000,
    idle_in_transaction_session_timeout: 60_000,
    types,
    ...connection,
  };
  const pool = new pg.Pool({ max: options.poolSize ?? 20, ...settings });
  // A connection that is being closed may still hear that the server stops: no news to anybody.
  let closing = false;
  const tellIdleError = (error: Error) => {
    if (!closing) onIdleError(error);
  };
  pool.on("error", tellIdleError);
  const statements = sqlOver(pool);
  return {
    query: (statement) => withRetries(() => statements.query(statement)),
    transaction: (work) => withRetries(() => transactionOn(pool, work)),
    listen: (channel, onNotify) => listen(settings, channel, onNotify, tellIdleError),
    close() {
      closing = true;
      return pool.end();
    },
  };
}

async function transactionOn<T>(pool: pg.Pool, work: (tx: Tx) => Promise<T>): Promise<T> {
  const client = await reaching(pool.connect());
  let broken: Error | undefined;
  // Said also of a connection that breaks between two statements; unheard it would end the process.
  const onBroken = (error: Error) => {
    broken = error;
  };
  client.on("error", onBroken);
  try {
    await reaching(client.query("BEGIN"));
    try {
      const result = await work({
        ...sqlOver(client),
        script: async (text) => {
          await reaching(client.query(text));
        },
      });
      await reaching(client.query("COMMIT"));
      return result;
    } catch (error) {
      await client.query("ROLLBACK").catch(onBroken);
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
    const next = new pg.Client({ ...settings, keepAlive: true });
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

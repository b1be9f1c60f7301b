import pg from "pg";
import { hourMs } from "../clock.ts";
import type { RowMac } from "../row-mac.ts";
import type { SealedTexts } from "../sealed-text.ts";
import { checkStatements } from "./check-statements.ts";
import { checkNotifications, type Listener, openListener } from "./listener.ts";
import { answerOf, confirmed, PreparedQuery, type Queryable, type Seals, watchReplication } from "./prepared-query.ts";
import { type Statement, sql } from "./sql.ts";
import { gaveUp, reaching, withRetries } from "./sql-errors.ts";
import { verifyRows, withMacs } from "./state-mac.ts";

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
  /** Rejects where a pooler loses or mixes up prepared statements. */
  checkStatements: () => Promise<void>;
  /** Rejects unless a notification that is sent now arrives. */
  checkNotifications: () => Promise<void>;
  connections: () => Connections;
  /** Opens sealed texts in answers, and seals them in statements, from now on. Statements with such texts fail before. */
  useSealedTexts: (texts: SealedTexts) => void;
  /** Sets the key for the MACs of rows (`state-mac.ts`). Until then a statement that needs it fails. */
  useRowMac: (rowMac: RowMac) => void;
  close: () => Promise<void>;
};

/** The keys of a handle, which are known only once it is open. */
type HandleKeys = { rowMac: RowMac | null; readonly seals: Seals };

/** The pool's connections, and how many callers wait for one. */
export type Connections = { inUse: number; idle: number; waiting: number; most: number };

export type DatabaseOptions = {
  poolSize?: number;
  statementMs?: number;
  /** The server itself, where the connection leads to a pooler: for notifications, which no pooler passes on. */
  direct?: pg.ClientConfig | null;
};

// The server ends a statement that takes too long. Only one that cannot say so any more is given up here, a little later.
const graceMs = 2_000;
const usualStatementMs = 30_000;

/** Time limits of a session, in milliseconds, so that a stuck peer shows as an error and not as a hang. */
export const sessionTimeouts = (statementMs: number = usualStatementMs) => ({
  lock_timeout: 5_000,
  statement_timeout: statementMs,
  idle_in_transaction_session_timeout: 60_000,
});

function sqlOver(client: Queryable, handle: HandleKeys, { statementMs }: StatementTime): Sql {
  return {
    async query<Row>({ name, text, values }: Statement) {
      const query = new PreparedQuery(name, text, withMacs(values, handle.rowMac), statementMs + graceMs, handle.seals);
      const rows = await reaching(answerOf(client, query));
      if (query.stateColumns.length > 0) verifyRows(rows, query.stateColumns, handle);
      return rows as Row[];
    },
  };
}

/**
 * Opens a pool. Every statement waits at most 5 s for a lock, and takes at most `statementMs`, also when the server's machine
 * is gone without a word. A pooler refuses timeouts that a connection begins with: behind one each transaction sets them, and
 * single statements have those of the role (`keepRoleTimeouts`).
 * @param connection a URL, or the settings of a local server.
 */
export function openDatabase(
  connection: pg.PoolConfig,
  onIdleError: (error: Error) => void,
  { poolSize = 20, statementMs = usualStatementMs, direct = null }: DatabaseOptions = {},
): Database {
  const usual = {
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  };
  const timeouts = sessionTimeouts(statementMs);
  const pool = new pg.Pool({ max: poolSize, ...usual, ...(direct ? {} : timeouts), ...connection });
  const listening = { ...usual, ...timeouts, ...(direct ?? connection) };
  // A connection that is being closed may still hear that the server stops: no news to anybody.
  let closing = false;
  let listener: Listener | undefined;
  let checks = 0;
  const tellIdleError = (error: Error) => {
    if (!closing) onIdleError(error);
  };
  pool.on("error", tellIdleError);
  pool.on("connect", watchReplication);
  let texts: SealedTexts | undefined;
  const seals = (): SealedTexts => {
    if (!texts) throw new Error("the keys of sealed texts are not open");
    return texts;
  };
  const handle: HandleKeys = { rowMac: null, seals };
  const statements = sqlOver(pool as Queryable, handle, { statementMs });
  const begin = ({ statementMs: most }: StatementTime): string => {
    const longer = most === statementMs ? {} : { statement_timeout: most };
    const settings = direct ? { ...timeouts, ...longer } : longer;
    return ["BEGIN", ...Object.entries(settings).map(([name, ms]) => `SET LOCAL ${name} = ${ms}`)].join("; ");
  };
  return {
    query: (statement) => withRetries(() => statements.query(statement)),
    transaction: (work, time = { statementMs }) =>
      withRetries(() => transactionOn({ pool, handle }, work, begin(time), time)),
    async listen(channel, onNotify) {
      const opened = await openListener(listening, channel, onNotify, tellIdleError);
      listener = opened;
      return () => {
        if (listener === opened) listener = undefined;
        return opened.end();
      };
    },
    checkStatements: () => checkOnTwo(pool, seals, ++checks),
    checkNotifications() {
      const send = (channel: string, payload: string) =>
        statements.query(sql`SELECT pg_notify(${channel}, ${payload})`);
      return checkNotifications(send, listener ?? null, listening);
    },
    connections: () => ({
      inUse: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
      most: poolSize,
    }),
    useSealedTexts(opened) {
      texts = opened;
    },
    useRowMac(rowMac) {
      handle.rowMac = rowMac;
    },
    close() {
      closing = true;
      return pool.end();
    },
  };
}

/** Lends a connection of the pool. What it breaks with, or the work calls broken, ends it. */
async function onConnection<T>(
  pool: pg.Pool,
  work: (client: Queryable, onBroken: (error: Error) => void) => Promise<T>,
): Promise<T> {
  const client = await reaching(pool.connect());
  let broken: Error | undefined;
  // Said also of a connection that breaks between two statements; unheard it would end the process.
  const onBroken = (error: Error) => {
    broken = error;
  };
  client.on("error", onBroken);
  try {
    return await work(client as Queryable, onBroken);
  } finally {
    client.release(broken);
    client.off("error", onBroken);
  }
}

/** Both connections end where the check fails: of what they have prepared nothing is sure. */
const checkOnTwo = (pool: pg.Pool, seals: Seals, check: number): Promise<void> =>
  onConnection(pool, (first, onFirstBroken) =>
    onConnection(pool, async (second, onSecondBroken) => {
      try {
        await checkStatements(first, second, { check, seals });
      } catch (error) {
        onFirstBroken(error as Error);
        onSecondBroken(error as Error);
        throw error;
      }
    }),
  );

/** The same database for slow work outside of requests. */
export const withLongStatements = (db: Database): Sql => ({
  query: (statement) => db.transaction((tx) => tx.query(statement), longStatements),
});

async function transactionOn<T>(
  { pool, handle }: { pool: pg.Pool; handle: HandleKeys },
  work: (tx: Tx) => Promise<T>,
  begin: string,
  time: StatementTime,
): Promise<T> {
  const query_timeout = time.statementMs + graceMs;
  return onConnection(pool, async (client, onBroken) => {
    const run = (text: string) => reaching(client.query({ text, query_timeout }));
    try {
      await run(begin);
      const result = await work({
        ...sqlOver(client, handle, time),
        script: async (text) => {
          await run(text);
        },
      });
      await run("COMMIT");
      await reaching(confirmed(client));
      return result;
    } catch (error) {
      // A server that said nothing in time says nothing to this either; its connection is of no more use.
      if (gaveUp(error)) onBroken(error as Error);
      else await run("ROLLBACK").catch(onBroken);
      throw error;
    }
  });
}

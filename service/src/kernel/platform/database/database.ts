import pg from "pg";
import { hourMs, minuteMs } from "../clock.ts";
import type { RowMac } from "../row-mac.ts";
import type { SealedTexts } from "../sealed-text.ts";
import { checkStatements } from "./check-statements.ts";
import { checkNotifications, type Listener, openListener } from "./listener.ts";
import { answerOf, confirmed, PreparedQuery, type Queryable, type Seals, watchReplication } from "./prepared-query.ts";
import { type Statement, sql } from "./sql.ts";
import { gaveUp, reaching, withRetries } from "./sql-errors.ts";
import { verifyRows, withMacs } from "./state-mac.ts";

/** A way to run one SQL statement: a connection of the pool, or an open transaction. */
export type Sql = {
  /** Runs one statement, which is prepared under a name derived from its text. Returns its rows as plain objects. */
  query: <Row>(statement: Statement) => Promise<Row[]>;
};

/**
 * An open transaction. All its statements use one connection and run in the order of the calls. After the transaction's
 * end it refuses statements, because another caller may already use the connection.
 */
export type Tx = Sql & {
  /** Runs a trusted script of several statements. */
  script: (text: string) => Promise<void>;
};

/** The time limit of one statement, in milliseconds. */
export type StatementTime = { readonly statementMs: number };

/**
 * The time limit of one statement in slow transactions: a migration, or one that waits for the lock of another node's
 * migration.
 */
export const longStatements: StatementTime = { statementMs: hourMs };

export type Database = Sql & {
  /**
   * Runs `work` in one transaction. Commits when `work` resolves, and rolls back when `work` throws. Runs `work` again
   * when PostgreSQL rolled the transaction back in favor of another one, as in a deadlock.
   */
  transaction: <T>(work: (tx: Tx) => Promise<T>, time?: StatementTime) => Promise<T>;
  /**
   * Listens for notifications on a separate connection. After a reconnect, `onNotify` is called with an empty payload,
   * because notifications may have been missed.
   * @returns the function that stops listening
   */
  listen: (channel: string, onNotify: (payload: string) => void) => Promise<() => Promise<void>>;
  /** Rejects when a pooler loses or mixes up prepared statements. */
  checkStatements: () => Promise<void>;
  /** Sends a notification to this process itself; rejects if it doesn't arrive in time. */
  checkNotifications: () => Promise<void>;
  connections: () => Connections;
  /**
   * Sets the keys for sealed texts: texts that are encrypted in statements and decrypted in results. Before this call,
   * statements with such texts fail.
   */
  useSealedTexts: (texts: SealedTexts) => void;
  /** Sets the key for the MACs of rows (`state-mac.ts`). Before this call, statements that need the key fail. */
  useRowMac: (rowMac: RowMac) => void;
  close: () => Promise<void>;
};

/** The keys of a database handle. They are set after the handle is opened. */
type HandleKeys = { rowMac: RowMac | null; readonly seals: Seals };

/** The connections of the pool, and the number of queued callers. */
type Connections = { inUse: number; idle: number; waiting: number; max: number };

export type DatabaseOptions = {
  poolSize?: number;
  statementMs?: number;
  /**
   * The server's own address, if `connection` leads to a pooler. Notifications need it, because poolers don't forward
   * them.
   */
  direct?: pg.ClientConfig | null;
};

// The driver gives up this much later than PostgreSQL. Usually PostgreSQL itself cancels a statement that takes too
// long, but a server that hangs can't.
const graceMs = 2_000;
const usualStatementMs = 30_000;

/**
 * The time limits of a PostgreSQL session, in milliseconds. With them, a statement or transaction that hangs fails with
 * an error.
 */
export const sessionTimeouts = (statementMs: number = usualStatementMs) => ({
  lock_timeout: 5_000,
  statement_timeout: statementMs,
  idle_in_transaction_session_timeout: minuteMs,
});

function sqlOver(client: Queryable, handle: HandleKeys, { statementMs }: StatementTime): Sql {
  return {
    async query<Row>({ name, text, values }: Statement) {
      const query = new PreparedQuery(name, text, withMacs(values, handle.rowMac), statementMs + graceMs, handle.seals);
      const rows = await answerOf(client, query);
      if (query.stateColumns.length > 0) verifyRows(rows, query.stateColumns, handle);
      return rows as Row[];
    },
  };
}

/**
 * Opens a pool of connections. A statement waits at most 5 s for a lock and takes at most `statementMs`, even if the
 * server's machine disappears.
 *
 * Behind a pooler, connections can't set these limits when they start, because the pooler would refuse them. So each
 * transaction sets its own limits, and single statements use the defaults of the role (`keepRoleTimeouts`).
 * @param connection a URL, or the settings of a local server
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
  // While the pool is closing, an idle connection may report that the server stops. That is expected, so it is not
  // logged.
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
  const begin = ({ statementMs: max }: StatementTime): string => {
    const longer = max === statementMs ? {} : { statement_timeout: max };
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
      max: poolSize,
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

/**
 * Runs the work on a connection of the pool. Closes the connection if it breaks, or if the work reports it as broken.
 */
async function onConnection<T>(
  pool: pg.Pool,
  work: (client: Queryable, onBroken: (error: Error) => void) => Promise<T>,
): Promise<T> {
  const client = await reaching(pool.connect());
  let broken: Error | undefined;
  // Called if the connection breaks between two statements. Without a listener, its "error" event would end the
  // process.
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

/**
 * Checks prepared statements on two connections. If that fails, closes both, because the state of their prepared
 * statements is unknown.
 */
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

/**
 * Returns a function that runs one piece of work after the other, in the order of the calls. It is needed because a
 * transaction's statements share one connection, and pg 9 no longer queues statements.
 */
function inTurn(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work);
    last = next.catch(() => {});
    return next;
  };
}

/** The same database, for slow work outside of requests: each statement may run longer than usual. */
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
    const next = inTurn();
    const run = (text: string) => next(() => reaching(client.query({ text, query_timeout })));
    const statements = sqlOver(client, handle, time);
    let isOver = false;
    const requireOpen = () => {
      if (isOver) throw new Error("the transaction has ended");
    };
    try {
      await run(begin);
      const result = await work({
        async query<Row>(statement: Statement) {
          requireOpen();
          return next(() => statements.query<Row>(statement));
        },
        async script(text) {
          requireOpen();
          await run(text);
        },
      });
      isOver = true;
      await run("COMMIT");
      await reaching(confirmed(client));
      return result;
    } catch (error) {
      isOver = true;
      // A server that did not respond in time won't respond to ROLLBACK either, so the connection is closed.
      if (gaveUp(error)) onBroken(error as Error);
      else await run("ROLLBACK").catch(onBroken);
      throw error;
    }
  });
}

import { setTimeout as delay } from "node:timers/promises";
import { answerOf, CloseStatement, PreparedQuery, type Queryable, type Seals } from "./prepared-query.ts";
import { reaching } from "./sql-errors.ts";

/**
 * A connection of the driver's pool, with the process id that the server reported when it connected. Behind a pooler,
 * the pooler invents that id.
 */
type Connection = Queryable & { readonly processID?: number | null };

const checkMs = 5_000;
const headStartMs = 5;
/**
 * For each attempt of `checkStatements`, how many milliseconds the second connection keeps a database session busy.
 * Later attempts last longer, because the pooler may need time to open another session.
 */
const busyMs = [20, 50, 100, 200];

/**
 * Checks that prepared statements work behind a connection pooler, and rejects if the pooler loses or mixes them up.
 *
 * Runs a new prepared statement until two sessions of the server have answered it. A pooler prefers the session that
 * became free last. So a second connection briefly keeps that session busy, to force the pooler to use another one. No
 * transaction is opened, so that nodes that check at the same time don't block each other.
 * @param check the number of this check in the process, a part of the statement's name. Each check needs a new name:
 * once every session has prepared a statement of that name, even a faulty pooler passes the check. The name also
 * contains the connection's process id, because other processes may have prepared statements in these sessions.
 */
export async function checkStatements(
  first: Connection,
  second: Connection,
  { check, seals }: { readonly check: number; readonly seals: Seals },
): Promise<void> {
  const name = `check_${check}_${first.processID}`;
  const answeredBy = async (client: Connection): Promise<number | undefined> => {
    const query = new PreparedQuery(name, "SELECT pg_backend_pid() AS pid", [], checkMs, seals);
    const [row] = (await answerOf(client, query)) as { pid: number }[];
    return row?.pid;
  };
  const keepBusy = (ms: number) =>
    reaching(second.query({ text: `SELECT pg_sleep(${ms / 1000})`, query_timeout: checkMs }));
  const forget = async (client: Connection) => void (await answerOf(client, new CloseStatement(name)));
  const session = await answeredBy(first);
  if (session === first.processID) {
    await answeredBy(first);
    return forget(first);
  }
  for (const ms of busyMs) {
    const [whileBusy] = await Promise.all([delay(headStartMs).then(() => answeredBy(first)), keepBusy(ms)]);
    if (whileBusy !== session || (await answeredBy(first)) !== session) return forget(first);
  }
  // If the pooler has only one session, this verifies that two connections can both prepare the same statement in it.
  await answeredBy(second);
  await forget(first);
  await forget(second);
}

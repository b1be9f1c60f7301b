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
 * The time, in milliseconds, for which the second connection keeps a session busy. It grows with each attempt, because
 * the pooler may need longer to open another session.
 */
const busyMs = [20, 50, 100, 200];

/**
 * Runs a new prepared statement until two sessions of the server have answered it. This fails behind a pooler that
 * loses or mixes up prepared statements. A pooler prefers the session that became free last, so a second connection
 * briefly occupies that session to force the use of another one. No transaction is opened, so that nodes which check at
 * the same time don't block each other's sessions.
 * @param check the number of the check in this process. The statement's name must be new: once each session has
 * prepared a name, a faulty pooler no longer fails with it. Other processes may have left names behind, so the name
 * also contains the id that the pooler invented for the connection.
 */
export async function checkStatements(
  first: Connection,
  second: Connection,
  { check, seals }: { readonly check: number; readonly seals: Seals },
): Promise<void> {
  const name = `check_${check}_${first.processID}`;
  const answeredBy = async (client: Connection): Promise<number | undefined> => {
    const query = new PreparedQuery(name, "SELECT pg_backend_pid() AS pid", [], checkMs, seals);
    const [row] = (await reaching(answerOf(client, query))) as { pid: number }[];
    return row?.pid;
  };
  const keepBusy = (ms: number) =>
    reaching(second.query({ text: `SELECT pg_sleep(${ms / 1000})`, query_timeout: checkMs }));
  const forget = async (client: Connection) => void (await reaching(answerOf(client, new CloseStatement(name))));
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

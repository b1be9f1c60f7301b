import { setTimeout as delay } from "node:timers/promises";
import { answerOf, CloseStatement, PreparedQuery, type Queryable, type Seals } from "./prepared-query.ts";
import { reaching } from "./sql-errors.ts";

/**
 * A connection of the driver's pool, with the server process id that it was given when it connected. Behind a pooler,
 * the pooler made up that id.
 */
type Connection = Queryable & { readonly processID?: number | null };

const checkMs = 5_000;
const headStartMs = 5;
/**
 * How long, in milliseconds, the second connection keeps a session busy: longer with each attempt. The pooler may need
 * this time to open another session.
 */
const busyMs = [20, 50, 100, 200];

/**
 * Runs a new prepared statement until two sessions of the server have answered it, which fails behind a pooler that
 * loses or mixes up statements. A pooler prefers the session that became free last. So a second connection keeps that
 * session busy for a moment, to make the pooler use another one. No transaction begins, because nodes that check at
 * once must not wait for each other's sessions.
 * @param check the number of the check in this process. The statement's name must be new: a pooler that mixes
 * statements up does not do so once each of its sessions has prepared the name. Other processes may have left names
 * behind, so the name also contains the number that the pooler made up for the connection.
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
  // If the pooler has only one session, this checks that two connections can both prepare the same statement in it.
  await answeredBy(second);
  await forget(first);
  await forget(second);
}

import { setTimeout as delay } from "node:timers/promises";
import { answerOf, CloseStatement, PreparedQuery, type Queryable, type Seals } from "./prepared-query.ts";
import { reaching } from "./sql-errors.ts";

/** A connection of the driver's pool, with the server process that it was told: a pooler invents one. */
type Connection = Queryable & { readonly processID?: number | null };

const checkMs = 5_000;
const headStartMs = 5;
/** How long a session is kept busy, time after time: within it a pooler may have to open another. */
const busyMs = [20, 50, 100, 200];

/**
 * Runs a new prepared statement until it was answered by two sessions of the server: a pooler that loses or mixes up statements fails then.
 * A pooler takes the session that was free last, so the other connection keeps one busy for a moment. While it does, the statement goes to
 * another session; or else after it, for that session was free last. No transaction begins: nodes that check at once must not wait for
 * each other's sessions.
 * @param check the number of the check in this process. The statement's name must be new: a pooler that mixes statements up
 *   does not, once each of its sessions has prepared one. Checks of other processes may have left theirs, so the name also has
 *   the number that the pooler made up for the connection.
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
  // Perhaps it is the pooler's only session: then two connections must be able to prepare the same there.
  await answeredBy(second);
  await forget(first);
  await forget(second);
}

import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { ServiceError } from "../errors.ts";

/** SQLSTATE codes that callers tell apart (PostgreSQL, appendix A). */
export const sqlState = {
  uniqueViolation: "23505",
  insufficientPrivilege: "42501",
  lockNotAvailable: "55P03",
  queryCanceled: "57014",
} as const;

export function hasSqlState(error: unknown, state: string): boolean {
  const said = error instanceof ServiceError ? error.cause : error;
  return said instanceof pg.DatabaseError && said.code === state;
}

// serialization_failure, deadlock_detected: the transaction was rolled back whole, so that another may finish.
const rolledBack: ReadonlySet<string> = new Set(["40001", "40P01"]);

// disk_full, too_many_connections, lock_not_available (by its time: a migration locks all tables), query_canceled (by its time), admin_shutdown, crash_shutdown, cannot_connect_now, and of a server that has become a replica:
// read_only_sql_transaction. Class 08 is connection_exception. A pooler that loses or mixes up prepared statements shows as
// invalid_sql_statement_name or duplicate_prepared_statement.
const awayStates = /^(?:08...|53[13]00|55P03|57014|57P0[123]|25006|26000|42P05)$/;
const awayCodes: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOENT",
  "EPIPE",
  "ETIMEDOUT",
]);
export const unreplicatedMessage = "The synchronous standby did not confirm the commit";

// Errors of `pg` about its own connections have no code.
const awayMessages =
  /^(?:The synchronous standby did not confirm|Connection terminated|timeout exceeded when trying to connect|Client has encountered|Query read timeout)/;

/** Whether an error says that the database can't do its work now, rather than that it refused a statement. */
function saysAway(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return awayStates.test(error.code ?? "");
  if (!(error instanceof Error)) return false;
  const { code, message } = error as NodeJS.ErrnoException;
  return awayCodes.has(code ?? "") || awayMessages.test(message);
}

/**
 * The driver's answer, with its failures to reach the server told apart.
 * @throws ServiceError `unavailable` when the database can't be reached; else what the driver says
 */
export async function reaching<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    // The driver's own trace leads to its socket.
    if (error instanceof Error) Error.captureStackTrace(error);
    if (!saysAway(error)) throw error;
    throw new ServiceError("unavailable", "The service is briefly unavailable. Try again in a moment.", {
      cause: error,
    });
  }
}

/**
 * Whether it is unknown what became of a write that failed so: its connection may have broken after the commit. What the
 * write names (a blob) must then stay.
 */
export const isOutcomeUnknown = (error: unknown): boolean =>
  error instanceof ServiceError &&
  error.code === "unavailable" &&
  saysAway(error.cause) &&
  !hasSqlState(error, sqlState.lockNotAvailable);

/** Whether a statement waited in vain for the end of a transaction that writes a row of this table, rather than for a lock of a whole table. */
export function waitedForRowOf(table: string, error: unknown): boolean {
  const reported = error instanceof ServiceError ? error.cause : error;
  // PostgreSQL names the table in the context of such a wait, in whichever language, and gives no context for a whole table.
  return (
    hasSqlState(error, sqlState.lockNotAvailable) &&
    reported instanceof pg.DatabaseError &&
    reported.where?.includes(`"${table}`) === true
  );
}

/** Whether the driver waited in vain for the answer to a statement. */
export const gaveUp = (error: unknown): boolean =>
  error instanceof ServiceError && error.cause instanceof Error && error.cause.message === "Query read timeout";

const mostAttempts = 6;
const firstPauseMs = 10;

/**
 * Runs a statement or transaction, again when it was rolled back in favor of another (40001, 40P01).
 * @param run may be called several times: does nothing outside of the database that may not be done twice
 */
export async function withRetries<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      const again = error instanceof pg.DatabaseError && rolledBack.has(error.code ?? "");
      if (!again || attempt === mostAttempts) throw error;
      await delay(firstPauseMs * 2 ** attempt);
    }
  }
}

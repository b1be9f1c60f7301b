import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { ServiceError } from "../errors.ts";

/** The SQLSTATE codes that callers distinguish (PostgreSQL, appendix A). */
export const sqlState = {
  uniqueViolation: "23505",
  insufficientPrivilege: "42501",
  lockNotAvailable: "55P03",
  queryCanceled: "57014",
} as const;

export function hasSqlState(error: unknown, state: string): boolean {
  const databaseError = error instanceof ServiceError ? error.cause : error;
  return databaseError instanceof pg.DatabaseError && databaseError.code === state;
}

/**
 * True for an error that PostgreSQL itself reported. False for an `unavailable` by which `reaching` replaced such an
 * error.
 */
export const isDatabaseError = (error: unknown): boolean => error instanceof pg.DatabaseError;

/**
 * True if the stored value itself is unreadable: class 22 (data_exception) or data_corrupted. A retry never helps then.
 *
 * Other errors may be temporary, such as internal_error (XX000), or an operator can fix them: a full disk (53100), a
 * missing privilege (42501), or a damaged index (XX002, with REINDEX).
 */
export const isDamaged = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && /^(?:22...|XX001)$/.test(error.code ?? "");

// serialization_failure, deadlock_detected: PostgreSQL rolled back the whole transaction, so that another transaction
// could finish.
const rolledBack: ReadonlySet<string> = new Set(["40001", "40P01"]);

// The SQLSTATE codes that mean that the database is unavailable.
//
// disk_full, too_many_connections, lock_not_available (timed out: a migration locks all tables), query_canceled (timed
// out), admin_shutdown, crash_shutdown, cannot_connect_now, and read_only_sql_transaction for a server that has become
// a replica. Class 08 is connection_exception. invalid_sql_statement_name and duplicate_prepared_statement come from a
// pooler that loses or mixes up prepared statements.
const awayStates = /^(?:08...|53[13]00|55P03|57014|57P0[123]|25006|26000|42P05)$/;

/**
 * True if an error of the driver means that the database is unavailable. False if the database refused the statement.
 *
 * Each error that PostgreSQL reports has an SQLSTATE. All other errors of the driver are about its connection: sockets,
 * TLS, name resolution, time limits, and messages that it did not expect.
 */
const saysAway = (error: unknown): boolean =>
  !(error instanceof pg.DatabaseError) || error.code === undefined || awayStates.test(error.code);

/** Thrown instead of the driver's error, its `cause`, when the database is unavailable. */
class DatabaseAwayError extends ServiceError {
  constructor(cause: unknown) {
    super("unavailable", "The service is briefly unavailable. Try again in a moment.", { cause });
  }
}

/**
 * Resolves as the driver's call does.
 * @param answer a call of the driver only: its errors without an SQLSTATE count as those of an unavailable database
 * @throws ServiceError `unavailable` when the database can't be reached; otherwise the driver's error
 */
export async function reaching<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    // The driver's own stack trace ends at its socket, so the caller's trace replaces it.
    if (error instanceof Error) Error.captureStackTrace(error);
    throw saysAway(error) ? new DatabaseAwayError(error) : error;
  }
}

/**
 * True if a failed write may have been committed: for example, the connection broke after the commit. Then the blob
 * that the write refers to must not be discarded. False if PostgreSQL reported why it did not commit.
 */
export const isOutcomeUnknown = (error: unknown): boolean =>
  error instanceof DatabaseAwayError && !hasSqlState(error, sqlState.lockNotAvailable);

/**
 * True if a statement timed out because another transaction had locked a row of this table. False if the other
 * transaction had locked the whole table.
 */
export function waitedForRowOf(table: string, error: unknown): boolean {
  const reported = error instanceof ServiceError ? error.cause : error;
  // When a statement waits for a row, the error's context names the table in every language of the server. When it
  // waits for a whole table, there is no context.
  return (
    hasSqlState(error, sqlState.lockNotAvailable) &&
    reported instanceof pg.DatabaseError &&
    reported.where?.includes(`"${table}`) === true
  );
}

/** True if the driver gave up waiting for a statement's result. */
export const gaveUp = (error: unknown): boolean =>
  error instanceof ServiceError && error.cause instanceof Error && error.cause.message === "Query read timeout";

const maxAttempts = 6;
const firstPauseMs = 10;

/**
 * Runs a statement or transaction, and repeats it when PostgreSQL rolled it back in favor of another transaction
 * (40001, 40P01).
 * @param run may be called several times, so any effects that it has outside the database must be safe to repeat
 */
export async function withRetries<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      const again = error instanceof pg.DatabaseError && rolledBack.has(error.code ?? "");
      if (!again || attempt === maxAttempts) throw error;
      await delay(firstPauseMs * 2 ** attempt);
    }
  }
}

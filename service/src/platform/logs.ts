import { type Logger, pino } from "pino";

export type Log = Logger;

/** Credentials that appear in paths: 24-64 hex digits or 26 base32 characters. Only their first 6 may be logged. */
const codes = /[0-9a-f]{24,64}|(?<![a-z2-7])[a-z2-7]{26}(?![a-z2-7])|svc_(?:pk|whsec)_\S+/g;

const shortestCode = 24;

/** The text with every code in it cut to its first six characters. */
export function maskCodes(text: string): string {
  if (text.length < shortestCode && !text.includes("svc_")) return text;
  return text.replace(codes, (code) => (code.startsWith("svc_") ? "svc_***" : `${code.slice(0, 6)}…`));
}

/** An error's own words; what else hangs on it (a database client, a request, a body) stays out of the log. */
function errorFields(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message, stack, cause } = error;
  const { code } = error as NodeJS.ErrnoException;
  return { name, message, code, stack, ...(cause === undefined ? {} : { cause: errorFields(cause) }) };
}

// A write per line costs more than the rest of the logging; lines wait for each other, this long at most.
const batching = { minLength: 8 * 1024, periodicFlush: 100 };

/** JSON lines on standard error, the last of them when the process ends; what a person is meant to read goes to standard output. */
export function openLog(level: string): Log {
  const destination = pino.destination({ fd: 2, sync: false, ...batching });
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: errorFields } },
    destination,
  );
}

import { isatty } from "node:tty";
import { type Logger, pino } from "pino";
import { maskEmails } from "./mail/mask-email.ts";
import { readableLine } from "./readable-log.ts";

export type Log = Logger;

/** Credentials that appear in paths: 24-64 hex digits or 26 base32 characters. Only their first 6 may be logged. */
const codes = /[0-9a-f]{24,64}|(?<![a-z2-7])[a-z2-7]{26}(?![a-z2-7])|svc_(?:pk|whsec)_\S+/g;

const shortestCode = 24;

/** The text with every code in it cut to its first six characters. */
export function maskCodes(text: string): string {
  if (text.length < shortestCode && !text.includes("svc_")) return text;
  return text.replace(codes, (code) => (code.startsWith("svc_") ? "svc_***" : `${code.slice(0, 6)}…`));
}

/** A text from elsewhere as a log may hold it: without whole codes and mail addresses. */
export const maskSecrets = (text: string): string => maskEmails(maskCodes(text));

/** An error's own words, masked; what else hangs on it (a database client, a request, a body) stays out of the log. */
function errorFields(error: unknown): object {
  if (!(error instanceof Error)) return { message: maskSecrets(String(error)) };
  const { name, message, stack, cause } = error;
  const { code } = error as NodeJS.ErrnoException;
  const words = { message: maskSecrets(message), stack: stack && maskSecrets(stack) };
  return { name, code, ...words, ...(cause === undefined ? {} : { cause: errorFields(cause) }) };
}

// Lines wait for each other, so many bytes or milliseconds at most.
const batchLength = 16 * 1024;
const flushMs = 100;

type Destination = { write: (line: string) => void };

/** Hands whole batches to the library's destination, which takes longer over a line than the logger (bench/logs.bench.ts). */
function batching(fd: number): Destination {
  const destination = pino.destination({ fd, sync: false, maxWrite: 4 * batchLength });
  let batch = "";
  let armed = false;
  const handOver = () => {
    if (batch !== "") destination.write(batch);
    batch = "";
  };
  const whenDue = () => {
    armed = false;
    handOver();
  };
  process.on("exit", () => {
    destination.flushSync();
    // What is handed over now would be written by a thread that ends with the process.
    if (batch !== "") pino.destination({ fd, sync: true }).write(batch);
  });
  return {
    write(line) {
      batch += line;
      if (batch.length >= batchLength) return handOver();
      // Armed by a line: a log that nobody writes to wakes nobody.
      if (armed) return;
      armed = true;
      setTimeout(whenDue, flushMs).unref();
    },
  };
}

// Node writes to a terminal at once: nothing is lost when the process ends.
const readable: Destination = { write: (line) => void process.stderr.write(readableLine(line)) };

/** The member that gives a line its time; the text is made once a millisecond. */
function timestamps(): () => string {
  let lastMs = 0;
  let member = "";
  return () => {
    const now = Date.now();
    if (now !== lastMs) {
      lastMs = now;
      member = `,"time":"${new Date(now).toISOString()}"`;
    }
    return member;
  };
}

/**
 * JSON lines on standard error, readable ones where that is a terminal; the last of them when the process ends. What a person
 * is meant to read goes to standard output.
 * @param to a file descriptor, or what takes each line
 */
export function openLog(level: string, to: number | Destination = 2): Log {
  const destination = typeof to !== "number" ? to : to === 2 && isatty(to) ? readable : batching(to);
  return pino({ level, base: null, timestamp: timestamps(), serializers: { err: errorFields } }, destination);
}

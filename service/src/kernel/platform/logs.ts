import { isatty } from "node:tty";
import { styleText } from "node:util";
import { type Logger, pino } from "pino";
import { maskCode } from "./ids.ts";
import { maskEmails } from "./mail/mask-email.ts";
import { toPlainText } from "./text.ts";

export type Log = Logger;

/**
 * Credentials in paths and texts: codes of 24-64 hex digits or 26 base32 characters, keys and webhook secrets. A log
 * may show at most the first 6 characters of a code.
 */
const codes = /[0-9a-f]{24,64}|(?<![a-z2-7])[a-z2-7]{26}(?![a-z2-7])|svc_(?:pk|whsec)_\S+/g;

const minCodeLength = 24;

/** The text with every code shortened to its first six characters, and every key and webhook secret replaced. */
export function maskCodes(text: string): string {
  if (text.length < minCodeLength && !text.includes("svc_")) return text;
  return text.replace(codes, (code) => (code.startsWith("svc_") ? "svc_***" : maskCode(code)));
}

/** An external text for the log, with codes and email addresses masked. */
export const maskSecrets = (text: string): string => maskEmails(maskCodes(text));

/**
 * The members of an error that are logged, with codes and email addresses masked. Its other members (a database client,
 * a request, a body) are not logged.
 */
function errorFields(error: unknown): object {
  if (!(error instanceof Error)) return { message: maskSecrets(String(error)) };
  const { name, message, stack, cause } = error;
  const { code } = error as NodeJS.ErrnoException;
  const words = { message: maskSecrets(message), stack: stack && maskSecrets(stack) };
  return { name, code, ...words, ...(cause === undefined ? {} : { cause: errorFields(cause) }) };
}

// The collected log lines are written at this many characters, or after this many milliseconds.
const batchLength = 16 * 1024;
const flushMs = 100;

type Destination = { write: (line: string) => void };

/**
 * Collects lines and writes them in batches, because writing a single line costs more than formatting it
 * (bench/logs.bench.ts).
 */
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
    // At exit, the lines are written synchronously, because the library's thread ends with the process.
    if (batch !== "") pino.destination({ fd, sync: true }).write(batch);
  });
  return {
    write(line) {
      batch += line;
      if (batch.length >= batchLength) return handOver();
      // The timer runs only while a line waits to be written, so an idle log never wakes the process.
      if (armed) return;
      armed = true;
      setTimeout(whenDue, flushMs).unref();
    },
  };
}

// Node writes to a terminal synchronously, so nothing is lost at exit.
const readable: Destination = { write: (line) => void process.stderr.write(readableLine(line)) };

/** Returns a function for the `time` member of log lines. It formats the time at most once in a millisecond. */
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
 * Opens the log: JSON lines on standard error, readable lines on a terminal; nothing is lost at exit. Texts for people,
 * such as the output of a command, don't go here but to standard output.
 * @param to a file descriptor, or a receiver of each line
 */
export function openLog(level: string, to: number | Destination = 2): Log {
  const destination = typeof to !== "number" ? to : to === 2 && isatty(to) ? readable : batching(to);
  return pino({ level, base: null, timestamp: timestamps(), serializers: { err: errorFields } }, destination);
}

const levels = [
  [60, "fatal", "red"],
  [50, "error", "red"],
  [40, "warn", "yellow"],
  [30, "info", "green"],
  [20, "debug", "blue"],
] as const;

type LoggedError = { message?: string; stack?: string; cause?: LoggedError };
type LogLine = { level: number; time: string; msg?: string; err?: LoggedError };

/**
 * Formats a log line (JSON) for a person at a terminal: local time, level, message, and the rest as `name=value`.
 * Escapes characters that could control the terminal.
 */
export function readableLine(line: string): string {
  const { level, time, msg = "", err, ...rest } = JSON.parse(line) as LogLine;
  const [, name, color] = levels.find(([min]) => level >= min) ?? [0, "trace", "gray"];
  const clock = new Date(time).toTimeString().slice(0, 8);
  const fields = Object.entries(rest).map(([key, value]) => toPlainText(`${key}=${shown(value)}`));
  const words = toPlainText(msg || (err?.message ?? ""));
  const head = [clock, styleText(color, name.padEnd(5)), words, styleText("gray", fields.join(" "))];
  const stack = (err?.stack ?? "").split("\n").filter(Boolean);
  for (let cause = err?.cause; cause; cause = cause.cause) stack.push(`Cause: ${cause.message}`);
  return [head.join(" ").trimEnd(), ...stack.map((at) => styleText("gray", `    ${toPlainText(at)}`)), ""].join("\n");
}

const shown = (value: unknown): string =>
  typeof value === "string" && !/\s/.test(value) ? value : JSON.stringify(value);

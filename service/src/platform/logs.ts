import { type Logger, pino } from "pino";

export type Log = Logger;

/** Writes a line where the log writes its own. */
export type LineWriter = (line: string) => void;

/** Credentials that appear in paths: 24-64 hex digits or 26 base32 characters. Only their first 6 may be logged. */
const codes = /[0-9a-f]{24,64}|(?<![a-z2-7])[a-z2-7]{26}(?![a-z2-7])|svc_(?:pk|whsec)_\S+/g;

const shortestCode = 24;

/** The text with every code in it cut to its first six characters. */
export function maskCodes(text: string): string {
  if (text.length < shortestCode && !text.includes("svc_")) return text;
  return text.replace(codes, (code) => (code.startsWith("svc_") ? "svc_***" : `${code.slice(0, 6)}…`));
}

// A write per line costs more than the rest of the logging; lines wait for each other, this long at most.
const batchLength = 16 * 1024;
const flushMs = 100;

let stampedMs = 0;
let stamp = "";

/** The present instant as a line of the log bears it; made once a millisecond. */
export function timeStamp(): string {
  const now = Date.now();
  if (now !== stampedMs) {
    stampedMs = now;
    stamp = new Date(now).toISOString();
  }
  return stamp;
}

/** An error's own words; whatever hangs on it (a database client, a request, a body) stays out of the log. */
function errorFields(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message, stack, cause } = error;
  const { code } = error as NodeJS.ErrnoException;
  return { name, message, code, stack, ...(cause === undefined ? {} : { cause: errorFields(cause) }) };
}

/** The library's destination for bytes; its own types know of text alone. */
type ByteDestination = { write: (bytes: Buffer) => void; flush: () => void; flushSync: () => void };

function openDestination(): ByteDestination {
  const settings = { fd: 2, sync: false, minLength: batchLength, maxWrite: 4 * batchLength } as const;
  return pino.destination({ ...settings, contentMode: "buffer" }) as unknown as ByteDestination;
}

/** JSON lines on standard error; what a person is meant to read goes to standard output. */
export function openLog(level: string): Log {
  const destination = openDestination();
  // The destination gets whole batches: given line by line, it would measure all that waits anew with each.
  let batch = "";
  const handOver = () => {
    if (batch === "") return;
    destination.write(Buffer.from(batch));
    batch = "";
  };
  const write: LineWriter = (line) => {
    batch += line;
    if (batch.length >= batchLength) handOver();
  };
  setInterval(() => {
    handOver();
    destination.flush();
  }, flushMs).unref();
  // What is left when the process ends, orderly or by an exception, is written then.
  process.on("exit", () => {
    handOver();
    destination.flushSync();
  });
  return pino(
    { level, base: null, timestamp: () => `,"time":"${timeStamp()}"`, serializers: { err: errorFields } },
    { write },
  );
}

/** Past the logger, for lines that are made elsewhere; what its level leaves out is for the caller to leave out. */
export function lineWriterOf(log: Log): LineWriter {
  const stream = Reflect.get(log, pino.symbols.streamSym) as { write: LineWriter };
  return (line) => stream.write(line);
}

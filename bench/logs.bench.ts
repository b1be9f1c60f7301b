import { openSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { pino } from "pino";
import { logAccess } from "../service/src/kernel/http/server.ts";
import { type Log, openLog } from "../service/src/kernel/platform/logs.ts";
import { atLeast, type Result } from "./result.ts";

const line = {
  requestId: "0b0c9f6e-3c1f-4f0e-9c55-6f1ed002ab55",
  method: "GET",
  path: `/api/partner/orders/${"6f1ed002ab".repeat(4)}`,
  status: 200,
  ms: 1.2,
  partnerId: "7d1a9f6e-3c1f-4f0e-9c55-6f1ed002ab55",
};

/**
 * Log lines per second of the process's CPU time. As under real load, each turn of the event loop writes several lines.
 */
async function rate(log: Log): Promise<number> {
  const lines = 30_000;
  const before = process.cpuUsage();
  for (let n = 0; n < lines; n++) {
    logAccess(log, line);
    if (n % 10 === 9) await setImmediate();
  }
  const { user, system } = process.cpuUsage(before);
  return lines / ((user + system) / 1e6);
}

/** Writing a request's log line with our logger, compared with pino and its own batching destination. */
export async function run(): Promise<Result[]> {
  const file = openSync("/dev/null", "w");
  const ours = openLog("info", file);
  const destination = pino.destination({ fd: file, sync: false, minLength: 8192, periodicFlush: 100 });
  const other = pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination);
  const rates = { ours: [] as number[], other: [] as number[] };
  for (let round = 0; round < 7; round++) {
    rates.ours.push(await rate(ours));
    rates.other.push(await rate(other));
  }
  return [atLeast("log line, pino's own destination", rates.ours, rates.other, "lines/s of CPU", 1.3)];
}

import { EvidenceError } from "@signsealship/evidence/errors";
import { parseNoteKey } from "@signsealship/evidence/log";

/**
 * A log that this witness cosigns. `maxADay`: how many requests the log may send in a day; those without a larger
 * checkpoint than the last one don't count.
 */
export type WitnessedLog = { origin: string; keys: string[]; maxADay: number };

const usualMaxADay = 8_640;
const maxLogs = 1_000;

/**
 * Reads a list of logs in the form of witness-network.org. The first line is `logs/v0`. Then there is for each log a
 * line `vkey KEY`, which may be followed by `qpd NUMBER`, `origin ORIGIN` and `contact TEXT`. Several keys with one
 * origin belong to the same log.
 * @throws EvidenceError `log` with the number of the line and its rule
 */
export async function parseLogsList(text: string): Promise<Map<string, WitnessedLog>> {
  const logs = new Map<string, WitnessedLog>();
  const keys = new Set<string>();
  let hasHeader = false;
  let current: WitnessedLog | null = null;
  for (const [i, whole] of text.split("\n").entries()) {
    const line = whole.trim();
    if (line === "" || line.startsWith("#")) continue;
    const refuse = (why: string) => new EvidenceError("log", `line ${i + 1}: ${why}`);
    const [word = "", ...rest] = line.split(/[ \t]+/);
    const value = rest.join(" ");
    if (!hasHeader && line !== "logs/v0") throw refuse("the first line is logs/v0");
    if (!hasHeader) {
      hasHeader = true;
    } else if (word === "vkey") {
      const { name } = await keyOf(value, refuse);
      if (keys.has(value)) throw refuse("this key is there already");
      keys.add(value);
      const log: WitnessedLog = logs.get(name) ?? { origin: name, keys: [], maxADay: usualMaxADay };
      log.keys.push(value);
      logs.set(name, log);
      current = log;
    } else if (current === null) {
      throw refuse("a log begins with its vkey");
    } else if (word === "qpd") {
      if (!/^[1-9]\d{0,6}$/.test(value)) throw refuse("qpd is a whole number from 1 to 9999999");
      current.maxADay = Number(value);
    } else if (word === "origin") {
      if (value !== current.origin) throw refuse("the origin is the name of the log's key");
    } else if (word !== "contact") throw refuse("a line begins with vkey, qpd, origin or contact");
    if (logs.size > maxLogs) throw refuse(`the list has at most ${maxLogs} logs`);
  }
  if (!hasHeader) throw new EvidenceError("log", "the first line is logs/v0");
  return logs;
}

async function keyOf(text: string, refuse: (why: string) => EvidenceError) {
  try {
    return await parseNoteKey(text);
  } catch (error) {
    throw error instanceof EvidenceError ? refuse(error.message) : error;
  }
}

import { parseEntry } from "@signsealship/evidence/log";
import { LogHalt, logStatuses, readWholeLog } from "../../evidence/transparency-log/transparency-log.ts";
import { auditHashesAt, checkAuditChain, readWrittenLines } from "../../kernel/audit/audit.ts";
import { minuteMs } from "../../kernel/platform/clock.ts";
import { longStatements, type Tx } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import type { Resources } from "../../kernel/resources.ts";
import { digestOf, headOf, nameOf, otherSets, type PresentRecord, presentRecords } from "./records.ts";
import { type Leaf, type StoredHead, selectHeads, selectLeaves } from "./store.ts";

/** The result of `audit verify`: the days whose heads are in the log, and a sentence for each fault. */
export type RecordsReport = { days: number; first: string | null; last: string | null; rows: number; faults: string[] };

type Deps = Pick<Resources, "db" | "rowMac" | "config">;

/**
 * Compares the operator's records with the heads in the transparency log. Finds rows that were set back to an earlier
 * state, are gone or moved to another firm, and audit logs whose lines differ from a head or are missing.
 */
export async function verifyRecords(deps: Deps): Promise<RecordsReport> {
  const faults: string[] = await haltOf(deps);
  const logged = await loggedHeads(deps, faults);
  return deps.db.transaction(async (tx) => {
    const heads = await selectHeads(tx);
    faults.push(...headFaults(heads, logged), ...(await chainFaults(tx, deps, heads)));
    const leaves = await selectLeaves(tx);
    faults.push(...rootFaults(heads, leaves));
    const removals = await memberRemovals(tx, deps);
    const rows = await rowFaults(tx, { heads, leaves, removals }, faults);
    return { days: heads.length, first: heads[0]?.day ?? null, last: heads.at(-1)?.day ?? null, rows, faults };
  }, longStatements);
}

async function haltOf(deps: Deps): Promise<string[]> {
  const live = (await logStatuses(deps)).find(({ log }) => log === "live");
  return live?.halted ? [`the live log halts: ${live.halted}`] : [];
}

/** The heads in the live log by day, in their order. */
async function loggedHeads({ db }: Deps, faults: string[]): Promise<Map<string, string[]>> {
  const heads = new Map<string, string[]>();
  try {
    for (const line of await readWholeLog(db, "live")) {
      const entry = line.startsWith("audit/v1 ") ? parseEntry(line) : null;
      if (entry?.kind === "audit/v1") heads.set(entry.day, [...(heads.get(entry.day) ?? []), entry.head]);
    }
  } catch (error) {
    if (!(error instanceof LogHalt)) throw error;
    faults.push(error.message);
  }
  return heads;
}

function headFaults(heads: readonly StoredHead[], logged: ReadonlyMap<string, readonly string[]>): string[] {
  const stored = new Map(heads.map((head) => [head.day, headOf(head)]));
  const missing = [...logged.keys()].filter((day) => !stored.has(day));
  const others = [...stored].flatMap(([day, head]) => {
    const lines = logged.get(day) ?? [];
    if (lines.length > 1) return [`the log has ${lines.length} heads of ${day}`];
    // The newest head may not be in the log yet.
    if (lines.length === 0 && day === heads.at(-1)?.day) return [];
    return lines[0] === head ? [] : [`the head of ${day} is not the one that the log has`];
  });
  return [...missing.map((day) => `the log has a head of ${day}, and the database has lost it`), ...others];
}

async function chainFaults(tx: Tx, { rowMac }: Deps, heads: readonly StoredHead[]): Promise<string[]> {
  const { faults } = await checkAuditChain({ db: tx, rowMac });
  const hashes = await auditHashesAt(
    tx,
    heads.map(({ audit }) => audit.position),
  );
  const cut = heads.find(({ audit }) => audit.position > 0 && hashes.get(audit.position) !== audit.sha256);
  if (!cut) return faults.map((fault) => `audit log: ${fault}`);
  const before = heads[heads.indexOf(cut) - 1]?.day;
  const since = before ? `, though all up to the head of ${before} are` : "";
  const { position } = cut.audit;
  const what = hashes.has(position) ? `lines up to ${position} are not those` : `it lacks line ${position}, which was`;
  return [...faults, `${what} of the head of ${cut.day}${since}`].map((fault) => `audit log: ${fault}`);
}

/** Recomputes the roots of all days from the stored states. */
function rootFaults(heads: readonly StoredHead[], leaves: ReadonlyMap<string, readonly Leaf[]>): string[] {
  const byDay = new Map<string, Leaf[]>(heads.map(({ day }) => [day, []]));
  for (const leaf of [...leaves.values()].flat()) byDay.get(leaf.day)?.push(leaf);
  const states = new Map<string, Leaf>();
  return heads.flatMap(({ day, sets }) => {
    for (const leaf of byDay.get(day) ?? []) states.set(nameOf(leaf), leaf);
    return otherSets({ sets }, states).map(
      (name) => `the states of ${name} that are stored are not those of the head of ${day}`,
    );
  });
}

/**
 * When each person was removed from a firm, by lines of the audit log with valid MACs. Memberships are the only rows
 * that are ever deleted.
 */
async function memberRemovals(tx: Tx, { rowMac }: Deps): Promise<Map<string, Date[]>> {
  const removals = new Map<string, Date[]>();
  for (const { detail, occurredAt } of await readWrittenLines(tx, rowMac, sql`action = 'member.removed'`)) {
    const { userId = "" } = JSON.parse(detail ?? "{}") as { userId?: string };
    removals.set(userId, [...(removals.get(userId) ?? []), new Date(`${occurredAt}Z`)]);
  }
  return removals;
}

type History = {
  heads: readonly StoredHead[];
  leaves: ReadonlyMap<string, readonly Leaf[]>;
  removals: ReadonlyMap<string, readonly Date[]>;
};

/**
 * A change of a row from one state to the next: the heads that have the earlier state and the later one, which is null
 * for the present state.
 */
type Step = { before: Leaf; firm: string | null; isGone: boolean; isReturn: boolean; from: string; to: string | null };

/** Follows each row through all its states up to the present one. @returns the number of rows */
async function rowFaults(tx: Tx, { heads, leaves, removals }: History, faults: string[]): Promise<number> {
  const judge = (step: Step) => {
    const fault = faultOf(step);
    if (fault !== null && !wasRemoved(step, heads, removals)) faults.push(fault);
  };
  for (const states of leaves.values())
    for (const [i, { day, firm, digest }] of states.entries()) {
      const before = states[i - 1];
      if (!before) continue;
      const from = heads[heads.findIndex((head) => head.day === day) - 1]?.day ?? day;
      const isReturn = states.slice(0, i - 1).some((earlier) => digest && earlier.digest?.equals(digest));
      judge({ before, firm, isGone: digest === null, isReturn, from, to: day });
    }
  const now = { from: heads.at(-1)?.day ?? "", to: null };
  const gone = new Map(leaves);
  let rows = 0;
  for await (const record of presentRecords(tx)) {
    rows += 1;
    gone.delete(nameOf(record));
    const states = leaves.get(nameOf(record)) ?? [];
    const before = states.at(-1);
    if (before) judge({ before, firm: record.firm, isGone: false, isReturn: isReturn(states, record), ...now });
  }
  for (const states of gone.values()) {
    const before = states.at(-1);
    if (before?.digest) judge({ before, firm: null, isGone: true, isReturn: false, ...now });
  }
  return rows;
}

function faultOf({ before, firm, isGone, isReturn, from, to }: Step): string | null {
  const row = `${before.source} ${before.key}`;
  const between = `between the head of ${from} and ${to === null ? "now" : `that of ${to}`}`;
  if (isReturn) return `${row} is in an earlier state again: set back ${between}`;
  // A removed person may join another firm, so the row may come back.
  if (before.digest === null) return null;
  if (isGone) return `${row} is gone: deleted ${between}`;
  return firm === before.firm ? null : `${row} moved from the firm ${before.firm} to ${firm} ${between}`;
}

/** A transaction that began before a head was taken may end after it. */
const slackMs = 10 * minuteMs;

/**
 * Whether a person was removed from a firm between two heads. A membership that returns afterwards has a different
 * state.
 */
function wasRemoved(
  { before, isReturn, from, to }: Step,
  heads: readonly StoredHead[],
  removals: History["removals"],
): boolean {
  if (before.source !== "members" || isReturn) return false;
  const takenAt = (day: string) => heads.find((head) => head.day === day)?.takenAt.getTime() ?? 0;
  const [start, end] = [takenAt(from) - slackMs, to === null ? Number.POSITIVE_INFINITY : takenAt(to) + slackMs];
  return (removals.get(before.key) ?? []).some((at) => at.getTime() >= start && at.getTime() <= end);
}

/** Whether a row has returned to a state from before its last one. */
function isReturn(states: readonly Leaf[], { content }: PresentRecord): boolean {
  const has = ({ salt, digest }: Leaf) => salt !== null && digest?.equals(digestOf(salt, content)) === true;
  const last = states.at(-1);
  return last !== undefined && !has(last) && states.some(has);
}

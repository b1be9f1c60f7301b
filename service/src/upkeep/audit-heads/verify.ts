import { X509Certificate } from "node:crypto";
import { parseEntry } from "@signsealship/evidence/log";
import { LogHalt, logStatuses, readWholeLog } from "../../evidence/transparency-log/transparency-log.ts";
import { auditHashesAt, checkAuditChain, readWrittenLines } from "../../kernel/audit/audit.ts";
import { dayMs, minuteMs } from "../../kernel/platform/clock.ts";
import { longStatements, type Tx } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import type { Resources } from "../../kernel/resources.ts";
import { changesSet, createRoots, digestOf, headOf, otherSets, type PresentRecord, recordSets } from "./records.ts";
import { type FollowedRow, followedRows, type Leaf, type StoredHead, selectHeads } from "./store.ts";

/** The result of `audit verify`: the days that have heads, and a sentence for each fault. */
export type RecordsReport = {
  days: number;
  first: string | null;
  last: string | null;
  /**
   * The newest head, if its line is not in the transparency log yet and still has time to get there; otherwise null.
   */
  notLogged: { day: string; takenAt: Date; ageSeconds: number } | null;
  rows: number;
  faults: string[];
};

type Deps = Pick<Resources, "db" | "rowMac" | "config" | "clock">;

/**
 * Compares the operator's records with the daily heads in the transparency log. Finds rows that were restored to an
 * earlier content, deleted, or moved to another firm. Also finds an audit log that lacks lines or differs from a head.
 */
export async function verifyRecords(deps: Deps): Promise<RecordsReport> {
  const faults: string[] = await haltOf(deps);
  const logged = await loggedHeads(deps, faults);
  return deps.db.transaction(async (tx) => {
    const heads = await selectHeads(tx);
    const waiting = notLoggedHead(heads, logged, deps.clock());
    faults.push(...headFaults(heads, logged, waiting), ...(await chainFaults(tx, deps, heads)));
    const changes = { removals: await memberRemovals(tx, deps), retirements: await retirementsOf(tx, deps) };
    const states = statesCheck(heads);
    const [rowFaults, follow] = [[] as string[], followerOf(heads, changes)];
    let rows = 0;
    for await (const row of followedRows(tx)) {
      states.add(row);
      rowFaults.push(...follow(row));
      if (row.record) rows += 1;
    }
    // Heads are read again, because another node may have created one since the first read.
    faults.push(...states.faults(), ...states.headless(await selectHeads(tx)), ...rowFaults);
    const notLogged = waiting && !waiting.isLate ? reported(waiting) : null;
    const days = { days: heads.length, first: heads[0]?.day ?? null, last: heads.at(-1)?.day ?? null };
    return { ...days, notLogged, rows, faults };
  }, longStatements);
}

async function haltOf(deps: Deps): Promise<string[]> {
  const live = (await logStatuses(deps)).filter(({ log }) => log.startsWith("live"));
  return live.flatMap(({ log, halted }) => (halted === null ? [] : [`the ${log} log halts: ${halted}`]));
}

/** The heads in the live transparency log by day, in the order of the log. */
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

/** The maximum merge delay of the log: a queued line is in the log within this time (docs/evidence-format.md, 22.1). */
const promisedMs = dayMs;

type WaitingHead = { day: string; takenAt: Date; ageMs: number; isLate: boolean };

/** The newest head, if it is not in the log. `isLate` is true if the log should have merged its line by now. */
function notLoggedHead(
  heads: readonly StoredHead[],
  logged: ReadonlyMap<string, readonly string[]>,
  now: Date,
): WaitingHead | null {
  const newest = heads.at(-1);
  if (!newest || logged.has(newest.day)) return null;
  const { day, takenAt } = newest;
  const ageMs = now.getTime() - takenAt.getTime();
  return { day, takenAt, ageMs, isLate: ageMs > promisedMs };
}

const reported = ({ day, takenAt, ageMs }: WaitingHead) => ({ day, takenAt, ageSeconds: Math.round(ageMs / 1_000) });

function headFaults(
  heads: readonly StoredHead[],
  logged: ReadonlyMap<string, readonly string[]>,
  waiting: WaitingHead | null,
): string[] {
  const stored = new Map(heads.map((head) => [head.day, headOf(head)]));
  const missing = [...logged.keys()].filter((day) => !stored.has(day));
  const others = [...stored].flatMap(([day, head]) => {
    const lines = logged.get(day) ?? [];
    if (lines.length > 1) return [`the log has ${lines.length} heads of ${day}`];
    if (waiting?.day === day)
      return waiting.isLate
        ? [`the log does not have the head of ${day}, which was taken ${hoursOf(waiting)} hours ago: it must within 24`]
        : [];
    return lines[0] === head ? [] : [`the head of ${day} is not the one that the log has`];
  });
  return [...missing.map((day) => `the log has a head of ${day}, and the database has lost it`), ...others];
}

const hoursOf = ({ ageMs }: WaitingHead): number => Math.floor(ageMs / (60 * minuteMs));

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

/**
 * Recomputes Merkle roots from the stored states: for each day, the root over its changes; for the last day, the roots
 * over all sets. For a head of an earlier release, which has no root over changes, the roots over all of its sets are
 * recomputed.
 */
function statesCheck(heads: readonly StoredHead[]) {
  const hasChanges = ({ sets }: StoredHead) => sets.some(({ name }) => name === changesSet);
  const days = heads.map((head) => {
    const isFull = head === heads.at(-1) || !hasChanges(head);
    const names = [...(isFull ? recordSets.keys() : []), ...(hasChanges(head) ? [changesSet] : [])];
    return { head, isFull, names, roots: createRoots(names) };
  });
  const full = days.filter(({ isFull }) => isFull);
  const byDay = new Map(days.map((one) => [one.head.day, one]));
  const others = new Map<string, { name: string; count: number }>();
  return {
    add({ name, states }: FollowedRow) {
      for (const state of states) {
        const one = byDay.get(state.day);
        if (one) one.roots.addChange(name, state);
        else others.set(state.day, { name, ...others.get(state.day), count: (others.get(state.day)?.count ?? 0) + 1 });
      }
      for (const { head, roots } of full) {
        const state = states.findLast(({ day }) => day <= head.day);
        if (state) roots.add(name, state);
      }
    },
    faults: () =>
      days.flatMap(({ head: { day, sets }, names, roots }) =>
        otherSets({ sets: sets.filter(({ name }) => names.includes(name)) }, roots.roots()).map((name) =>
          name === changesSet
            ? `the changes of ${day} that are stored are not those of its head`
            : `the states of ${name} that are stored are not those of the head of ${day}`,
        ),
      ),
    /** A fault for each day that has recorded states but no head, because no root covers these states. */
    headless: (present: readonly StoredHead[]) =>
      [...others]
        .filter(([day]) => !present.some((head) => head.day === day))
        .map(([day, { name, count }]) => `${name} has a state for ${day}, which has no head (such states: ${count})`),
  };
}

/**
 * Reads from audit lines with valid MACs when people were removed from firms. Only memberships are ever deleted, so
 * nothing else explains a missing row.
 */
async function memberRemovals(tx: Tx, { rowMac }: Deps): Promise<Map<string, Date[]>> {
  const removals = new Map<string, Date[]>();
  for (const { detail, occurredAt } of await readWrittenLines(tx, rowMac, sql`action = 'member.removed'`)) {
    const { userId = "" } = JSON.parse(detail ?? "{}") as { userId?: string };
    const dates = removals.get(userId) ?? [];
    dates.push(new Date(`${occurredAt}Z`));
    removals.set(userId, dates);
  }
  return removals;
}

type Retirement = { certificateSha256: string; retiredAt: string; reason: string; at: Date };

/**
 * Reads the retirements of seal certificates from audit lines with valid MACs. A certificate can have several lines,
 * because it may be retired again with the same date and reason.
 */
async function retirementsOf(tx: Tx, { rowMac }: Deps): Promise<Retirement[]> {
  const lines = await readWrittenLines(tx, rowMac, sql`action = 'seal_certificate.retired'`);
  return lines.map(({ detail, occurredAt }) => ({
    ...(JSON.parse(detail ?? "{}") as Omit<Retirement, "at">),
    at: new Date(`${occurredAt}Z`),
  }));
}

/** The changes of rows for which the audit log has a line. */
type Explained = { removals: ReadonlyMap<string, readonly Date[]>; retirements: readonly Retirement[] };

/**
 * A change of a row from one state to the next. `from` is the head with the earlier state; `to` is the head with the
 * later state, or null for the present state.
 */
type Step = { before: Leaf; firm: string | null; isGone: boolean; isReturn: boolean; from: string; to: string | null };

/**
 * Compares each state of a row with the next, up to the present one.
 * @returns a function that lists the faults of a row
 */
function followerOf(heads: readonly StoredHead[], explained: Explained): (row: FollowedRow) => string[] {
  const indexOf = new Map(heads.map(({ day }, i) => [day, i]));
  const headTime = (day: string) => heads[indexOf.get(day) ?? -1]?.takenAt.getTime() ?? 0;
  // A transaction that began before a head was created may commit afterwards, so the times have a tolerance.
  const isWithin = ({ from, to }: Step, at: Date) =>
    at.getTime() >= headTime(from) - slackMs && (to === null || at.getTime() <= headTime(to) + slackMs);
  return ({ states, record }) => {
    const faults: string[] = [];
    const judge = (step: Step, stateDigest: (content: string) => boolean) => {
      const fault = faultOf(step);
      if (fault === null || wasRemoved(step, explained, isWithin)) return;
      if (step.isReturn && record && wasRetired(record, explained, { at: (at) => isWithin(step, at), stateDigest }))
        return;
      faults.push(fault);
    };
    const earlier = new Set<string>();
    for (const [i, { day, firm, salt, digest }] of states.entries()) {
      const before = states[i - 1];
      if (!before) continue;
      const from = heads[(indexOf.get(day) ?? 0) - 1]?.day ?? day;
      const isReturn = digest !== null && earlier.has(digest.toString("hex")) && before.digest?.equals(digest) !== true;
      const isOf = (content: string) => salt !== null && digest?.equals(digestOf(salt, content)) === true;
      judge({ before, firm, isGone: digest === null, isReturn, from, to: day }, isOf);
      if (before.digest) earlier.add(before.digest.toString("hex"));
    }
    const before = states.at(-1);
    const now = { from: heads.at(-1)?.day ?? "", to: null };
    if (before && record) {
      const step = { before, firm: record.firm, isGone: false, isReturn: isReturnOf(states, record), ...now };
      judge(step, (content) => content === record.content);
    } else if (before?.digest) judge({ before, firm: null, isGone: true, isReturn: false, ...now }, () => false);
    return faults;
  };
}

function faultOf({ before, firm, isGone, isReturn, from, to }: Step): string | null {
  const row = `${before.source} ${before.key}`;
  const between = `between the head of ${from} and ${to === null ? "now" : `that of ${to}`}`;
  if (isReturn) return `${row} is in an earlier state again: set back ${between}`;
  // A removed person may join the firm again, so a deleted membership may exist again.
  if (before.digest === null) return null;
  if (isGone) return `${row} is gone: deleted ${between}`;
  return firm === before.firm ? null : `${row} moved from the firm ${before.firm} to ${firm} ${between}`;
}

const slackMs = 10 * minuteMs;

/**
 * True if a person was removed from a firm between two heads. A removal does not explain a return to an earlier state,
 * because a membership that is created again later has another state.
 */
const wasRemoved = (step: Step, { removals }: Explained, isWithin: (step: Step, at: Date) => boolean): boolean =>
  step.before.source === "members" &&
  !step.isReturn &&
  (removals.get(step.before.key) ?? []).some((at) => isWithin(step, at));

/**
 * True if a seal certificate was retired between two heads, and its row has exactly the state that the retirement
 * causes.
 */
function wasRetired(
  { source, content }: PresentRecord,
  { retirements }: Explained,
  step: { at: (at: Date) => boolean; stateDigest: (content: string) => boolean },
): boolean {
  if (source !== "seal_chains") return false;
  const [chain, hasMac] = JSON.parse(content) as [{ pem: string }, boolean];
  const sha256 = new X509Certificate(chain.pem).fingerprint256.replaceAll(":", "").toLowerCase();
  return retirements.some(
    ({ certificateSha256, retiredAt, reason, at }) =>
      certificateSha256 === sha256 &&
      step.at(at) &&
      step.stateDigest(JSON.stringify([{ ...chain, retiredAt, reason }, hasMac])),
  );
}

/** True if a row's present state differs from its last recorded state, but equals an earlier one. */
function isReturnOf(states: readonly Leaf[], { content }: PresentRecord): boolean {
  const has = ({ salt, digest }: Leaf) => salt !== null && digest?.equals(digestOf(salt, content)) === true;
  const last = states.at(-1);
  return last !== undefined && !has(last) && states.some(has);
}

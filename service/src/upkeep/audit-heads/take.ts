import { queueEntry } from "../../evidence/transparency-log/transparency-log.ts";
import { auditChainEnd, firstAuditLine } from "../../kernel/audit/audit.ts";
import { type Clock, dayMs } from "../../kernel/platform/clock.ts";
import { type Database, longStatements, type Tx } from "../../kernel/platform/database/database.ts";
import type { Log } from "../../kernel/platform/logs.ts";
import type { Random } from "../../kernel/platform/random.ts";
import { digestOf, headOf, nameOf, type PresentRecord, presentRecords, recordSets, rootsOf } from "./records.ts";
import { hasHead, insertHead, insertLeaves, type Leaf, selectLeaves, tryHeadLock } from "./store.ts";

export type HeadDeps = { db: Database; clock: Clock; random: Random; log: Log };

export const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

/**
 * Takes the head of the most recent day that has ended, once across all nodes, and queues its line for the live log.
 * The head covers the records at the time of the call, usually some minutes after midnight UTC.
 * @returns the day; null when it already has a head, or the installation is younger
 */
export async function takeHead(deps: HeadDeps): Promise<string | null> {
  const { db, clock } = deps;
  const now = clock();
  const day = dayOf(new Date(now.getTime() - dayMs));
  if (await hasHead(db, day)) return null;
  const first = await firstAuditLine(db);
  if (!first || dayOf(first) > day) return null;
  return db.transaction(async (tx) => ((await tryHeadLock(tx)) ? take(tx, deps, day, now) : null), longStatements);
}

const leavesAtOnce = 1_000;

async function take(tx: Tx, { random, log }: HeadDeps, day: string, takenAt: Date): Promise<string | null> {
  if (await hasHead(tx, day)) return null;
  const leaves = await selectLeaves(tx);
  const states = new Map([...leaves].flatMap(([name, all]) => all.slice(-1).map((last) => [name, last] as const)));
  const gone = new Set(states.keys());
  const changed: Leaf[] = [];
  for await (const record of presentRecords(tx)) {
    const name = nameOf(record);
    gone.delete(name);
    const leaf = leafOf(record, leaves.get(name) ?? [], day, random);
    if (leaf === null) continue;
    if (leaf.returns) log.error({ row: name }, "a row is in an earlier state again: see audit verify");
    changed.push(leaf);
    states.set(name, leaf);
  }
  for (const name of gone) {
    const last = states.get(name);
    if (!last?.digest) continue;
    const leaf = { ...last, day, firm: null, salt: null, digest: null };
    changed.push(leaf);
    states.set(name, leaf);
  }
  const head = {
    day,
    takenAt,
    salt: random.bytes(32),
    audit: await auditChainEnd(tx),
    sets: rootsOf(states, [...recordSets.keys()]),
  };
  await insertHead(tx, head);
  for (let at = 0; at < changed.length; at += leavesAtOnce)
    await insertLeaves(tx, changed.slice(at, at + leavesAtOnce));
  await tx.query(queueEntry("live", { kind: "audit/v1", day, head: headOf(head) }, takenAt));
  return day;
}

/**
 * The new state of a row; null when it is the same as in the last head. If a row returns to an earlier state, the
 * earlier salt and digest are used again, so that `audit verify` can always recognize it.
 */
function leafOf(
  record: PresentRecord,
  before: readonly Leaf[],
  day: string,
  random: Random,
): (Leaf & { returns: boolean }) | null {
  const { source, key, firm, content } = record;
  const equal = before.findLast(({ salt, digest }) => salt && digest?.equals(digestOf(salt, content)));
  if (equal && equal === before.at(-1) && equal.firm === firm) return null;
  if (equal) return { ...equal, day, firm, returns: equal !== before.at(-1) };
  const salt = random.bytes(16);
  return { source, key, day, firm, salt, digest: digestOf(salt, content), returns: false };
}

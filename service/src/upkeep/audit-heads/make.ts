import { queueEntry } from "../../evidence/transparency-log/transparency-log.ts";
import { auditChainEnd, firstAuditLine } from "../../kernel/audit/audit.ts";
import { type Clock, dayMs } from "../../kernel/platform/clock.ts";
import { type Database, longStatements, type Tx } from "../../kernel/platform/database/database.ts";
import type { Log } from "../../kernel/platform/logs.ts";
import type { Random } from "../../kernel/platform/random.ts";
import { changesSet, createRoots, digestOf, headOf, type PresentRecord, recordSets } from "./records.ts";
import { followedRows, hasHead, insertHead, insertLeaves, type Leaf, tryHeadLock } from "./store.ts";

export type HeadDeps = { db: Database; clock: Clock; random: Random; log: Log };

const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

/**
 * Creates the head of the most recent day that has ended, once across all nodes, and queues its line for the live log.
 * The head covers the records at the time of the call, usually some minutes after midnight UTC.
 * @returns the day. Null when the day already has a head, when another node is creating it, or when the audit log began
 * after that day.
 */
export async function makeHead(deps: HeadDeps): Promise<string | null> {
  const { db, clock } = deps;
  const now = clock();
  const day = dayOf(new Date(now.getTime() - dayMs));
  if (await hasHead(db, day)) return null;
  const first = await firstAuditLine(db);
  if (!first || dayOf(first) > day) return null;
  return db.transaction(
    async (tx) => ((await tryHeadLock(tx)) ? insertHeadOf(tx, deps, day, now) : null),
    longStatements,
  );
}

const leavesAtOnce = 1_000;

async function insertHeadOf(tx: Tx, { random, log }: HeadDeps, day: string, headTime: Date): Promise<string | null> {
  if (await hasHead(tx, day)) return null;
  const roots = createRoots([...recordSets.keys(), changesSet]);
  let changed: Leaf[] = [];
  for await (const { name, states, record } of followedRows(tx)) {
    const next = record ? leafOf(record, states, day, random) : goneLeaf(states.at(-1), day);
    if (next) {
      if (isReturn(next, states)) log.error({ row: name }, "a row is in an earlier state again: see audit verify");
      changed.push(next);
      roots.addChange(name, next);
    }
    const state = next ?? states.at(-1);
    if (state) roots.add(name, state);
    if (changed.length < leavesAtOnce) continue;
    await insertLeaves(tx, changed);
    changed = [];
  }
  await insertLeaves(tx, changed);
  const head = {
    day,
    takenAt: headTime,
    salt: random.bytes(32),
    audit: await auditChainEnd(tx),
    sets: roots.roots(),
  };
  await insertHead(tx, head);
  await tx.query(queueEntry("live", { kind: "audit/v1", day, head: headOf(head) }, headTime));
  return day;
}

/** The new state of a deleted row. Null when the deletion is already recorded. */
const goneLeaf = (last: Leaf | undefined, day: string): Leaf | null =>
  last?.digest ? { ...last, day, firm: null, salt: null, digest: null } : null;

/**
 * The new state of a row; null when nothing has changed since the last head. If a row returns to an earlier content,
 * the earlier salt and digest are reused, so that `audit verify` detects the return.
 */
function leafOf(
  { source, key, firm, content }: PresentRecord,
  before: readonly Leaf[],
  day: string,
  random: Random,
): Leaf | null {
  const equal = before.findLast(({ salt, digest }) => salt && digest?.equals(digestOf(salt, content)));
  if (equal && equal === before.at(-1) && equal.firm === firm) return null;
  if (equal) return { ...equal, day, firm };
  const salt = random.bytes(16);
  return { source, key, day, firm, salt, digest: digestOf(salt, content) };
}

const isReturn = ({ digest }: Leaf, before: readonly Leaf[]): boolean =>
  digest !== null &&
  before.at(-1)?.digest?.equals(digest) !== true &&
  before.some((earlier) => earlier.digest?.equals(digest) === true);

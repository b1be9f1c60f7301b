import { parseCheckpoint } from "@signsealship/evidence/log";
import { type Clock, hourMs, minuteMs } from "../../kernel/platform/clock.ts";
import type { Database } from "../../kernel/platform/database/database.ts";
import type { Log } from "../../kernel/platform/logs.ts";
import type { Calendars } from "../anchoring/anchoring.ts";
import type { Stamp } from "../seals/seals.ts";
import {
  chooseRoot,
  claimDueAnchors,
  type DueAnchor,
  type NewProof,
  openTimestamps,
  postponeAnchor,
  storeProof,
  supersedeWaiting,
} from "./anchor-store.ts";
import { checkpointForReaders } from "./published.ts";
import { selectCheckpoint } from "./store.ts";
import { environmentOf, type LogName, selectTrees, type Tree } from "./trees.ts";

export type HourlyRootDeps = {
  db: Database;
  clock: Clock;
  log: Log;
  /** The shortest time between two anchored roots of the live log. The last root of an ended log doesn't wait. */
  intervalMs: number;
  /** Time-stamping authorities by their URLs. Each stamps each root, or else a later root in its place. */
  stampers: ReadonlyMap<string, Stamp>;
  /** Submits digests to the OpenTimestamps calendars; null when none are configured. */
  calendars: Calendars | null;
};

const batchSize = 8;
/** The claims of a node that died expire after this time. Then other nodes can claim the same anchors. */
const claimMs = 5 * minuteMs;
/**
 * Test seals need no lasting proof of time. So the test log anchors one checkpoint for every 24 that the live log may
 * anchor.
 */
const testRootsPerLive = 1 / 24;

/**
 * The shortest time between two anchored roots of a log. The last root of an ended log doesn't wait.
 * @param liveMs the shortest time for the live log
 */
export const rootIntervalMs = (log: LogName, liveMs: number): number =>
  environmentOf(log) === "live" ? liveMs : liveMs / testRootsPerLive;

/**
 * Anchors a checkpoint of each log once in each interval, if the log has grown. If a source (an authority, or the
 * calendars) fails, it is asked again until it has anchored this checkpoint or a later one. Any number of nodes may
 * call this at once.
 * @param stopping once aborted, nothing further is claimed
 */
export async function anchorRoots(deps: HourlyRootDeps, stopping?: AbortSignal): Promise<void> {
  const { db, clock, stampers, calendars } = deps;
  const sources = [...stampers.keys(), ...(calendars ? [openTimestamps] : [])];
  if (sources.length === 0) return;
  for (const tree of await selectTrees(db)) await choose(deps, tree, sources);
  while (!stopping?.aborted) {
    await supersedeWaiting(db);
    const now = clock();
    const claimedUntil = new Date(now.getTime() + claimMs);
    const due = await claimDueAnchors(db, sources, { now, claimedUntil, limit: batchSize });
    if (due.length === 0) return;
    await Promise.all(due.map((anchor) => attend(deps, anchor)));
  }
}

async function choose(
  { db, clock, intervalMs }: HourlyRootDeps,
  { log, finalSize }: Tree,
  sources: string[],
): Promise<void> {
  const now = clock();
  const isEnding = finalSize !== null;
  const checkpoint = isEnding ? await selectCheckpoint(db, log, finalSize) : await checkpointForReaders(db, log, now);
  if (!checkpoint || checkpoint.size === 0) return;
  // The last checkpoint of a log is anchored at once, because the log may have ended after its key was stolen.
  const after = isEnding ? now : new Date(now.getTime() - rootIntervalMs(log, intervalMs));
  await db.transaction((tx) => chooseRoot(tx, log, { size: checkpoint.size, sources, now, after }));
}

/** Tries to anchor one checkpoint. Never rejects, so that the rest of the batch is processed. */
async function attend(deps: HourlyRootDeps, anchor: DueAnchor): Promise<void> {
  const { db, clock, log } = deps;
  const about = { log: anchor.log, size: anchor.size, source: anchor.source };
  try {
    const added = anchor.source === openTimestamps ? await calendarProof(deps, anchor) : await stampedBy(deps, anchor);
    if (added) await storeProof(db, anchor, added);
    else await postponeAnchor(db, anchor, new Date(clock().getTime() + retryMs(anchor.looks)));
  } catch (error) {
    log.error(
      { err: error, ...about },
      "a checkpoint of the transparency log could not be anchored and is tried again",
    );
  }
}

/** The wait before the next try: from a minute up to an hour. */
const retryMs = (looks: number): number => Math.min(minuteMs * 2 ** Math.min(looks - 1, 6), hourMs);

/** The note of an anchor's checkpoint, with only the log's signature. Authorities stamp exactly these bytes. */
async function noteOf(deps: HourlyRootDeps, { log, size }: DueAnchor): Promise<string> {
  const checkpoint = await selectCheckpoint(deps.db, log, size);
  if (!checkpoint) throw new Error("the checkpoint of an anchor is missing");
  return checkpoint.note;
}

async function stampedBy(deps: HourlyRootDeps, anchor: DueAnchor): Promise<NewProof | null> {
  const token = await deps.stampers.get(anchor.source)?.(Buffer.from(await noteOf(deps, anchor)));
  if (!token) return null;
  return { status: "stamped", proof: token.token, anchoredAt: token.genTime, blockHeight: null, nextLookAt: null };
}

async function calendarProof(deps: HourlyRootDeps, anchor: DueAnchor): Promise<NewProof | null> {
  const { calendars, clock } = deps;
  if (!calendars) return null;
  const { proof, anchoredAt } = anchor;
  if (proof === null || anchoredAt === null) {
    const { root } = parseCheckpoint(await noteOf(deps, anchor));
    const submitted = await calendars.submit(root);
    if (!submitted) return null;
    const { submittedAt, nextUpgradeAt } = submitted;
    const facts = { anchoredAt: submittedAt, blockHeight: null, nextLookAt: nextUpgradeAt };
    return { status: "pending", proof: submitted.proof, ...facts };
  }
  const about = { log: anchor.log, size: anchor.size };
  const learned = await calendars.upgrade({ proof, submittedAt: anchoredAt }, clock(), about);
  const { blockHeight, nextUpgradeAt } = learned;
  const status = blockHeight === null ? "pending" : "confirmed";
  return { status, proof: learned.proof, anchoredAt, blockHeight, nextLookAt: nextUpgradeAt };
}

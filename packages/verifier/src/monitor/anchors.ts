import { EvidenceError } from "@signsealship/evidence/errors";
import { logSignedText, parseCheckpoint } from "@signsealship/evidence/log";
import { parseDetached } from "@signsealship/evidence/ots";
import { verifyTimeStampToken } from "@signsealship/evidence/rfc3161";
import { createNodeCrypto } from "../node-crypto.ts";
import type { Findings } from "./findings.ts";
import { sameBytes } from "./fork-proof.ts";
import { nameAt } from "./next-log.ts";
import { LogBroken, type PublishedTree, type ReadLog } from "./published-log.ts";

/** The size of a log when the monitor saw it. `at` is epoch ms. */
type Sighting = { readonly size: number; readonly at: number };

/** The facts that a monitor stores for the next run, to judge whether the log's anchors come in time. */
export type Seen = {
  /** The time of the first run and of the last one, as ISO 8601. */
  readonly since: string;
  readonly last: string;
  /** True if the log ever had an anchored state. */
  readonly anchors: boolean;
  /**
   * Sizes of the log that no valid anchored state covers yet. In each hour, at most one of the monitor's own runs adds
   * a size, and only if the log grew.
   */
  readonly waiting: readonly Sighting[];
};

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

/** How late an anchor may be. After a failure of an authority, a log tries again within this time. */
const graceMs = hourMs;

/** The most entries of `waiting` that are stored for the next run. */
const maxWaiting = 1_000;

/**
 * The log's list of anchored states, at the path `anchors`. `isAnchored`: an authority or a calendar has issued a proof
 * of the state.
 */
type AnchorList = {
  readonly intervalSeconds: number;
  readonly roots: readonly { readonly size: number; readonly chosenAt: number; readonly isAnchored: boolean }[];
};

/**
 * Finds the hours whose entries were not anchored in time by any authority or calendar. A log must anchor a state in
 * each hour in which it grew. The monitor learns of the growth from its own runs, and from the states that the log
 * chose to anchor.
 *
 * The monitor verifies the proofs, but not whether the authorities are trusted.
 *
 * @param about `from` is the log's URL or folder; `seen` the facts of earlier runs, null for the first run
 * @returns the facts for the next run
 */
export async function judgeAnchors(
  read: ReadLog,
  tree: PublishedTree,
  about: { from: string; key: string; findings: Findings; seen: Seen | null; now: Date },
): Promise<Seen> {
  const { from, key, findings, seen, now } = about;
  const { size } = tree.checkpoint;
  const at = now.getTime();
  const list = await findings.during(() => readList(read));
  const roots = list?.roots ?? [];
  const interval = Math.min(Math.max((list?.intervalSeconds ?? 0) * 1_000, hourMs), dayMs);
  const after = seen ? Date.parse(seen.last) : at - dayMs;
  const chosen = roots.filter((root) => root.chosenAt > after).map((root) => ({ size: root.size, at: root.chosenAt }));
  const sightings = [...(seen?.waiting ?? []), ...chosen].sort((one, other) => one.at - other.at);
  const anchored = roots.filter((root) => root.isAnchored && root.size <= size).reverse();
  const anchors = anchored.length > 0 || seen?.anchors === true;
  const judge = anchorJudge(read, tree, { key, findings });
  const waiting: Sighting[] = [];
  for (const sighting of sightings) {
    const root = anchored.find((one) => one.size >= sighting.size);
    const time = root ? await judge(root.size) : null;
    const isLate = (time ?? at) > sighting.at + interval + graceMs;
    // A log that never chose a root to anchor may have no time-stamping authorities. A note below reports that, so no
    // missing hour is reported.
    if (isLate && (anchors || roots.length > 0)) addMissing(findings, sighting, time);
    if (time === null) waiting.push(sighting);
  }
  const newest = anchored.at(-1);
  if (newest) await judge(newest.size);
  if (list === null) {
    if (nameAt(from) !== null) findings.notes.push("The log lists no anchored states, so its anchors are not checked.");
  } else if (!anchors) findings.notes.push("No authority and no calendar has anchored a state of the log.");
  else if (interval > hourMs) findings.notes.push(`The log anchors a state every ${interval / hourMs} hours.`);
  const isNewHour = waiting.every((one) => hourOf(one.at) !== hourOf(at) && one.size < size);
  if (isNewHour && size > (newest?.size ?? 0)) waiting.push({ size, at });
  const last = now.toISOString();
  return { since: seen?.since ?? last, last, anchors, waiting: waiting.slice(0, maxWaiting) };
}

const hourOf = (at: number): string => new Date(at).toISOString().slice(0, 13).replace("T", " ");

/** Adds a sentence about an hour without an anchor, once for each hour. */
function addMissing({ missing }: Findings, { size, at }: Sighting, time: number | null): void {
  const hour = `The hour from ${hourOf(at)}:00 UTC has no anchor:`;
  if (missing.some((sentence) => sentence.startsWith(hour))) return;
  missing.push(
    time === null
      ? `${hour} no anchored state has the ${size} entries of then.`
      : `${hour} the first anchored state with the ${size} entries of then is of ${new Date(time).toISOString()}.`,
  );
}

/**
 * Returns a function that checks an anchored state. The log must have signed the state, and the state must be part of
 * the log's history. Each proof must be over that state. Each state is read once.
 * @returns a function that gives the earliest time in the state's proofs, epoch ms; null without a proof, or if the
 * check fails
 */
function anchorJudge(read: ReadLog, tree: PublishedTree, { key, findings }: { key: string; findings: Findings }) {
  const judged = new Map<number, number | null>();
  return async (size: number): Promise<number | null> => {
    const before = judged.get(size);
    if (before !== undefined) return before;
    const time = await findings.during(async () => {
      const { checkpoint, anchors } = await readAnchors(read, size);
      const state = { name: `the anchored state of ${size} entries`, note: checkpoint };
      // Without the log's signature, anybody could have made the checkpoint, so it anchors nothing of the log.
      if (!(await findings.compareCheckpoint(tree, state, key))) return null;
      const times = await Promise.all(anchors.map((anchor) => timeOf(anchor, checkpoint)));
      return times.length === 0 ? null : Math.min(...times);
    });
    judged.set(size, time);
    return time;
  };
}

type Anchor = { readonly source: string; readonly anchoredAt: number; readonly proof: Uint8Array };

/**
 * The time of an anchor. For an authority, it is the time in the verified time-stamp token. For a calendar, it is only
 * the log's own statement, because a calendar's proof has no time until a block confirms it.
 * @throws LogBroken
 */
async function timeOf({ source, anchoredAt, proof }: Anchor, checkpoint: string): Promise<number> {
  const { note, root, size } = parseCheckpoint(checkpoint);
  const isOther = new LogBroken(`The proof of ${source} is not over the state of ${size} entries.`);
  try {
    if (source === "opentimestamps") {
      if (!sameBytes(parseDetached(proof).digest, root)) throw isOther;
      return anchoredAt;
    }
    const stamped = { message: new TextEncoder().encode(logSignedText(note)) };
    const { intact, genTime } = await verifyTimeStampToken({
      token: proof,
      stamped,
      anchors: [],
      crypto: createNodeCrypto(),
    });
    if (!intact || genTime === null) throw isOther;
    return genTime;
  } catch (error) {
    if (error instanceof EvidenceError) throw isOther;
    throw error;
  }
}

/** The list of anchored states; null for a log that publishes none, such as a copy in a folder. */
const readList = async (read: ReadLog): Promise<AnchorList | null> =>
  readJson(read, "anchors", (json) => {
    const { intervalSeconds, roots } = json as { intervalSeconds: unknown; roots: Record<string, unknown>[] };
    return {
      intervalSeconds: countOf(intervalSeconds),
      roots: roots.map(({ size, chosenAtUtc, isAnchored }) => ({
        size: countOf(size),
        chosenAt: timeIn(chosenAtUtc),
        isAnchored: isAnchored === true,
      })),
    };
  });

async function readAnchors(read: ReadLog, size: number) {
  const path = `anchors/${size}`;
  const found = await readJson(read, path, (json) => {
    const { checkpoint, anchors } = json as { checkpoint: unknown; anchors: Record<string, unknown>[] };
    const note = String(checkpoint);
    if (parseCheckpoint(note).size !== size) throw new TypeError("of another state");
    return {
      checkpoint: note,
      anchors: anchors.map(({ source, anchoredAtUtc, proof }): Anchor => {
        return {
          source: String(source),
          anchoredAt: timeIn(anchoredAtUtc),
          proof: new Uint8Array(Buffer.from(String(proof), "base64")),
        };
      }),
    };
  });
  if (!found) throw new LogBroken(`${path} is missing`);
  return found;
}

async function readJson<Result>(read: ReadLog, path: string, parse: (json: unknown) => Result): Promise<Result | null> {
  const bytes = await read(path);
  if (!bytes) return null;
  try {
    return parse(JSON.parse(Buffer.from(bytes).toString("utf8")));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError || error instanceof EvidenceError)
      throw new LogBroken(`${path} can't be read`);
    throw error;
  }
}

function countOf(value: unknown): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) throw new TypeError("not a count");
  return value;
}

function timeIn(value: unknown): number {
  const time = Date.parse(String(value));
  if (Number.isNaN(time)) throw new TypeError("not a time");
  return time;
}

import { setTimeout as sleep } from "node:timers/promises";
import { equalBytes } from "@signsealship/evidence/bytes";
import {
  formatEntry,
  formatLogProof,
  hashInTile,
  hashLength,
  inclusionRanges,
  type LogEntry,
  type LogProof,
  parseBundle,
  parseCheckpoint,
  parseLogProof,
  parseTilePath,
  tileWidth,
  widthAt,
} from "@signsealship/evidence/log";
import type { Environment } from "../../kernel/identity/identity.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { NotYetError } from "../../kernel/platform/errors.ts";
import { type LineState, lineState } from "./anchor-store.ts";
import { byPlace, edgePlaces, hashOfRange, LogHalt, leafHash, nameOf, nodeHash, rootOfTile } from "./grow.ts";
import { forgetTiles, inclusionHashes } from "./proof-tiles.ts";
import { retractionEntry, retractionOf } from "./retractions.ts";
import {
  hasLine,
  type StoredCheckpoint,
  type StoredTile,
  selectCheckpoint,
  selectNewestCheckpoint,
  selectPlace,
  selectTiles,
} from "./store.ts";
import { currentTree, type LogName } from "./trees.ts";
import {
  quorumWaitMs,
  raisePublished,
  selectCosignatures,
  selectPublished,
  selectWitnessed,
  sizeInWait,
} from "./witness-store.ts";

/** `unknown`: no such line was queued. `queued`: no signed checkpoint covers the line yet. */
export type ProvenLine =
  | { state: "unknown" | "queued" }
  | { state: "logged"; log: LogName; index: number; size: number; proof: string };

/**
 * The proof that the log includes the first retraction of an entry's file. Null for a file without a retraction, and
 * while no checkpoint covers the retraction.
 */
async function retractionProof(db: Sql, environment: Environment, entry: LogEntry): Promise<Buffer | null> {
  if (entry.kind !== "seal/v1" && entry.kind !== "closing/v1") return null;
  const { sealedSha256 } = entry;
  const retraction = await retractionOf(db, { environment, sealedSha256 });
  const proof = retraction && (await logProof(db, environment, retractionEntry(sealedSha256, retraction.reason)));
  return proof?.state === "logged" ? Buffer.from(proof.proof) : null;
}

/**
 * The `.tlog-proof` of a line. If the log's key was compromised, it leads to the log's last checkpoint. Otherwise it
 * leads to the first checkpoint that covers the line and that is, in order of preference:
 * - anchored and cosigned by a quorum of witnesses;
 * - anchored;
 * - cosigned by a quorum of witnesses;
 * - signed by the log.
 *
 * The proof is read and verified for each call. Its bytes change only in these cases:
 * - a checkpoint is anchored or cosigned;
 * - the log ends because its key was compromised;
 * - the log gets a retraction of the file, or a new proof of that retraction.
 * @throws Error when the stored data do not prove the line
 */
export async function logProof(db: Sql, environment: Environment, entry: LogEntry): Promise<ProvenLine> {
  const line = formatEntry(entry);
  const place = await selectPlace(db, environment, line);
  if (!place) return { state: (await hasLine(db, environment, line)) ? "queued" : "unknown" };
  if (!place.checkpoint) return { state: "queued" };
  const { log, leaf: index, checkpoint } = place;
  const { size, note } = checkpoint;
  // The proof of a file's entry also contains the proof of the file's first retraction.
  const extra = await retractionProof(db, environment, entry);
  const hashes = await inclusionHashes(db, log, index, size);
  const proof = formatLogProof({ extra, index, hashes, checkpoint: note });
  if (!isProven(line, parseLogProof(Buffer.from(proof)))) {
    forgetTiles(db, log, index, size);
    throw new Error(`the ${log} log does not prove its entry ${index}`);
  }
  return { state: "logged", log, index, size, proof };
}

/**
 * Finds the origin of the log that includes a line, and the line's index. While no signed checkpoint covers the line,
 * `index` is null and `origin` is that of the current log.
 */
export async function placeInLog(db: Sql, environment: Environment, entry: LogEntry) {
  const place = await selectPlace(db, environment, formatEntry(entry));
  if (place?.checkpoint) return { origin: parseCheckpoint(place.checkpoint.note).origin, index: place.leaf };
  return { origin: (await currentTree(db, environment))?.origin ?? "", index: null };
}

/**
 * True if a proof leads from a line to the root of its checkpoint. Computes the hashes synchronously, unlike the
 * verifier: Web Crypto would need threads that are busy with seals.
 */
function isProven(line: string, { index, hashes, checkpoint }: LogProof): boolean {
  const { size, root } = parseCheckpoint(checkpoint);
  const ranges = inclusionRanges(index, size);
  const reached = hashes.reduce<Uint8Array>(
    (hash, sibling, i) => ((ranges[i]?.start ?? 0) > index ? nodeHash(hash, sibling) : nodeHash(sibling, hash)),
    leafHash(Buffer.from(line)),
  );
  return ranges.length === hashes.length && equalBytes(reached, root);
}

/**
 * The checkpoint that readers get now, in order of preference:
 * - for a minute after a checkpoint got its quorum of witnesses, that checkpoint;
 * - for a minute after readers first saw a checkpoint, that checkpoint, while it lacks its quorum;
 * - the newest checkpoint.
 *
 * The quorum of a checkpoint doesn't count if readers already got a larger checkpoint.
 */
export async function checkpointForReaders(db: Sql, log: LogName, now: Date): Promise<StoredCheckpoint | undefined> {
  return (await choose(db, log, now)).checkpoint;
}

async function choose(db: Sql, log: LogName, now: Date) {
  const seen = await selectPublished(db, log);
  const witnessed = seen && (await selectWitnessed(db, log));
  const isFresh = witnessed && now.getTime() - witnessed.at.getTime() <= quorumWaitMs;
  const chosen = isFresh && witnessed.size >= seen.size ? witnessed.size : seen && sizeInWait(seen, witnessed, now);
  const checkpoint = typeof chosen === "number" ? await selectCheckpoint(db, log, chosen) : undefined;
  return { seen, checkpoint: checkpoint ?? (await selectNewestCheckpoint(db, log)) };
}

/** Chooses the checkpoint for readers as `checkpointForReaders` does, and records its size as seen by readers. */
export async function publishForReaders(db: Sql, log: LogName, now: Date): Promise<StoredCheckpoint | undefined> {
  for (;;) {
    const { seen, checkpoint } = await choose(db, log, now);
    if (!seen || !checkpoint || checkpoint.size <= seen.size) return checkpoint;
    // If the size can't be recorded, as in a read-only database, readers may later get a smaller checkpoint once. That
    // is better than no checkpoint.
    const isRecorded = await raisePublished(db, log, checkpoint.size, now).catch(() => true);
    // If nothing was recorded, another node has published a checkpoint that is at least as large. The loop then chooses
    // again.
    if (isRecorded) return checkpoint;
  }
}

/** The checkpoint for readers as a note with its witnesses' cosignatures; null before the first checkpoint. */
export async function publishedCheckpoint(db: Sql, log: LogName, now: Date): Promise<string | null> {
  const checkpoint = await publishForReaders(db, log, now);
  return checkpoint ? cosignedNote(db, log, checkpoint) : null;
}

/** A checkpoint with the cosignature lines of its witnesses. They are not verified here: the reader must do so. */
async function cosignedNote(db: Sql, log: LogName, { size, note }: StoredCheckpoint): Promise<string> {
  const cosignatures = await selectCosignatures(db, log, size);
  return note + cosignatures.map(({ line }) => line).join("");
}

/** A text for /openapi.json: the events that change the bytes of a line's proof. */
export const logProofChanges =
  "Its bytes change when witnesses cosign the checkpoint, when an hourly root over the line is anchored, when the log ends because its key was compromised, and when the file is retracted. The proof is valid before and after each change.";

export const notLoggedYet = "The transparency log does not have this seal yet. Try again in a few seconds.";

/**
 * The bytes of the proof that `logProof` finds.
 * @throws NotYetError while the log does not include the line
 */
export async function requireLogProof(db: Sql, log: Environment, entry: LogEntry): Promise<Buffer> {
  const line = await logProof(db, log, entry);
  if (line.state !== "logged") throw new NotYetError(notLoggedYet);
  return Buffer.from(line.proof);
}

/**
 * The bytes at the path of a tile, or of a bundle of entries, if the newest checkpoint covers all of them; otherwise
 * null. Readers store a tile forever, so a tile that was damaged in the database must not be sent.
 * @throws Error for a bundle whose entries don't have the tile's hashes, and for a tile that does not lead to the
 * newest checkpoint
 */
export async function publishedTile(db: Sql, log: LogName, path: string): Promise<Buffer | null> {
  const tile = parseTilePath(path);
  if (!tile) return null;
  const newest = await selectNewestCheckpoint(db, log);
  if (!newest || widthAt(tile, newest.size) < tile.width) return null;
  const { level, n, width } = tile;
  const place = { level: level === "entries" ? 0 : level, n };
  const above = { level: place.level + 1, n: Math.floor(n / tileWidth) };
  // A full tile is checked against its root, which is in the tile above it. Any other tile is on the tree's edge, and
  // is checked together with the other tiles of the edge.
  const isFull = widthAt(place, newest.size) === tileWidth;
  const edge = isFull ? [] : edgePlaces(newest.size).filter((one) => nameOf(one) !== nameOf(place));
  const tiles = byPlace(await selectTiles(db, log, [place, ...(isFull ? [above] : edge)]));
  const stored = tiles.get(nameOf(place));
  const bytes = stored ? firstOf(stored, level === "entries", width) : null;
  if (!stored || !bytes) return null;
  const hashes = stored.hashes.subarray(0, width * hashLength);
  const isOfHashes = level !== "entries" || equalBytes(Buffer.concat(parseBundle(bytes).map(leafHash)), hashes);
  const isOfTree = isFull ? isOf(tiles.get(nameOf(above)), n % tileWidth, stored.hashes) : leadsTo(newest, tiles);
  if (!isOfHashes || !isOfTree) throw new Error(`${path} of the ${log} log is damaged in the database`);
  return bytes;
}

/** True if the hash at this place of the tile above is the root of these 256 hashes. */
const isOf = (above: StoredTile | undefined, place: number, hashes: Buffer): boolean =>
  above !== undefined &&
  hashes.length === tileWidth * hashLength &&
  equalBytes(rootOfTile(hashes), hashInTile(above.hashes, place));

/** True if the tiles on the edge of a tree, each with all its hashes, lead to the root of a checkpoint. */
function leadsTo({ size, note }: StoredCheckpoint, tiles: ReadonlyMap<string, StoredTile>): boolean {
  try {
    return equalBytes(hashOfRange(tiles, { start: 0, end: size }), parseCheckpoint(note).root);
  } catch (error) {
    // This LogHalt means only that a hash or a tile is missing, so the tiles don't lead to the root.
    if (error instanceof LogHalt) return false;
    throw error;
  }
}

function firstOf({ hashes, entries }: StoredTile, isBundle: boolean, width: number): Buffer | null {
  if (hashes.length < width * hashLength || (width === tileWidth && hashes.length !== tileWidth * hashLength))
    return null;
  if (!isBundle || entries === null) return isBundle ? null : hashes.subarray(0, width * hashLength);
  let end = 0;
  for (let i = 0; i < width; i++) end += 2 + entries.readUInt16BE(end);
  return entries.subarray(0, end);
}

const lookEveryMs = 100;

type WaitedLine = { db: Sql; log: Environment; entry: LogEntry };

/**
 * Waits until the log includes a line. If the log has witnesses, also waits until a quorum of them has cosigned a
 * checkpoint that covers the line. An anchored checkpoint is enough, too.
 * @returns the state of the line after the wait, also when the time ran out or the caller disconnected
 */
async function waitForState({ db, log, entry }: WaitedLine, { seconds, isGone }: Wait): Promise<LineState> {
  for (let waitedMs = 0; ; waitedMs += lookEveryMs) {
    const { state, witnesses } = await lineState(db, log, entry);
    const isEnough = state !== "queued" && !(state === "logged" && witnesses > 0);
    if (isEnough || waitedMs >= seconds * 1_000 || isGone()) return state;
    await sleep(lookEveryMs);
  }
}

/**
 * The most requests that may wait on a node, for one firm and in total. Each waiting request polls the database ten
 * times a second.
 */
const maxWaiting = { ofFirm: 8, inAll: 32 };

/** How long a request waits, and a function that is true once the caller has disconnected. */
type Wait = { seconds: number; isGone: () => boolean };

/**
 * Waits for the log for as long as the caller asked.
 * @param apply returns the wait that the caller requested, or null; not called when too many requests already wait
 * @returns null when the caller requested no wait, or when too many requests already wait
 */
export type LogWaits = (line: WaitedLine, partnerId: string, apply: () => Wait | null) => Promise<LineState | null>;

/**
 * Limits how many requests wait for the log. A request beyond the limits is answered at once, without
 * `Preference-Applied`.
 */
export function createLogWaits(max = maxWaiting): LogWaits {
  const waiting = new Map<string, number>();
  let inAll = 0;
  return async (line, partnerId, apply) => {
    const ofFirm = waiting.get(partnerId) ?? 0;
    if (ofFirm >= max.ofFirm || inAll >= max.inAll) return null;
    const wait = apply();
    if (!wait) return null;
    waiting.set(partnerId, ofFirm + 1);
    inAll += 1;
    try {
      return await waitForState(line, wait);
    } finally {
      inAll -= 1;
      const left = (waiting.get(partnerId) ?? 1) - 1;
      if (left > 0) waiting.set(partnerId, left);
      else waiting.delete(partnerId);
    }
  };
}

/**
 * The free space for recordings on this node's disk. Sessions end before the disk is full, so that the recorded parts
 * can still be moved to the store, and the database on the same disk can still write.
 */
import { statfs } from "node:fs/promises";
import type { Clock } from "../../../kernel/platform/clock.ts";
import { dayMs } from "../../../kernel/platform/clock.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { sessionsIn, spoolFolders } from "./folders.ts";

/** The maximum of bytes that the media engine records of one person in an hour. */
const bytesInHour = 270_000_000;
/** A new session begins only if the disk has space to record it and all open sessions for this many hours. */
const hoursAhead = 2;
/** Sessions end when the free space is below this share of `minBytes`. */
const stopShare = 0.1;
const megabyte = 1_000_000;

export type RecordingDisk = {
  freeBytes: () => Promise<number>;
  /** The sessions that have a folder on this disk, including those of other nodes with the same data folder. */
  sessions: () => Promise<string[]>;
  /** The least free space that a new session requires: RECORDINGS_FREE_MB. Many recorded people require more. */
  minBytes: number;
};

/** The time within which the disk must answer. A network file system whose server has failed never answers. */
const answerMs = 2_000;

/**
 * Returns the functions that measure the disk for recordings.
 * @param read reads the free space; tests replace it
 */
export function recordingDisk(
  folder: string,
  minBytes: number,
  read: (folder: string) => Promise<{ bavail: number; bsize: number }> = statfs,
): RecordingDisk {
  return {
    minBytes,
    freeBytes: shared(async () => {
      const { bavail, bsize } = await read(folder);
      return bavail * bsize;
    }),
    sessions: shared(async () => (await Promise.all((await spoolFolders(folder)).map(sessionsIn))).flat()),
  };
}

/**
 * Makes concurrent calls share one read. Each read that hangs blocks a thread, and all file work of this process has
 * only a few threads.
 * @returns a function that throws Error when the disk does not answer in time
 */
function shared<T>(read: () => Promise<T>): () => Promise<T> {
  let reading: Promise<T> | null = null;
  return () => {
    reading ??= read().finally(() => {
      reading = null;
    });
    return inTime(reading);
  };
}

async function inTime<T>(answer: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("the disk of recordings does not answer")), answerMs);
  return Promise.race([answer, promise]).finally(() => clearTimeout(timer));
}

/**
 * How much space for recordings the disk has. `low`: no new session begins, and people in open sessions are warned.
 * `full`: open sessions end.
 */
export type DiskRoom = {
  state: "enough" | "low" | "full";
  freeBytes: number;
  neededBytes: number;
  /** The number of minutes for which the disk has room to record the open sessions. */
  minutesLeft: number;
};

/**
 * Tells if the disk has space for recordings, and for how long.
 * @param people how many people are in all sessions that record to this disk
 */
export async function roomOnDisk({ freeBytes, minBytes }: RecordingDisk, people: number): Promise<DiskRoom> {
  const free = await freeBytes();
  const perHour = people * bytesInHour;
  const neededBytes = Math.max(minBytes, hoursAhead * perHour);
  const usable = Math.max(0, free - stopShare * minBytes);
  const state = usable === 0 ? "full" : free < neededBytes ? "low" : "enough";
  return { state, freeBytes: free, neededBytes, minutesLeft: Math.floor((60 * usable) / Math.max(1, perHour)) };
}

export const gigabytes = (bytes: number): string => `${(bytes / 1_000_000_000).toFixed(1)} GB`;

/**
 * `stored`: the bytes of all recordings that are not deleted. `lastWeek`: the bytes that were stored in the last week,
 * whether deleted or not.
 */
export async function recordedBytes(db: Sql, now: Date): Promise<{ stored: number; lastWeek: number }> {
  const since = new Date(now.getTime() - 7 * dayMs);
  const [row] = await db.query<{ stored: number; lastWeek: number }>(sql`
    SELECT coalesce(sum(p.bytes) FILTER (WHERE r.deleted_at IS NULL), 0)::bigint AS stored,
      coalesce(sum(p.bytes) FILTER (WHERE p.created_at > ${since}), 0)::bigint AS "lastWeek"
    FROM recording_parts p JOIN recordings r ON r.id = p.recording_id`);
  return row ?? { stored: 0, lastWeek: 0 };
}

/**
 * Describes for the operator how much space the recordings use, and for how many days the disk suffices at last week's
 * rate.
 * @returns `isLow` is true if no session by audio and video can begin, or if the disk suffices for less than 14 days
 */
export async function diskReport(
  { db, clock }: { db: Sql; clock: Clock },
  disk: RecordingDisk,
): Promise<{ words: string; isLow: boolean }> {
  const free = await disk.freeBytes();
  const { stored, lastWeek } = await recordedBytes(db, clock());
  const days = lastWeek === 0 ? null : Math.max(0, Math.floor((7 * (free - disk.minBytes)) / lastWeek));
  const lasts =
    days === null
      ? "nothing was recorded in the last 7 days"
      : `at the rate of the last 7 days that lasts ${days} days`;
  const words = `recordings take ${Math.ceil(stored / megabyte)} MB; ${gigabytes(free)} are free, sessions need ${gigabytes(disk.minBytes)}; ${lasts}`;
  return { words, isLow: free < disk.minBytes || (days !== null && days < 14) };
}

/**
 * The room on this node's disk for recordings. Sessions end before the disk is full, so that the parts that are on it
 * can still be stored, and the database goes on.
 */
import { statfs } from "node:fs/promises";
import type { Clock } from "../../../kernel/platform/clock.ts";
import { dayMs } from "../../../kernel/platform/clock.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";

/** Size of a person's recording of an hour, at most, by the budget of the media engine. */
const bytesInHour = 270_000_000;
/** For this long all open sessions must be able to go on before another one begins. */
const hoursAhead = 2;
/** Sessions end when less than this share of the least free space is left. */
const stopShare = 0.1;
const megabyte = 1_000_000;

export type RecordingDisk = {
  freeBytes: () => Promise<number>;
  /** The least free space with which a session begins: RECORDINGS_FREE_MB. */
  leastBytes: number;
};

/** How long the disk may take to answer. A network file system whose server is gone never answers. */
const answerMs = 2_000;

/** @param read a test replaces it */
export function recordingDisk(
  folder: string,
  leastBytes: number,
  read: (folder: string) => Promise<{ bavail: number; bsize: number }> = statfs,
): RecordingDisk {
  // Calls share one read: each that hangs occupies one of the few threads that do all of this process's file work.
  let reading: Promise<number> | null = null;
  return {
    leastBytes,
    freeBytes() {
      reading ??= read(folder)
        .then(({ bavail, bsize }) => bavail * bsize)
        .finally(() => {
          reading = null;
        });
      return inTime(reading);
    },
  };
}

/** @throws Error when the disk does not answer in time */
async function inTime(answer: Promise<number>): Promise<number> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("the disk of recordings does not answer")), answerMs);
  return Promise.race([answer, promise]).finally(() => clearTimeout(timer));
}

/** `low`: no session begins, and open ones are warned. `full`: open sessions end. */
export type DiskRoom = {
  state: "enough" | "low" | "full";
  freeBytes: number;
  neededBytes: number;
  /** For how many minutes the open sessions can go on. */
  minutesLeft: number;
};

/** @param people the people of all sessions that record to this disk */
export async function roomOnDisk({ freeBytes, leastBytes }: RecordingDisk, people: number): Promise<DiskRoom> {
  const free = await freeBytes();
  const perHour = people * bytesInHour;
  const neededBytes = Math.max(leastBytes, hoursAhead * perHour);
  const usable = Math.max(0, free - stopShare * leastBytes);
  const state = usable === 0 ? "full" : free < neededBytes ? "low" : "enough";
  return { state, freeBytes: free, neededBytes, minutesLeft: Math.floor((60 * usable) / Math.max(1, perHour)) };
}

/** The disk, and the sessions that record to it. */
type Recorded = { disk: RecordingDisk; rooms: { recordedPeople: () => number } };

/**
 * Why the disk has no room for a session with these people in addition to the open ones; null when it has.
 * @param people the people of the session, without the notary
 */
export async function roomlessDisk({ disk, rooms }: Recorded, people: number): Promise<string | null> {
  const { state, freeBytes, neededBytes } = await roomOnDisk(disk, rooms.recordedPeople() + people + 1);
  if (state === "enough") return null;
  return `The disk of this service has too little room for another recording: ${gigabytes(freeBytes)} are free, and ${gigabytes(neededBytes)} are needed. Tell the operator of this service.`;
}

/** @throws ServiceError `unavailable` when the disk has no room for another session */
export async function requireDisk(recorded: Recorded, people: number): Promise<void> {
  const obstacle = await roomlessDisk(recorded, people);
  if (obstacle !== null) throw new ServiceError("unavailable", obstacle);
}

const gigabytes = (bytes: number): string => `${(bytes / 1_000_000_000).toFixed(1)} GB`;

/** The bytes of all recordings that are stored, and the bytes of the last week. */
export async function recordedBytes(db: Sql, now: Date): Promise<{ stored: number; lastWeek: number }> {
  const since = new Date(now.getTime() - 7 * dayMs);
  const [row] = await db.query<{ stored: number; lastWeek: number }>(sql`
    SELECT coalesce(sum(p.bytes) FILTER (WHERE r.deleted_at IS NULL), 0)::bigint AS stored,
      coalesce(sum(p.bytes) FILTER (WHERE p.created_at > ${since}), 0)::bigint AS "lastWeek"
    FROM recording_parts p JOIN recordings r ON r.id = p.recording_id`);
  return row ?? { stored: 0, lastWeek: 0 };
}

/**
 * For the operator: what recordings take, and for how many days the disk lasts at the rate of the last week.
 * @returns `isLow`: sessions by audio and video don't begin, or soon won't
 */
export async function diskReport(
  { db, clock }: { db: Sql; clock: Clock },
  disk: RecordingDisk,
): Promise<{ words: string; isLow: boolean }> {
  const free = await disk.freeBytes();
  const { stored, lastWeek } = await recordedBytes(db, clock());
  const days = lastWeek === 0 ? null : Math.max(0, Math.floor((7 * (free - disk.leastBytes)) / lastWeek));
  const lasts =
    days === null
      ? "nothing was recorded in the last 7 days"
      : `at the rate of the last 7 days that lasts ${days} days`;
  const words = `recordings take ${Math.ceil(stored / megabyte)} MB; ${gigabytes(free)} are free, sessions need ${gigabytes(disk.leastBytes)}; ${lasts}`;
  return { words, isLow: free < disk.leastBytes || (days !== null && days < 14) };
}

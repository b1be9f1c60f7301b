/** Checks that this node's disk has space to record another session. */
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { gigabytes, type RecordingDisk, roomOnDisk } from "../recordings/disk.ts";
import type { LiveRooms } from "./rooms.ts";

type DiskDeps = {
  disk: RecordingDisk;
  rooms: Pick<LiveRooms, "rooms">;
  sheets: { desk: { db: Sql } };
};

/**
 * The number of people in all sessions that record to this node's disk. Nodes with the same data folder share the disk,
 * so sessions that they record are included.
 */
export async function peopleOnDisk({ disk, rooms, sheets: { desk } }: DiskDeps): Promise<number> {
  const own = rooms.rooms().map(({ session }) => session);
  const others = await disk.sessions();
  // Includes people in the waiting room, because they will be recorded. Observers are not recorded, so they don't
  // count. Only a valid lease shows that another node records to a session's folder, because folders of ended sessions
  // may still exist.
  const [row] = await desk.db.query<{ people: number }>(sql`
    SELECT (count(DISTINCT l.id) + count(p.id))::int AS people FROM live_sessions l
      LEFT JOIN live_people p ON p.session_id = l.id AND p.role <> 'observer'
    WHERE l.state IN ('live', 'held', 'signed') AND (l.id::text = ANY (${own}::text[])
      OR (l.id::text = ANY (${others}::text[]) AND l.node IS NOT NULL AND l.lease_until > clock_timestamp()))`);
  return row?.people ?? 0;
}

/** The number of a session's people who are recorded: all but observers. */
export const recordedAmong = (people: readonly { role: string }[]): number =>
  people.filter(({ role }) => role !== "observer").length;

/**
 * The reason why the disk has no space for a session with these people in addition to the open ones; null when it has.
 * @param people the recorded people of the session, without the notary
 */
export async function roomlessDisk(deps: DiskDeps, people: number): Promise<string | null> {
  const { state, freeBytes, neededBytes } = await roomOnDisk(deps.disk, (await peopleOnDisk(deps)) + people + 1);
  if (state === "enough") return null;
  return `The disk of this service has too little room for another recording: ${gigabytes(freeBytes)} are free, and ${gigabytes(neededBytes)} are needed. Tell the operator of this service.`;
}

/**
 * Requires that the disk has space for a session with these people.
 * @throws ServiceError `unavailable` when it does not; Error when the disk does not answer
 */
export async function requireDisk(deps: DiskDeps, people: number): Promise<void> {
  const obstacle = await roomlessDisk(deps, people);
  if (obstacle !== null) throw new ServiceError("unavailable", obstacle);
}

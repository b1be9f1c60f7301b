/**
 * Handles live sessions that can't be recorded: warns people when the disk is nearly full, and ends the session when
 * the disk is full or the recording fails.
 */
import { roomOnDisk } from "../recordings/disk.ts";
import { endWithoutAct } from "../sheets/room.ts";
import { outcomeOf } from "../sheets/store.ts";
import { peopleOnDisk } from "./disk-room.ts";
import { atSession } from "./end.ts";
import type { Room } from "./rooms.ts";
import type { LiveDeps } from "./session.ts";
import { appendEvent, isUnrecorded, type LiveSession, unrecorded } from "./store.ts";

/** Why the recording of a session ended. `disk_full`: the disk has no more room. `failed`: anything else. */
type Cause = "disk_full" | "failed";

/**
 * After this many consecutive failures, which take about a minute, the service no longer tries to continue a session.
 */
const maxFailedResumes = 60;

/**
 * The reason why the recording of a room has to end now; null when it continues. When the disk is nearly full, warns
 * the people in the room, and records the warning.
 */
export async function recordingEnd(deps: LiveDeps, room: Room, session: LiveSession): Promise<Cause | null> {
  if (room.broken === "engine" && room.failedResumes < maxFailedResumes) return diskEnd(deps, room, session);
  if (room.broken !== null) return /ENOSPC|EDQUOT/.test(room.broken) ? "disk_full" : "failed";
  return diskEnd(deps, room, session);
}

async function diskEnd(deps: LiveDeps, room: Room, session: LiveSession): Promise<Cause | null> {
  const { desk } = deps.sheets;
  const disk = await peopleOnDisk(deps)
    .then((people) => roomOnDisk(deps.disk, people))
    .catch((error: Error) => {
      // The session continues although the free space is unknown. If the disk has failed, the recorder fails as well
      // and ends the session.
      desk.log.error({ err: error, session: room.session }, "the room on the disk of recordings is unknown");
      return null;
    });
  if (disk === null) return null;
  const { state, minutesLeft } = disk;
  if (state === "full") return "disk_full";
  const left = state === "low" ? minutesLeft : null;
  if (left === room.minutesLeft) return null;
  if (left !== null && room.minutesLeft === null)
    await atSession(deps, session, (tx, now, at) =>
      appendEvent(tx, desk.rowMac, now, { at, name: "disk_low", by: "system", person: null, detail: { minutesLeft } }),
    );
  room.minutesLeft = left;
  deps.rooms.tell(room.session, { kind: "changed" });
  return null;
}

/**
 * Ends the act of a session that can't be recorded any longer, and notifies the firm of the interruption. The recording
 * up to this point is stored.
 */
export async function endUnrecorded(deps: LiveDeps, seen: LiveSession, cause: Cause): Promise<void> {
  const { rowMac, log } = deps.sheets.desk;
  await atSession(deps, seen, async (tx, session, at) => {
    // The notary may have signed since the session was read. Then the session is recorded completely, so its act is not
    // ended here.
    if (session.state === "signed" || (await outcomeOf(tx, session.sheetId)) !== null) return;
    log.error({ session: seen.id, cause }, "a live session ends, because it can't be recorded any longer");
    await appendEvent(tx, rowMac, session, { at, name: unrecorded, by: "system", person: null, detail: { cause } });
    await deps.recordings.tellInterrupted(tx, session.id, at, cause);
    await endWithoutAct(tx, rowMac, session, "technical", { by: "system", at });
  });
}

/** True if a session ended because it could not be recorded any longer. */
export const wasUnrecorded = ({ sheets: { desk } }: Pick<LiveDeps, "sheets">, session: LiveSession) =>
  isUnrecorded(desk, session);

/**
 * Opens sessions again at this node: after a crash of the media engine, or after the end of the service process that
 * had the sessions.
 */
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { endSignersTurn, roomEnvelopeOf } from "../../envelopes/envelopes.ts";
import { atSession } from "./end.ts";
import { openSignature } from "./hold.ts";
import { isHere, letGo } from "./holding.ts";
import { notaryName, personName, phaseOf } from "./interruption.ts";
import { leaseOf, msSinceLeft, notHere, requireLease } from "./lease.ts";
import type { Room } from "./rooms.ts";
import type { LiveDeps } from "./session.ts";
import { appendEvent, findLive, type LiveSession, livePeople, updateLive } from "./store.ts";

/**
 * Continues the session in a restarted engine. After a failure, the room stays marked as broken, and the failure is
 * counted.
 */
export async function resume(deps: LiveDeps, room: Room): Promise<void> {
  // Resets `broken` before opening the session. If the engine crashes again meanwhile, `broken` is set again and stays
  // set.
  room.broken = null;
  room.recorded.clear();
  try {
    await record(deps, room);
  } catch (error) {
    room.broken ??= "engine";
    room.failedResumes++;
    const about = { err: error, session: room.session, failures: room.failedResumes };
    deps.sheets.desk.log.error(about, "a live session could not be continued; the service will try again");
    return;
  }
  room.failedResumes = 0;
  deps.rooms.tell(room.session, { kind: "media" });
}

/**
 * Opens the session of a room in the media engine again.
 * @throws ServiceError when this node no longer has the session
 */
async function record(deps: LiveDeps, room: Room): Promise<void> {
  const { rooms, recordings } = deps;
  await recordings.resume(room.session, (tx) => requireLease(deps, room.session, tx));
  if (isHere(deps, room)) return;
  rooms.leaving.add(room.session);
  throw notHere();
}

/**
 * Takes over a session that was live when its service process ended. The session is on hold. Everybody counts as absent
 * since the end of that process.
 * @throws ServiceError `unavailable` while another node has the session, and while this node still closes its earlier
 * part of the session
 */
export async function reopen(deps: LiveDeps, { id }: LiveSession): Promise<void> {
  if (!deps.rooms.roomOf(id)) await deps.rooms.openOnce(id, () => openHere(deps, id));
}

async function openHere(deps: LiveDeps, id: string): Promise<void> {
  const { rooms, sheets } = deps;
  const session = await findLive(sheets.desk.db, id);
  if ((session?.state !== "live" && session?.state !== "held") || rooms.roomOf(id)) return;
  const msAgo = await msSinceLeft(sheets.desk.db, id);
  const goneAt = msAgo === null ? session.openedAt.getTime() : sheets.desk.clock().getTime() - msAgo;
  if (rooms.leaving.has(id))
    throw new ServiceError(
      "unavailable",
      "This server is still ending its earlier part of the session. Try again in some seconds.",
    );
  const lease = await leaseOf(deps, id);
  // Observers send no media: they reconnect by themselves, and the session doesn't wait for them.
  const people = (await livePeople(sheets.desk.db, session.id)).filter(
    ({ admittedAt, role }) => admittedAt !== null && role !== "observer",
  );
  const names = [notaryName, ...people.map(({ n }) => personName(n))];
  const room = rooms.add(session.id, session.orderId, session.liveAt ?? session.openedAt, names, lease);
  const silentMs = Math.max(0, sheets.desk.clock().getTime() - goneAt);
  for (const presence of room.people.values())
    Object.assign(presence, { lastAt: goneAt, goneAt, phase: phaseOf(silentMs) });
  try {
    await atSession(deps, session, (tx, now, at) => holdReopened(deps, tx, now, silentMs, at));
    if (!isHere(deps, room)) throw notHere();
    await record(deps, room);
  } catch (error) {
    letGo(deps, room);
    throw error;
  }
}

async function holdReopened(deps: LiveDeps, tx: Tx, session: LiveSession, silentMs: number, at: Date): Promise<void> {
  if (session.state !== "live" && session.state !== "held") return;
  const event = { at, name: "reopened", by: "system", person: null, detail: { silentMs } };
  await appendEvent(tx, deps.sheets.desk.rowMac, session, event);
  await updateLive(tx, session.id, sql`state = 'held'`);
  await openSignature(tx, deps, session, false, at);
  const envelope = await roomEnvelopeOf(tx, session.orderId);
  if (envelope) await endSignersTurn(tx, envelope.id, at);
}

/** How this node holds sessions: it renews their leases, and lets them go when it may not have them any more. */
import { extendTurn, roomEnvelopeOf } from "../../envelopes/envelopes.ts";
import { addressOf, leasesOf, leftOf, renewLease, renewMs } from "./lease.ts";
import type { Room } from "./rooms.ts";
import type { LiveDeps } from "./session.ts";

/** Renews the lease of a room when it is due. */
export async function renew(deps: LiveDeps, room: Room): Promise<void> {
  if (room.lease.until - deps.sheets.desk.clock().getTime() >= renewMs) return;
  const lease = await renewLease(deps, room.session);
  if (lease === null) return letGo(deps, room);
  room.lease = lease;
  if (room.turn !== null) await keepTurn(deps, room);
}

/** The database may have answered so late that this node has let the session go meanwhile, and opened it again. */
export const isHere = ({ rooms }: LiveDeps, room: Room): boolean => rooms.roomOf(room.session) === room;

/**
 * Stops the media and the recording of a session on this node, because another node has the session or has ended it.
 */
export function letGo(deps: LiveDeps, room: Room): void {
  if (!isHere(deps, room)) return;
  deps.rooms.remove(room.session);
  deps.rooms.leaving.add(room.session);
}

/**
 * Stops taking part in a session whose lease this node could not renew in time, so that no two nodes record it at once.
 * The database may not answer now, so nothing is written. The node that opens the session next finds how long people
 * were away.
 */
export function fence(deps: LiveDeps, room: Room): void {
  const { rooms, sheets } = deps;
  const why = "the lease on a live session could not be renewed in time: its media and recording end at this node";
  sheets.desk.log.error({ session: room.session }, why);
  letGo(deps, room);
  rooms.endStreams(room.session);
}

/** Closes the recording at this node. It is tried again until all parts are stored. */
export async function leave({ rooms, recordings }: LiveDeps, session: string): Promise<void> {
  await recordings.leave(session);
  rooms.leaving.delete(session);
}

/**
 * Extends a signer's turn to the end of the lease. If the service is killed, both the turn and the lease end at that
 * time.
 */
async function keepTurn({ sheets: { desk } }: LiveDeps, { orderId, lease }: Room): Promise<void> {
  await desk.db.transaction(async (tx) => {
    const envelope = await roomEnvelopeOf(tx, orderId);
    if (envelope) await extendTurn(tx, envelope.id, new Date(lease.until));
  });
}

/**
 * Keeps the pages of sessions at the node that has their session. Ends event streams and passed answers of a session that
 * another node has now: the pages then connect again, and reach that node. Renews this node's leases on sessions that
 * have not begun.
 */
export async function followLeases(deps: LiveDeps): Promise<void> {
  const { own, rooms, sheets } = deps;
  const ids = rooms.sessionsOfPages();
  if (ids.length === 0) return;
  const leases = await leasesOf(sheets.desk.db, ids);
  for (const lease of leases) {
    const left = leftOf(lease, sheets.desk.clock());
    const holder = left > 0 ? lease.node : null;
    rooms.endPassed(lease.id, holder);
    if (holder !== null && holder !== own.id && addressOf(own, lease)) rooms.endStreams(lease.id);
    else if (lease.state === "open" && own.url !== null && left < renewMs && rooms.isHeard(lease.id))
      await renewLease(deps, lease.id);
  }
}

/** This node's leases on sessions: it renews them, and closes a session whose lease has expired. */

import { setTimeout as sleep } from "node:timers/promises";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { stopwatch } from "../../../kernel/platform/stopwatch.ts";
import { backoffMs } from "../../../kernel/platform/work/backoff.ts";
import { endSignersTurn, extendTurn, roomEnvelopeOf, setSignature } from "../../envelopes/envelopes.ts";
import {
  addressOf,
  leasesOf,
  msLeft,
  msToTurnEnd,
  notHere,
  releaseLeases,
  renewLease,
  renewMs,
  requireHere,
  turnEndOf,
} from "./lease.ts";
import type { Room } from "./rooms.ts";
import type { LiveDeps } from "./session.ts";

/** Renews the lease of a room when it is due. */
export async function renew(deps: LiveDeps, room: Room): Promise<void> {
  if (msLeft(room.lease) >= renewMs) return;
  const lease = await renewLease(deps, room.session);
  // The room may have been closed while the database was slow to answer. Then the media have stopped, so the turn must
  // not be extended.
  if (!isHere(deps, room)) return;
  if (lease === null) return letGo(deps, room);
  deps.rooms.setLease(room, lease);
  if (room.turn !== null) await keepTurn(deps, room);
}

/**
 * True if this object is still the session's room at this node. If the database was slow to answer, this node may have
 * closed the room meanwhile, or opened a new one.
 */
export const isHere = ({ rooms }: LiveDeps, room: Room): boolean => rooms.roomOf(room.session) === room;

/**
 * Removes the session's room at this node, so that requests no longer use it, and marks the session as leaving. The
 * media and the recording are closed later, by `leave`.
 */
export function letGo(deps: LiveDeps, room: Room): void {
  if (!isHere(deps, room)) return;
  deps.rooms.remove(room.session);
  deps.rooms.leaving.add(room.session);
}

/**
 * Leaves a session whose lease this node did not renew in time. Otherwise two nodes could record it at once. Writes
 * nothing, because the database may be down. The next node computes how long people were away.
 */
export function fence(deps: LiveDeps, room: Room): void {
  const { rooms, sheets } = deps;
  const why = "the lease on a live session could not be renewed in time: its media and recording end at this node";
  sheets.desk.log.error({ session: room.session }, why);
  letGo(deps, room);
  rooms.endStreams(room.session);
}

/** Closes the recording at this node. On a failure `watch.ts` retries until all parts are stored. */
export async function leave({ rooms, recordings }: LiveDeps, session: string): Promise<void> {
  await recordings.leave(session);
  rooms.leaving.delete(session);
}

/** Extends a signer's turn to `turnEndOf` the lease. Without another renewal, the turn ends before the media stop. */
export async function keepTurn({ sheets: { desk } }: LiveDeps, { orderId, lease }: Room): Promise<void> {
  await desk.db.transaction(async (tx) => {
    const envelope = await roomEnvelopeOf(tx, orderId);
    if (envelope) await extendTurn(tx, envelope.id, turnEndOf(lease));
  });
}

/**
 * Requires that this node records the session. The row alone does not prove that: after a crash it says "live" until a
 * page opens the session again.
 * @throws ServiceError `unavailable` when this node does not record the session
 */
export async function requireRecorded(deps: LiveDeps, id: string, tx: Tx): Promise<void> {
  await requireHere(deps, id, tx);
  const room = deps.rooms.roomOf(id);
  if (!room || room.broken !== null) throw notHere();
}

/** Functions that wait until `watch.ts` has no unfinished work: for one session, or for all of them. */
type Settled = { ofSession: (session: string) => Promise<void>; ofAll: () => Promise<void> };

/**
 * Releases all sessions at this node before the node stops, so that other nodes can continue them at once. Slow work on
 * one session delays only sessions that have not begun.
 *
 * A lease is released only after the session's last part is stored. Once another node has continued the recording, the
 * part could not be stored.
 * @param late aborts when the release takes too long. Leases that are not released by then expire
 */
export async function handOver(deps: LiveDeps, late: AbortSignal, settled: Settled): Promise<void> {
  const { rooms, own, sheets } = deps;
  const { db, log } = sheets.desk;
  const handedOver = new Set<string>();
  const why = "a live session could not be handed over: another node waits for its lease to end";
  const handOne = async (session: string, work: () => Promise<void>) => {
    if (handedOver.has(session)) return;
    handedOver.add(session);
    await work().catch((error: Error) => log.error({ err: error, session }, why));
  };
  const handAll = () =>
    Promise.all([
      // Doesn't release the leases of sessions that this node is already leaving. Such a lease expires by itself, and
      // its end shows when people were disconnected.
      ...[...rooms.leaving].map((session) => handOne(session, () => leave(deps, session))),
      ...rooms.rooms().map((room) => handOne(room.session, () => handRoom(deps, room, late, settled))),
    ]);
  await Promise.all([handAll(), rooms.opened().then(handAll)]);
  await settled.ofAll();
  await releaseLeases(db, own.id, 0, sql`NOT (id = ANY(${[...handedOver]}))`).catch((error: Error) =>
    log.error({ err: error }, "the leases on sessions that have not begun could not be released"),
  );
}

async function handRoom(deps: LiveDeps, room: Room, late: AbortSignal, settled: Settled): Promise<void> {
  const { own, rooms, sheets } = deps;
  const { session } = room;
  await settled.ofSession(session);
  await endTurn(deps, room);
  if (!isHere(deps, room)) return leave(deps, session);
  const msAgo = stopwatch();
  letGo(deps, room);
  await leaveUnderLease(deps, session, late);
  // Waits for a renewal that the database may still be executing. After the release, that renewal would acquire the
  // lease again.
  await settled.ofSession(session);
  await releaseLeases(sheets.desk.db, own.id, msAgo(), sql`id = ${session}`);
  rooms.endStreams(session);
}

/**
 * Ends the open turn. If the database fails, waits until the turn expires, because no signature may be accepted after
 * the media have stopped.
 */
async function endTurn({ sheets: { desk } }: LiveDeps, room: Room): Promise<void> {
  const { orderId, turn, lease, session } = room;
  // From here on, renewals of the lease no longer extend the turn.
  room.turn = null;
  try {
    await desk.db.transaction(async (tx) => {
      const envelope = await roomEnvelopeOf(tx, orderId);
      if (!envelope) return;
      // Locks the envelope, so a concurrent signature finishes while the session is still recorded.
      await setSignature(tx, envelope.id, false);
      await endSignersTurn(tx, envelope.id, desk.clock());
    });
  } catch (error) {
    desk.log.error({ err: error, session }, "a signer's turn could not be ended");
    if (turn !== null) await sleep(msToTurnEnd(lease));
  }
}

const renewEveryMs = 2_000;
const maxLeaveAgainMs = 5_000;

/**
 * Leaves a session while its lease is still renewed. Otherwise another node could continue the recording before the
 * last part is stored.
 */
async function leaveUnderLease(deps: LiveDeps, session: string, late: AbortSignal): Promise<void> {
  const left = leaveUntil(deps, session, late).then(() => true);
  left.catch(() => {});
  while (!(await Promise.race([left, sleep(renewEveryMs, false, { ref: false })]))) {
    if (late.aborted) throw new Error("the rest of the recording could not be stored in time");
    await renewLease(deps, session).catch(() => null);
  }
}

/** Leaves a session, and retries after each failure until `late` aborts. */
async function leaveUntil(deps: LiveDeps, session: string, late: AbortSignal): Promise<void> {
  for (let failures = 1; ; failures++) {
    try {
      return await leave(deps, session);
    } catch (error) {
      if (late.aborted) throw error;
      const why = "the rest of a recording was not stored; the service will try again";
      deps.sheets.desk.log.warn({ err: error, session }, why);
      await sleep(backoffMs(failures, maxLeaveAgainMs), undefined, { ref: false });
    }
  }
}

/**
 * Ends answers that this node relays from a node that no longer holds the session's lease. If another node holds the
 * lease now, also closes the event streams of the session's pages. The pages then reconnect, and reach that node.
 *
 * Renews this node's leases on sessions that have not begun.
 */
export async function followLeases(deps: LiveDeps): Promise<void> {
  const { own, rooms, sheets } = deps;
  const ids = rooms.sessionsOfPages();
  if (ids.length === 0) return;
  const leases = await leasesOf(sheets.desk.db, ids);
  for (const lease of leases) {
    const { left } = lease;
    const holder = left > 0 ? lease.node : null;
    rooms.endPassed(lease.id, holder);
    if (holder !== null && holder !== own.id && addressOf(own, lease)) rooms.endStreams(lease.id);
    else if (lease.state === "open" && own.url !== null && left < renewMs && rooms.isHeard(lease.id))
      await renewLease(deps, lease.id);
  }
}

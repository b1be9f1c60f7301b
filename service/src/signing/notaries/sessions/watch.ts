/**
 * Watches live sessions once a second: notices people who leave and return, signers who have finished, and acts that
 * have ended.
 */
import { once } from "node:events";
import { minuteMs } from "../../../kernel/platform/clock.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { endSignersTurn, roomEnvelopeOf } from "../../envelopes/envelopes.ts";
import { findNotary } from "../commissions/store.ts";
import { checksVersion } from "../identity/store.ts";
import { markSignersSteps } from "../sheets/room.ts";
import { lockOpenSheet } from "../sheets/sheet.ts";
import { openTurn } from "../sheets/steps.ts";
import { findSheet, outcomeOf } from "../sheets/store.ts";
import { atSession, endTechnical, finish } from "./end.ts";
import { beginAgain, holdUnrecorded, openSignature } from "./hold.ts";
import { fence, followLeases, handOver, isHere, leave, letGo, renew } from "./holding.ts";
import { arrived, isBroken, moveName, type Phase, personName, phaseOf, restartAfter } from "./interruption.ts";
import { leaseOf } from "./lease.ts";
import { resume } from "./reopen.ts";
import type { Room } from "./rooms.ts";
import type { LiveDeps } from "./session.ts";
import {
  appendEvent,
  findLive,
  type LiveSession,
  leftSessions,
  livePeople,
  lockLive,
  sessionsToEnd,
  updateLive,
} from "./store.ts";
import { isPartDone } from "./third-persons.ts";
import { endUnrecorded, recordingEnd } from "./unrecorded.ts";

const everyMs = 1_000;
const lookForLeftMs = minuteMs;
/** The time limit for ending the sessions at this node. A service manager kills a process that does not stop. */
const stopMs = 25_000;

/**
 * Starts the watch.
 * @param maxMs the time limit for stopping; tests set a shorter one
 * @returns a function that stops it
 */
export function watchSessions(deps: LiveDeps, maxMs = stopMs): () => Promise<void> {
  const { log } = deps.sheets.desk;
  let lookedAt = 0;
  let isStopping = false;
  const busy = new Map<string, Promise<void>>();
  const each = (id: string, work: () => Promise<void>, failed = "a live session could not be looked at") => {
    if (busy.has(id)) return;
    const done = work()
      .catch((error: Error) => log.error({ err: error, session: id }, failed))
      .finally(() => busy.delete(id));
    busy.set(id, done);
  };
  const leaving = (id: string) =>
    each(`leave ${id}`, () => leave(deps, id), "the rest of a recording was not stored; the service will try again");
  const settled = async (...ids: string[]) => {
    while (ids.some((id) => busy.has(id))) await Promise.all(ids.map((id) => busy.get(id)));
  };
  const { db, clock } = deps.sheets.desk;
  deps.rooms.onLapse = (room) => {
    fence(deps, room);
    leaving(room.session);
  };
  deps.rooms.onBroken = (room) =>
    each(`hold ${room.session}`, () => holdUnrecorded(deps, room), "signatures in a broken session were not blocked");
  const timer = setInterval(() => {
    for (const room of deps.rooms.rooms()) each(`lease ${room.session}`, () => renew(deps, room));
    if (isStopping) return;
    for (const id of deps.rooms.leaving) leaving(id);
    each("pages", () => followLeases(deps));
    each("all sessions", async () => {
      const ended = await sessionsToEnd(db, deps.own.id).catch((error: Error) => {
        log.error({ err: error }, "the sessions whose acts have ended could not be found");
        return [];
      });
      if (isStopping) return;
      for (const { id } of ended) each(id, () => finish(deps, id));
      // Sessions whose act has ended are left out, because a running check would only delay their end.
      const toEnd = new Set(ended.map(({ id }) => id));
      for (const room of deps.rooms.rooms()) if (!toEnd.has(room.session)) each(room.session, () => look(deps, room));
    });
    const now = clock().getTime();
    if (now - lookedAt < lookForLeftMs) return;
    lookedAt = now;
    each("left sessions", async () => {
      for (const { id } of await leftSessions(db, clock())) if (!isStopping) each(id, () => endLeft(deps, id));
    });
  }, everyMs).unref();
  return async () => {
    isStopping = true;
    deps.rooms.stop();
    const late = AbortSignal.timeout(maxMs);
    const why = "the sessions at this node could not be ended in time: other nodes wait for their leases to end";
    const end = handOver(deps, late, {
      ofSession: (session) => settled(session, `lease ${session}`),
      ofAll: () => settled(...busy.keys()),
    });
    const isLate = await Promise.race([end.then(() => false), once(late, "abort").then(() => true)]);
    // Stops the timer only now, because until here the timer renewed the leases of sessions with unfinished work.
    clearInterval(timer);
    if (isLate) log.error({}, why);
  };
}

/** Checks one session: its recording, the presence of its people, the signer's turn and the identity checks. */
async function look(deps: LiveDeps, room: Room): Promise<void> {
  const { rooms, sheets } = deps;
  const { desk } = sheets;
  const session = await findLive(desk.db, room.session);
  if (!session || session.state === "ended") return letGo(deps, room);
  if ((await outcomeOf(desk.db, session.sheetId)) !== null || !isHere(deps, room)) return;
  const now = desk.clock().getTime();
  if (room.broken === "engine" && session.state !== "signed") await resume(deps, room);
  // `resume` may have closed the room at this node. If `resume` only failed, the checks below still run, because people
  // may be absent or the disk full.
  if (!isHere(deps, room)) return;
  const silences = session.state === "signed" ? new Map<string, number>() : rooms.silences(room);
  // Once the notary has signed, the recording has ended, so nothing about it is checked.
  const cause = session.state === "signed" ? null : await recordingEnd(deps, room, session);
  if (cause !== null) return endUnrecorded(deps, session, cause);
  if (isBroken(silences, now - room.liveAt)) return endTechnical(deps, session);
  if (session.state === "signed") return;
  await judge(deps, room, session, silences);
  await followTurn(deps, room);
  await followChecks(deps, room);
}

/**
 * Refreshes the pages when an identity check has passed, failed or ended, so that the notary sees the result before
 * marking.
 */
async function followChecks(deps: LiveDeps, room: Room): Promise<void> {
  const checks = await checksVersion(deps.sheets.desk.db, room.orderId);
  if (room.checks !== null && room.checks !== checks) deps.rooms.tell(room.session, { kind: "changed" });
  room.checks = checks;
}

type Turned = { person: string; name: string; to: Phase; silentMs: number; isIncomplete: boolean };

/**
 * Records which people arrived, left and returned. Holds the session while somebody is `frozen` or `away`, and restarts
 * the act if the rules of the notary's state require it. A first arrival restarts nothing, because nothing is marked
 * between admission and arrival. The return of a credible witness whose signer is identified restarts nothing either.
 */
async function judge(deps: LiveDeps, room: Room, seen: LiveSession, silences: Map<string, number>): Promise<void> {
  const turned: Turned[] = [];
  for (const [person, presence] of room.people) {
    const to = phaseOf(silences.get(person) ?? 0);
    // A gap in a person's media lasts from the last whole frames before it to the first whole frames after it.
    if (to !== "here" && presence.phase === "here") presence.goneAt = presence.lastAt;
    const silentMs = to === "here" ? presence.lastAt - presence.goneAt : (silences.get(person) ?? 0);
    const { isIncomplete, phase: from } = presence;
    const isFirst = presence.isAwaited && presence.hasJoined && to === "here";
    if (to !== from || isFirst) turned.push({ person, name: moveName(from, to, isFirst), to, silentMs, isIncomplete });
  }
  const observers = [...room.observers].flatMap(([person, observer]) =>
    observer.isHere === observer.isNoted ? [] : [{ person, observer, comes: observer.isHere }],
  );
  const isTogether = [...room.people.values()].every(
    ({ lastAt }) => phaseOf(deps.sheets.desk.clock().getTime() - lastAt) === "here",
  );
  const wanted = isTogether && !seen.isPaused && room.broken === null ? "live" : "held";
  if (turned.length === 0 && observers.length === 0 && seen.state === wanted) return;
  const { desk } = deps.sheets;
  const online = await onlineOf(deps, seen);
  await atSession(deps, seen, async (tx, session, at) => {
    if ((session.state !== "live" && session.state !== "held") || !isHere(deps, room)) return;
    const moved = turned.map(({ person, name, silentMs, isIncomplete }) => {
      const cause = isIncomplete ? { cause: "incomplete frames" } : {};
      return { name, person, detail: name === arrived ? null : { silentMs: Math.round(silentMs), ...cause } };
    });
    const watching = observers.map(({ person, comes }) => ({ name: comes ? arrived : "left", person, detail: null }));
    for (const move of [...moved, ...watching]) {
      const now = (await lockLive(tx, session.id)) ?? session;
      await appendEvent(tx, desk.rowMac, now, { at, by: "system", ...move });
    }
    const state = isTogether && !session.isPaused && room.broken === null ? "live" : "held";
    if (session.state !== state) await updateLive(tx, session.id, sql`state = ${state}`);
    const sheet = await findSheet({ ...desk, db: tx }, session.sheetId);
    const people = await livePeople(tx, session.id);
    const restarts = turned.flatMap(({ person, name, to, silentMs }) =>
      to === "here" && name !== arrived && !(sheet && isPartDone(people, sheet, person))
        ? (restartAfter(silentMs, online) ?? [])
        : [],
    );
    if (restarts.length > 0) {
      const again = restarts.includes("identity")
        ? ({ from: "identity", proofsOf: "all" } as const)
        : { from: "act" as const };
      await beginAgain(deps, tx, session, again, at);
    }
    await openSignature(tx, deps, session, state === "live", at);
    if (restarts.length > 0) room.turn = null;
  });
  for (const { person, to } of turned) {
    const presence = room.people.get(person);
    if (presence) presence.phase = to;
    if (presence && to === "here") Object.assign(presence, { isIncomplete: false, isAwaited: false });
  }
  for (const { observer, comes } of observers) observer.isNoted = comes;
  deps.rooms.tell(seen.id, { kind: "changed" });
}

/** The rules for online notarization in the state of the session's notary. */
export async function onlineOf({ sheets: { desk } }: Pick<LiveDeps, "sheets">, { notaryId }: LiveSession) {
  const notary = await findNotary(desk.db, notaryId);
  return (await desk.readEligibility(desk.db)).rules.of(notary?.state ?? "").online;
}

/**
 * Marks the steps that a signer has performed on the signing pages. Ends the turn when the next step is not this
 * signer's.
 */
async function followTurn(deps: LiveDeps, room: Room): Promise<void> {
  const { desk } = deps.sheets;
  const session = await findLive(desk.db, room.session);
  if (session?.state !== "live") return;
  // Reads the open step from the run sheet, not from the room. If the service stopped after a signer finished a step,
  // the room no longer knows the signer's turn.
  const seen = await findSheet(desk, session.sheetId);
  const open = seen && openTurn(seen);
  if (open?.step.by !== "signer") return;
  const person = room.turn?.person ?? personName(open.signer ?? 0);
  let isOver = false;
  await atSession(deps, session, async (tx, { sheetId, orderId, state }, at) => {
    if (state !== "live" || !isHere(deps, room) || (await outcomeOf(tx, sheetId)) !== null) return;
    const sheet = await lockOpenSheet(tx, desk.rowMac, sheetId);
    const envelope = await roomEnvelopeOf(tx, orderId);
    const marked = await markSignersSteps(tx, desk.rowMac, sheet, envelope, at);
    if (marked.headPosition === sheet.headPosition) return;
    const next = openTurn(marked);
    isOver = next?.step.by !== "signer" || personName(next.signer ?? 0) !== person;
    if (isOver && envelope) await endSignersTurn(tx, envelope.id, at);
  });
  if (isOver) {
    room.turn = null;
    deps.rooms.tell(room.session, { kind: "changed" });
  }
}

/** Ends a session that never began, or whose service process has ended. */
async function endLeft(deps: LiveDeps, id: string): Promise<void> {
  const session = await findLive(deps.sheets.desk.db, id);
  if (!session) return;
  await leaseOf(deps, id);
  await endTechnical(deps, session);
}

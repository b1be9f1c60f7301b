/**
 * The notary's control of a session until it ends: admitting people, pausing the session, and ending it without an act.
 */
import { isDeepStrictEqual } from "node:util";
import type { Operator } from "../../../firms/operators/operators.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { endSignersTurn, roomEnvelopeOf } from "../../envelopes/envelopes.ts";
import { claimedOrder } from "../claims/claims.ts";
import { accepted, formReader, type Typed } from "../form-reader.ts";
import { endWithoutAct } from "../sheets/room.ts";
import { openTurn } from "../sheets/steps.ts";
import { findSheet, type SheetOutcome } from "../sheets/store.ts";
import { beginAgain, openSignature } from "./hold.ts";
import { requireRecorded } from "./holding.ts";
import { notaryName, personName } from "./interruption.ts";
import { requireHere } from "./lease.ts";
import { marksOf } from "./marks.ts";
import { atLive, type LiveDeps, type LockedLive, note } from "./session.ts";
import { eventsOf, type LivePerson, openLiveOf, unbound, updatePerson } from "./store.ts";

const hasSigned = "You have signed, and the recording has ended.";

const personOf = (people: readonly LivePerson[], typed: Typed): LivePerson => {
  const person = people.find(({ n }) => String(n) === typed["person"]);
  if (!person) throw invalid("person must be the number of somebody who is to appear.");
  return person;
};

/**
 * Admits one person.
 * @throws ServiceError `conflict` before the session has begun, once the notary has signed, for a person who was
 * admitted already, and for one who is not in the waiting room
 */
export async function admitPerson(deps: LiveDeps, operator: Operator, code: string, typed: Typed): Promise<void> {
  const admitted = await changeLive(deps, operator, code, async (live) => {
    const person = personOf(live.people, typed);
    if (live.session.state === "open") throw new ServiceError("conflict", "Begin the session first.");
    if (live.session.state === "signed") throw new ServiceError("conflict", hasSigned);
    if (!person.waitingAt || !person.consent?.agreed)
      throw new ServiceError("conflict", `${person.name} is not in the waiting room.`);
    if (person.admittedAt) throw new ServiceError("conflict", `${person.name} was let in already.`);
    await updatePerson(live.tx, person.id, sql`admitted_at = ${live.at}`);
    const who = personName(person.n);
    await note(deps, live, operator.actor, { name: "admitted", person: who });
    return { session: live.session.id, who, role: person.role };
  });
  // Observers send no media, so the session doesn't wait for them.
  if (admitted.role !== "observer") await deps.rooms.expect(admitted.session, admitted.who);
}

/**
 * Releases a person from their browser. That browser is disconnected, and the person may enter in any browser with a
 * new code.
 *
 * Either browser may be a stranger's. If the person was already admitted, the act begins again with the identity
 * checks. A signer must then prove their identity again.
 * @throws ServiceError `conflict` once the notary has signed
 */
export async function releaseBrowser(deps: LiveDeps, operator: Operator, code: string, typed: Typed): Promise<void> {
  const released = await changeLive(deps, operator, code, async (live) => {
    const { tx, session, at } = live;
    const person = personOf(live.people, typed);
    const who = personName(person.n);
    if (session.state === "signed") throw new ServiceError("conflict", hasSigned);
    await updatePerson(tx, person.id, unbound);
    await note(deps, live, operator.actor, { name: "released", person: who });
    if (person.admittedAt !== null) {
      const envelope = await roomEnvelopeOf(tx, session.orderId);
      if (envelope) await endSignersTurn(tx, envelope.id, at);
      const again = { from: "identity", ...(person.role === "signer" && { proofsOf: person.n }) } as const;
      await beginAgain(deps, tx, session, again, at);
    }
    return { session: session.id, who, wasIn: person.admittedAt !== null };
  });
  const room = deps.rooms.roomOf(released.session);
  if (room && released.wasIn) room.turn = null;
  await deps.rooms.disconnect(released.session, released.who);
}

/**
 * Returns a witness or observer to the waiting room, even if that person is disconnected. The act continues without
 * that person. If a credible witness has vouched, the run sheet keeps the marks about it. If the signer must be
 * identified again, the notary can admit the witness again.
 *
 * An interpreter can't be excused, because the signer understands the rest of the act only through the interpreter.
 * @throws ServiceError `conflict` for an interpreter, for somebody who was not admitted, and once the notary has signed
 */
export async function excusePerson(deps: LiveDeps, operator: Operator, code: string, typed: Typed): Promise<void> {
  const excused = await changeLive(deps, operator, code, async (live) => {
    const { session } = live;
    const person = personOf(live.people, typed);
    const who = personName(person.n);
    if (person.role === "signer") throw invalid("person must be the number of a witness or an observer.");
    if (person.role === "interpreter")
      throw new ServiceError(
        "conflict",
        `${person.name} interprets until you have signed. End the session if that is not possible.`,
      );
    if (session.state === "signed") throw new ServiceError("conflict", hasSigned);
    // An earlier request may have excused the person while the person was connecting. Then this second request is not
    // rejected, so that the new connection is closed.
    if (!person.admittedAt && !deps.rooms.hasIn(session.id, who))
      throw new ServiceError("conflict", `${person.name} is not in the session.`);
    await updatePerson(live.tx, person.id, sql`admitted_at = NULL`);
    await note(deps, live, operator.actor, { name: "excused", person: who });
    return { session: session.id, who };
  });
  await deps.rooms.disconnect(excused.session, excused.who);
}

/** Pauses or resumes the session. During a pause nothing can be marked or signed, but the recording continues. */
export async function pauseLive(deps: LiveDeps, operator: Operator, code: string, typed: Typed): Promise<void> {
  const isPaused = typed["hold"] === "yes";
  await changeLive(deps, operator, code, async (live) => {
    const { state } = live.session;
    if (state === "open") throw new ServiceError("conflict", "Begin the session first.");
    if (state === "signed") throw new ServiceError("conflict", hasSigned);
    // Resuming only removes the pause. The session becomes live only when `watch.ts` finds that everybody is present.
    const set = isPaused ? sql`is_paused = true, state = 'held'` : sql`is_paused = false`;
    await note(deps, live, operator.actor, { name: isPaused ? "held" : "resumed" }, set);
    if (isPaused) await openSignature(live.tx, deps, live.session, false, live.at);
  });
}

const endings = ["technical", "no_show", "abandoned"] as const;

/**
 * Ends the session without an act. Within a second, `watch.ts` then closes the recording and the rooms. To refuse the
 * order, the notary uses the order's page.
 */
export async function endLive(deps: LiveDeps, operator: Operator, code: string, typed: Typed): Promise<void> {
  const read = formReader(typed);
  const outcome: SheetOutcome = accepted(read.done(read.requiredOneOf("outcome", endings)));
  await changeLive(deps, operator, code, async ({ tx, at, session }) => {
    await endWithoutAct(tx, deps.sheets.desk.rowMac, session, outcome, { by: operator.actor, at });
  });
}

/** A signed file and its act, each identified by its hash. */
export type SignedAct = { sha256: string; actSha256: string };

/**
 * Ends the recording when the notary has signed while everybody is present. So the journal can name the whole
 * recording. Does nothing without a session.
 *
 * The session's record names the signed file and the act, so that a file that is signed later is rejected.
 * @throws ServiceError `conflict` while a step is open or a person is away, and for a file or act other than those in
 * the session's record
 */
export async function closeForAct(deps: LiveDeps, operator: Operator, code: string, signed: SignedAct): Promise<void> {
  const { desk } = deps.sheets;
  const claimed = await claimedOrder(desk, operator, code);
  const open = await openLiveOf(desk.db, claimed.order.taskId);
  if (!open) return;
  await changeLive(deps, operator, code, async (live) => {
    const { id, state, sheetId } = live.session;
    if (state === "signed") {
      const before = (await eventsOf(live.tx, desk.rowMac, live.session)).findLast(({ name }) => name === "signed");
      if (isDeepStrictEqual(before?.detail, { ...signed })) return;
      throw new ServiceError("conflict", `${hasSigned} It ended with another file or act than this one.`);
    }
    const sheet = await findSheet({ ...desk, db: live.tx }, sheetId);
    const signers = (sheet?.people ?? []).map(({ n }) => personName(n));
    const people = [notaryName, ...signers, ...(deps.rooms.roomOf(id)?.people.keys() ?? [])];
    // The session must be recorded until here. Otherwise the end of the act is not in the recording, and the act must
    // not be entered in the journal.
    await requireRecorded(deps, id, live.tx);
    const isReady = state === "live" && sheet && openTurn(sheet)?.step.name === "notary_signs";
    if (!isReady || deps.rooms.absent(id, people) !== null)
      throw new ServiceError("conflict", "A step is open, or somebody is away: the act can’t be entered now.");
    await note(deps, live, operator.actor, { name: "signed", detail: { ...signed } }, sql`state = 'signed'`);
  });
  await deps.recordings.end(open.id, await marksOf(deps, open));
}

async function changeLive<T>(
  deps: LiveDeps,
  operator: Operator,
  code: string,
  work: (live: LockedLive) => Promise<T>,
): Promise<T> {
  const claimed = await claimedOrder(deps.sheets.desk, operator, code);
  let id = "";
  const result = await atLive(deps, operator, claimed, async (live) => {
    id = live.session.id;
    // Once a session has begun, its media and recording are in one node's engine, so only that node may change the
    // session.
    if (live.session.state !== "open") await requireHere(deps, id, live.tx);
    return work(live);
  });
  deps.rooms.tell(id, { kind: "changed" });
  return result;
}

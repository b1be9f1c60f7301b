/**
 * The run sheet of an act by audio and video (the record of its steps): the conditions of its steps, the notary's
 * steps, and the signers' turns.
 */
import type { Operator } from "../../../firms/operators/operators.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { giveToSigner, type RoomEnvelope } from "../../envelopes/envelopes.ts";
import { type Act, type Principal, principalField, readIdentity } from "../acts/act.ts";
import { factRules } from "../acts/facts.ts";
import { type Claimed, claimedOrder } from "../claims/claims.ts";
import { accepted, type Typed } from "../form-reader.ts";
import { identitiesOf } from "../identity/results.ts";
import { basisWords } from "../presence/device.ts";
import { atSheet, markedIn } from "../presence/ipen.ts";
import type { OnRecord } from "../presence/note.ts";
import { withWitness } from "../presence/vouching.ts";
import { recordingOf } from "../recordings/store.ts";
import { principalOf, unmetIn } from "../sheets/room.ts";
import { markStep, noteEvent } from "../sheets/sheet.ts";
import { nameOf, openTurn, type Person, signsNext, turnWords, type Unmet } from "../sheets/steps.ts";
import { openSheetOf, type Sheet } from "../sheets/store.ts";
import { keepTurn } from "./holding.ts";
import { notaryName, personName } from "./interruption.ts";
import { turnEndOf } from "./lease.ts";
import type { LiveDeps } from "./session.ts";
import { eventsOf, findLive, type LivePerson, type LiveSession, livePeople, openLiveOf } from "./store.ts";
import { presentLines, witnessObstacle } from "./third-persons.ts";

const namesIn = (signers: readonly Person[]) => (person: string) =>
  person === notaryName ? "The notary" : nameOf({ people: signers }, Number(person.split("-")[1]));

/**
 * Checks the conditions of a step of an act by audio and video. The conditions of presence and recording concern the
 * notary and the step's signer. In a step of the whole act, they concern all signers.
 * @param shows the people whose moving picture the notary's page shows, as the page itself reports. If null, the
 * condition `seen` is not checked here
 */
export function unmetLive(
  { rooms }: Pick<LiveDeps, "rooms">,
  { id, state }: Pick<LiveSession, "id" | "state">,
  signers: readonly Person[],
  envelope: RoomEnvelope | undefined,
  shows: readonly string[] | null = null,
): Unmet {
  const named = namesIn(signers);
  return (need, signer) => {
    if (need === "consent") return unmetIn(envelope)(need, signer);
    const seen = (signer === null ? signers.map(({ n }) => n) : [signer]).map(personName);
    if (need === "seen") {
      const unseen = shows && seen.find((person) => !shows.includes(person));
      return unseen ? `Your page shows no moving picture of ${named(unseen)}.` : null;
    }
    const people = [notaryName, ...seen];
    if (need === "recording") {
      const recorded = rooms.roomOf(id)?.recorded;
      const missing = people.find((person) => !recorded?.has(person));
      return missing === undefined ? null : `${named(missing)} is not on the recording yet.`;
    }
    if (need !== "present") return null;
    const absent = rooms.absent(id, people);
    if (absent !== null) return `${named(absent)} is not here now.`;
    return state === "live" ? null : "The session is on hold, or somebody is away.";
  };
}

/**
 * Requires that the session is live.
 * @throws ServiceError `conflict` naming the reason, for example the person who is absent
 */
function requireLive(
  { rooms }: Pick<LiveDeps, "rooms">,
  session: LiveSession | undefined,
  signers: readonly Person[],
): LiveSession {
  if (session?.state === "live") return session;
  throw new ServiceError(
    "conflict",
    session?.state === "held" ? whyHeld(rooms, session, signers) : "The session is not live.",
  );
}

function whyHeld(rooms: LiveDeps["rooms"], { id, isPaused }: LiveSession, signers: readonly Person[]): string {
  if (isPaused) return "You hold the session: press “Go on” first.";
  const away = rooms.absent(id, [...(rooms.roomOf(id)?.people.keys() ?? [])]);
  if (away === null) return "The session is on hold. Try it again in a moment.";
  if (away === notaryName)
    return "The session is on hold: your own camera and sound don’t arrive. Look at your camera and line.";
  const isSigner = signers.some(({ n }) => personName(n) === away);
  return `The session is on hold: camera and sound of ${isSigner ? namesIn(signers)(away) : "a witness or interpreter"} don’t arrive.`;
}

/**
 * Marks a step of the notary.
 * @throws ServiceError `conflict` naming the open step or the unmet condition, `validation` naming every wrong field
 */
export async function markLive(deps: LiveDeps, operator: Operator, code: string, typed: Typed): Promise<void> {
  const { desk } = deps.sheets;
  const claimed = await claimedOrder(desk, operator, code);
  const mark = markedIn(typed);
  const { name, signer } = mark;
  const id = await atSheet(
    deps.sheets,
    operator,
    claimed,
    async (tx, { sheet, room }, { at, order, eligibility }) => {
      const session = requireLive(deps, await openLiveOf(tx, sheet.taskId), sheet.people);
      const turn = openTurn(sheet);
      if (turn?.step.by === "signer" && turn.step.name === name)
        throw new ServiceError(
          "conflict",
          `${turnWords(sheet, turn)} is the signer’s own step: give them the document.`,
        );
      if (turn?.step.name === "notary_signs" && name === "notary_signs")
        throw new ServiceError("conflict", "Your own signature marks this step: note the act, and sign.");
      // The fields of the identity are read only if this identification is the open step. Otherwise `markStep` below
      // throws an error that names the open step.
      const isIdentified = name === "identify" && signer !== null && turn?.step.name === name && turn.signer === signer;
      const detail = isIdentified
        ? await identification(deps, tx, { order, eligibility, session, sheet, signer }, typed)
        : null;
      const unmet = unmetLive(deps, session, sheet.people, room, (typed["shows"] ?? "").split(" "));
      requireAllHere(deps, session);
      await markStep(tx, desk.rowMac, sheet, { ...mark, detail }, { by: operator.actor, at }, unmet);
      return session.id;
    },
    "ron",
  );
  deps.rooms.tell(id, { kind: "changed" });
}

/**
 * Reads how the notary identified a signer. The place is the one that the signer stated, unless the form has another.
 * @throws ServiceError `conflict` when the notary can't identify the signer on this basis now, `validation` naming every
 * wrong field
 */
async function identification(
  deps: LiveDeps,
  tx: Tx,
  { sheet, ...about }: Omit<Identified, "people"> & { sheet: Sheet },
  typed: Typed,
): Promise<Principal> {
  const { session, signer, eligibility } = about;
  const basis = typed[principalField(signer, "basis")] ?? "";
  const people = await livePeople(tx, session.id);
  const obstacle = await basisObstacle(deps, tx, { ...about, people }, basis);
  if (obstacle !== null) throw new ServiceError("conflict", obstacle);
  const withPlace = { ...placeOf(people, signer), ...typed };
  const fields = basis === "credible_witness" ? withWitness(sheet, withPlace, signer) : withPlace;
  const principal = accepted(readIdentity(fields, signer, true, factRules(eligibility.rules)));
  return { ...principal, name: nameOf(sheet, signer) };
}

/** The place where a signer claims to be, as the fields of the form. */
export function placeOf(people: readonly LivePerson[], signer: number): Typed {
  const { city, region, country } = people.find(({ n }) => n === signer)?.consent?.where ?? {};
  const named = Object.entries({ city, region, country }).map(([name, value]) => [principalField(signer, name), value]);
  return Object.fromEntries(named.filter(([, value]) => value !== undefined));
}

/**
 * Requires that everybody is present, and that the session is recorded at this moment. `watch.ts` may notice an absence
 * or an interruption of the recording only a second later.
 */
function requireAllHere({ rooms }: LiveDeps, { id }: LiveSession): void {
  const broken = rooms.roomOf(id)?.broken ?? null;
  if (broken !== null)
    throw new ServiceError("conflict", "The session is not recorded now: nothing is marked or signed.");
  const absent = rooms.absent(id, [notaryName, ...(rooms.roomOf(id)?.people.keys() ?? [])]);
  if (absent !== null) throw new ServiceError("conflict", "Somebody is away now: nothing is marked or signed.");
}

type Identified = Pick<Claimed, "order" | "eligibility"> & {
  session: LiveSession;
  people: readonly LivePerson[];
  signer: number;
};

/**
 * The reason why the notary can't identify a signer on this basis now; null when the notary can. The transaction must
 * have locked the order. So no identity check changes before the mark is written.
 */
async function basisObstacle(
  deps: LiveDeps,
  tx: Tx,
  { order, eligibility, session, people, signer }: Identified,
  basis: string,
): Promise<string | null> {
  if (basis === "personal_knowledge")
    return eligibility.rules.online.personalKnowledge?.value
      ? null
      : "Personal knowledge is not known to count online in your state.";
  if (basis === "credible_witness")
    return witnessObstacle(deps, { eligibility }, { session: session.id, people, signer });
  if (basis !== "credential") return null;
  const found = (await identitiesOf(deps.identity, order, tx)).find(({ person }) => person === signer);
  return found ? found.problem : "This signer is not one of the order.";
}

/**
 * Begins a signer's turn: the signing pages open in the signer's room.
 * @throws ServiceError `conflict` naming the open step if it is not a signer's, or the unmet condition
 */
export async function giveTurn(deps: LiveDeps, operator: Operator, code: string): Promise<void> {
  const { desk } = deps.sheets;
  const claimed = await claimedOrder(desk, operator, code);
  const atTurn = await atSheet(
    deps.sheets,
    operator,
    claimed,
    async (tx, { sheet, room }, { at, notary }) => {
      const session = requireLive(deps, await openLiveOf(tx, sheet.taskId), sheet.people);
      const turn = openTurn(sheet);
      if (turn?.step.by !== "signer" || turn.signer === null || !room)
        throw new ServiceError("conflict", `Another step is open: ${turn ? turnWords(sheet, turn) : "none"}.`);
      const { signer } = turn;
      const unmet = unmetLive(deps, session, sheet.people, room);
      const why = unmet("present", signer) ?? unmet("recording", signer);
      if (why !== null) throw new ServiceError("conflict", why);
      requireAllHere(deps, session);
      const maySign = signsNext(sheet, turn);
      const basis = principalOf(sheet, signer)?.basis;
      const presence =
        `by audio and video before the notary ${notary.commissionName}, ${notary.state}, commission ${notary.commissionNumber}` +
        `, in session ${session.id}${basis ? `, identified by ${basisWords[basis]}` : ""}`;
      const by = operator.actor;
      // The turn ends when this node's lease ends. `watch.ts` extends the lease and the turn while this node records
      // the session.
      const lease = deps.rooms.roomOf(session.id)?.lease;
      const until = lease ? turnEndOf(lease) : at;
      const token = await giveToSigner(tx, desk.rowMac, room.id, {
        n: signer,
        maySign,
        presence,
        actor: by,
        at,
        until,
      });
      await noteEvent(tx, desk.rowMac, sheet, { name: "turn", signer, detail: { maySign } }, { by, at });
      return { session: session.id, person: personName(signer), token, lease };
    },
    "ron",
  );
  const room = deps.rooms.roomOf(atTurn.session);
  if (room) room.turn = { person: atTurn.person, token: atTurn.token };
  // `watch.ts` may have renewed the lease in the meantime, without extending the turn that it did not know yet. So the
  // turn is extended here.
  if (room && room.lease !== atTurn.lease) await keepTurn(deps, room);
  deps.rooms.tell(atTurn.session, { kind: "changed" });
}

/**
 * For the journal: the facts about the notary's session and its recording. Null if the notary has no session for the
 * order, or the session has ended.
 * @throws ServiceError `conflict` before this node records anything of the session, and after the recording has ended
 */
export async function onRecord(deps: LiveDeps, { order, notary }: Claimed): Promise<OnRecord | null> {
  const { desk } = deps.sheets;
  const session = await openLiveOf(desk.db, order.taskId);
  const sheet = await openSheetOf(desk, order.taskId);
  if (session?.notaryId !== notary.id || sheet?.id !== session.sheetId) return null;
  const head = deps.rooms.headOf(session.id);
  const recording = await recordingOf(desk.db, session.id);
  if (!head || !recording) {
    if (session.state === "signed") throw new ServiceError("conflict", "You have signed, and the recording has ended.");
    // After another node took the session over, its first chunk may not be stored yet.
    throw new ServiceError("conflict", "The recording is only just starting. Try it again in a moment.");
  }
  const { seq, headSha256, at } = head;
  return {
    present: presentLines(await livePeople(desk.db, session.id), await eventsOf(desk.db, desk.rowMac, session), sheet),
    session: { tool: deps.tool, id: session.id },
    recording: {
      sha256: headSha256,
      keptAt: desk.baseUrl,
      keptUntil: recording.keepUntil,
      head: { recording: recording.id, seq, at },
    },
  };
}

/** The fields of an act's form that the session and its recording determine. */
export const typedOnRecord = ({ session, recording }: OnRecord): Record<string, string> => ({
  mode: "ron",
  tool: session?.tool ?? "",
  session_id: session?.id ?? "",
  recording_sha256: recording?.sha256 ?? "",
  recording_at: recording?.keptAt ?? "",
  // The form requires a date, so for a permanently stored recording it gets the year 9999. The act that is stored says
  // "permanently" instead.
  recording_until: recording?.keptUntil ?? "9999-12-31",
});

/**
 * Requires that an act by audio and video is signed in its own session, while all people are present.
 * @param mayHaveSigned false to reject a session whose recording has ended because the notary has signed
 * @throws ServiceError `conflict` while a person is away or the session is on hold. Also `conflict` for an act that was
 * not noted in the open session, and for an act whose session has ended
 */
export async function requireTogether(
  db: Sql,
  taskId: number,
  { mode, session, recording }: Act,
  mayHaveSigned = true,
): Promise<void> {
  const live = await openLiveOf(db, taskId);
  if (!live) {
    const ended = recording?.head && session ? await findLive(db, session.id) : undefined;
    if (ended) throw new ServiceError("conflict", "The session has ended. Note the act again.");
    return;
  }
  if (mode !== "ron" || session?.id !== live.id || !recording?.head)
    throw new ServiceError("conflict", "A session is open for this order. Note the act again, in the session.");
  if (live.state === "signed" && !mayHaveSigned)
    throw new ServiceError("conflict", "You have signed, and the recording has ended.");
  if (live.state !== "live" && live.state !== "signed")
    throw new ServiceError("conflict", "The session is on hold, or somebody is away: nothing is signed now.");
}

/** People in a live session who neither sign nor notarize: witnesses, interpreters and observers. */
import type { Operator } from "../../../firms/operators/operators.ts";
import { auditLine } from "../../../kernel/audit/audit.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import { maxPrincipals } from "../acts/act.ts";
import { type Claimed, claimedOrder } from "../claims/claims.ts";
import { withCurrentEmails } from "../claims/orders.ts";
import type { Typed } from "../form-reader.ts";
import { atSheet } from "../presence/ipen.ts";
import { readWitnessPart, writeWitness } from "../presence/witness.ts";
import { maxPeople, readInvited, requirePlace, roleObstacle, roleWords } from "../schedule/third-roles.ts";
import { principalOf } from "../sheets/room.ts";
import type { Progress } from "../sheets/steps.ts";
import { arrivals, notaryName, personName } from "./interruption.ts";
import { liveMail, roomTokenUnder } from "./mail.ts";
import { atLive, type LiveDeps, type LockedLive, note } from "./session.ts";
import {
  deletePerson,
  eventsOf,
  insertPerson,
  type LivePerson,
  type LiveSession,
  livePeople,
  openLiveOf,
  updatePerson,
} from "./store.ts";

/**
 * Invites a third person into the waiting room. This is possible only before the session begins: everybody in the
 * session must consent to the recording, and the consent names everybody.
 * @throws ServiceError `validation` naming every wrong field, or the rule of the notary's state that excludes the role;
 * `conflict` after the session has begun, after too many invitations, or when the person can't attend in addition to
 * the others
 */
export async function invitePerson(deps: LiveDeps, operator: Operator, code: string, typed: Typed): Promise<void> {
  const claimed = await claimedOrder(deps.sheets.desk, operator, code);
  const { signers } = claimed.order;
  const invited = readInvited(typed, signers.length, claimed.eligibility.rules.online);
  const id = await atLive(deps, operator, claimed, async (live) => {
    const { tx, session, people, locked } = live;
    if (session.state !== "open") throw new ServiceError("conflict", "The session has begun: nobody else comes in.");
    const current = await withCurrentEmails(tx, session.orderId, signers);
    const emailOf = ({ n, email }: LivePerson) => email ?? current[n - 1]?.email ?? null;
    const coming = people.map((person) => ({ ...person, email: emailOf(person) }));
    requirePlace(invited, coming, locked.notary.commissionName);
    const id = newUuid();
    // A number is never reused, because the session's events identify people by their numbers, including people whose
    // invitation was withdrawn.
    const { desk } = deps.sheets;
    const invitations = (await eventsOf(tx, desk.rowMac, session)).filter(({ name }) => name === "invited");
    if (invitations.length >= maxPeople)
      throw new ServiceError("conflict", `A session has at most ${maxPeople} invitations, with withdrawn ones.`);
    const n = maxPrincipals + invitations.length + 1;
    const token = roomTokenUnder(deps.identity.secrets, id);
    await insertPerson(tx, { ...invited, id, sessionId: session.id, n, token });
    await liveMail.enqueue(tx, { personId: id, codeId: null });
    if (invited.role === "observer") await askAgain(live);
    const { role, forSigner } = invited;
    const detail = { role, ...(forSigner !== null && { forSigner }) };
    await note(deps, live, operator.actor, { name: "invited", person: personName(n), detail });
    const { partnerId, orderId } = locked.order;
    const about = { session: session.id, ...detail };
    const line = {
      at: live.at,
      action: "notary.person_invited",
      actor: operator.actor,
      partnerId,
      orderId,
      detail: about,
    };
    await tx.query(auditLine(line));
    return session.id;
  });
  deps.rooms.tell(id, { kind: "changed" });
}

/**
 * Deletes the answers of people who have consented or refused, so that they are asked again. Everybody must agree to
 * each observer.
 */
async function askAgain({ tx, people }: Pick<LockedLive, "tx" | "people">): Promise<void> {
  for (const { id, consent } of people)
    if (consent !== null) await updatePerson(tx, id, sql`consent = NULL, place = NULL, waiting_at = NULL`);
}

/** The observers of a session, to whose presence everybody must agree. */
export const observersIn = (people: readonly LivePerson[]): LivePerson[] =>
  people.filter(({ role }) => role === "observer");

/**
 * Withdraws an invitation before the session begins, for example one with a wrong email address.
 * @throws ServiceError `validation` for a person who was not invited, `conflict` once the session has begun
 */
export async function withdrawPerson(deps: LiveDeps, operator: Operator, code: string, typed: Typed): Promise<void> {
  const claimed = await claimedOrder(deps.sheets.desk, operator, code);
  const gone = await atLive(deps, operator, claimed, async (live) => {
    const person = live.people.find(({ n, role }) => role !== "signer" && String(n) === typed["person"]);
    if (!person) throw invalid("person must be the number of somebody who was invited.");
    if (live.session.state !== "open") throw new ServiceError("conflict", "The session has begun.");
    await deletePerson(live.tx, person.id);
    await note(deps, live, operator.actor, { name: "withdrawn", person: personName(person.n) });
    return { session: live.session.id, person: personName(person.n) };
  });
  await deps.rooms.disconnect(gone.session, gone.person);
  deps.rooms.tell(gone.session, { kind: "changed" });
}

/**
 * Records that a signer's credible witness was identified in a session, or swore who the signer is. Notary, signer and
 * witness must be present and recorded.
 * @throws ServiceError naming the field and the rule, the step that is open, or the person who is absent
 */
export async function noteLiveWitness(deps: LiveDeps, operator: Operator, code: string, typed: Typed): Promise<void> {
  const claimed = await claimedOrder(deps.sheets.desk, operator, code);
  const { part, signer } = readWitnessPart(typed);
  const id = await atSheet(
    deps.sheets,
    operator,
    claimed,
    async (tx, { sheet }, { at, notary }) => {
      const session = await openLiveOf(tx, sheet.taskId);
      if (session?.state !== "live") throw new ServiceError("conflict", "The session is not live, or on hold.");
      const people = await livePeople(tx, session.id);
      const why = witnessObstacle(deps, claimed, { session: session.id, people, signer: signer ?? 0 });
      if (why !== null) throw new ServiceError("conflict", why);
      const witness = witnessFor(people, signer ?? 0)?.name ?? "";
      const by = { by: operator.actor, at };
      await writeWitness(tx, deps.sheets.desk.rowMac, { sheet, notary, part, signer, typed, by, named: witness });
      return session.id;
    },
    "ron",
  );
  deps.rooms.tell(id, { kind: "changed" });
}

const witnessFor = (people: readonly LivePerson[], signer: number): LivePerson | undefined =>
  people.find(({ role, forSigner }) => role === "credible_witness" && forSigner === signer);

type Vouched = { session: string; people: readonly LivePerson[]; signer: number };

/** The reason why a signer's credible witness can't vouch in the session now; null when the witness can. */
export function witnessObstacle(
  { rooms }: Pick<LiveDeps, "rooms">,
  { eligibility }: Pick<Claimed, "eligibility">,
  { session, people, signer }: Vouched,
): string | null {
  const obstacle = roleObstacle("credible_witness", eligibility.rules.online);
  if (obstacle !== null) return obstacle;
  const witness = witnessFor(people, signer);
  if (!witness) return "No credible witness of this signer was invited to the session.";
  const here = [notaryName, personName(signer), personName(witness.n)];
  if (rooms.absent(session, here) !== null) return `${witness.name}, the signer and you must all be here now.`;
  const recorded = rooms.roomOf(session)?.recorded;
  return here.every((person) => recorded?.has(person)) ? null : `${witness.name} is not on the recording yet.`;
}

type Moved = Pick<Awaited<ReturnType<typeof eventsOf>>[number], "name" | "person">;

/** The last event that admitted a person to the session or removed them. */
const lastMove = (events: readonly Moved[], n: number): string | undefined =>
  events.findLast(({ name, person }) => person === personName(n) && ["admitted", "excused", "released"].includes(name))
    ?.name;

/** True if a person arrived after the last admission by the notary. */
function hasCome(events: readonly Moved[], n: number): boolean {
  const own = events.filter(({ person }) => person === personName(n)).map(({ name }) => name);
  return own.slice(own.lastIndexOf("admitted") + 1).some((name) => arrivals.includes(name));
}

/** True if the notary has excused a third person, and has not admitted the person again since. */
export async function isExcused(
  { sheets: { desk } }: Pick<LiveDeps, "sheets">,
  session: LiveSession,
  { n, role }: LivePerson,
): Promise<boolean> {
  return role !== "signer" && lastMove(await eventsOf(desk.db, desk.rowMac, session), n) === "excused";
}

/**
 * The identity of the signer for whom this person vouches, as marked on the run sheet. Undefined while the identity is
 * not marked, and for a person who is not a credible witness.
 */
const identityFor = (people: readonly LivePerson[], sheet: Progress, name: string) => {
  const witness = people.find(({ n, role }) => role === "credible_witness" && personName(n) === name);
  return witness && principalOf(sheet, witness.forSigner ?? 0);
};

/**
 * True if a person is a credible witness whose signer is identified, in any way. The act then no longer depends on the
 * witness.
 */
export const isPartDone = (people: readonly LivePerson[], sheet: Progress, name: string): boolean =>
  identityFor(people, sheet, name) !== undefined;

/** True if a person is a credible witness by whose oath the signer is identified. */
export const hasVouched = (people: readonly LivePerson[], sheet: Progress, name: string): boolean =>
  identityFor(people, sheet, name)?.basis === "credible_witness";

/**
 * The third persons who took part, as lines for the act's journal entry. Admission alone is not enough: media of the
 * person must have arrived or, for an observer, the observer's browser must have received the session. A credible
 * witness whom the notary excused is listed only if the witness has vouched. Any other excused person is listed, too. A
 * person who was released from a browser is listed only after another admission and arrival.
 */
export const presentLines = (people: readonly LivePerson[], events: readonly Moved[], sheet: Progress): string[] =>
  people
    .filter(({ n, role }) => {
      const moved = role === "signer" ? undefined : lastMove(events, n);
      const took = role !== "credible_witness" || hasVouched(people, sheet, personName(n));
      return hasCome(events, n) && (moved === "admitted" || (moved === "excused" && took));
    })
    .map(({ name, role, place }) => [name, roleWords[role], ...(place === null ? [] : [place])].join(", "));

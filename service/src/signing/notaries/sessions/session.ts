/** A live session of an order: how the notary opens it, and how it begins. */
import type { Operator } from "../../../firms/operators/operators.ts";
import { auditLine } from "../../../kernel/audit/audit.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import type { OwnNode } from "../../../kernel/platform/nodes.ts";
import type { ConsentTexts } from "../../envelopes/envelopes.ts";
import { actKinds } from "../acts/act.ts";
import { type Claimed, claimedOrder, lockClaimed } from "../claims/claims.ts";
import { orderOfId } from "../claims/orders.ts";
import { findNotary } from "../commissions/store.ts";
import { accepted, formReader, type Typed } from "../form-reader.ts";
import type { IdentityDeps } from "../identity/checks.ts";
import { openAct, type SheetDeps, sessionOf } from "../presence/ipen.ts";
import type { RecordingDisk } from "../recordings/disk.ts";
import type { Recordings } from "../recordings/recordings.ts";
import { guestsOf } from "../schedule/guests.ts";
import { endRequestOf } from "../schedule/queue.ts";
import { requireOwn } from "../sheets/room.ts";
import { signedBeforeOf } from "../sheets/steps.ts";
import { findSheet, openSheetOf, outcomeOf } from "../sheets/store.ts";
import { recordedAmong, requireDisk } from "./disk-room.ts";
import { askingPage, type Connected } from "./holders.ts";
import { notaryName, personName } from "./interruption.ts";
import { inviteGuests } from "./invite-guests.ts";
import { leaseOf, requireLease } from "./lease.ts";
import { liveMail, roomTokenUnder } from "./mail.ts";
import { marksOf } from "./marks.ts";
import { liveObstacle } from "./offered.ts";
import type { LiveRooms } from "./rooms.ts";
import {
  appendEvent,
  insertLive,
  insertPerson,
  type LivePerson,
  type LiveSession,
  livePeople,
  lockLive,
  openLiveOf,
  updateLive,
} from "./store.ts";

export type LiveDeps = {
  sheets: SheetDeps;
  identity: IdentityDeps;
  rooms: LiveRooms;
  /** This process, as the holder of leases on sessions. */
  own: OwnNode;
  recordings: Recordings;
  disk: RecordingDisk;
  consentTexts: Pick<ConsentTexts, "current">;
  /** The name of the tool in the journal: this service with its version. */
  tool: string;
};

/**
 * Opens a session: prepares the document, begins the run sheet (the record of the act's steps), mails each signer a
 * link, and invites the guests.
 * @throws ServiceError `validation` when the act or a session is not possible for the order, `conflict` when a session
 * is open, `unavailable` when the disk lacks space
 */
export async function openLive(deps: LiveDeps, operator: Operator, code: string, typed: Typed): Promise<void> {
  sessionOf(operator);
  const read = formReader(typed);
  const act = accepted(read.done(read.requiredOneOf("act", actKinds)));
  const claimed = await claimedOrder(deps.sheets.desk, operator, code);
  const obstacle = liveObstacle(deps.identity, claimed, deps.sheets.desk.clock());
  if (obstacle !== null) throw invalid(`A session is not offered here for this order. ${obstacle}`);
  const { orderId: expectedIn, signers: principals } = claimed.order;
  const guests = await guestsOf(deps.sheets.desk.db, expectedIn);
  await requireDisk(deps, principals.length + recordedAmong(guests));
  const { db, rowMac } = deps.sheets.desk;
  requireOwn(await openSheetOf(deps.sheets.desk, claimed.order.taskId), claimed.notary.id);
  if (await openLiveOf(db, claimed.order.taskId))
    throw new ServiceError(
      "conflict",
      "A session of this order is open, or is being closed. Try again in some seconds.",
    );
  await openAct(
    deps.sheets,
    operator,
    claimed,
    { act, mode: "ron", pinHash: null },
    async (tx, sheet, { at, order, notary }) => {
      const id = newUuid();
      const { orderId, taskId, signers, partnerId } = order;
      await endRequestOf(tx, orderId, "met", at);
      await insertLive(tx, { id, orderId, taskId, notaryId: sheet.notaryId, sheetId: sheet.id, openedAt: at });
      for (const [index, { name }] of signers.entries()) {
        const personId = newUuid();
        const token = roomTokenUnder(deps.identity.secrets, personId);
        await insertPerson(tx, { id: personId, sessionId: id, n: index + 1, name, token });
        await liveMail.enqueue(tx, { personId, codeId: null });
      }
      const session = await lockLive(tx, id);
      if (!session) throw new Error("the live session was not written");
      const detail = { act, people: signers.length, sheet: sheet.id };
      await appendEvent(tx, rowMac, session, { at, name: "opened", by: operator.actor, person: null, detail });
      await inviteGuests(deps, tx, claimed.eligibility.rules.online, { id, order, notary, by: operator.actor, at });
      const about = { session: id, act };
      const line = { at, action: "notary.session_opened", actor: operator.actor, partnerId, orderId, detail: about };
      await tx.query(auditLine(line));
    },
  );
}

/**
 * The session of an order that the notary has claimed, together with the session's people. Null if every session has
 * ended, or if the open one belongs to a notary who had the order before.
 */
export async function liveOf({ sheets: { desk } }: Pick<LiveDeps, "sheets">, { order, notary }: Claimed) {
  const session = await openLiveOf(desk.db, order.taskId);
  return session?.notaryId === notary.id ? { session, people: await livePeople(desk.db, session.id) } : null;
}

/** The facts of a session that its rooms show. Undefined when its notary or its sheet no longer exists. */
export async function livePeopleOf({ sheets: { desk } }: Pick<LiveDeps, "sheets">, session: LiveSession) {
  const [notary, sheet, people, order] = await Promise.all([
    findNotary(desk.db, session.notaryId),
    findSheet(desk, session.sheetId),
    livePeople(desk.db, session.id),
    orderOfId(desk, session.orderId),
  ]);
  const signsAgain = sheet !== undefined && signedBeforeOf(sheet) !== null;
  return notary && sheet && { notary: notary.commissionName, act: sheet.script.act, signsAgain, people, order };
}

export type LockedLive = {
  tx: Tx;
  session: LiveSession;
  people: LivePerson[];
  at: Date;
  locked: Awaited<ReturnType<typeof lockClaimed>>;
};

/**
 * Runs work on the session of an order that the notary has claimed. Locks the order and the session.
 * @throws ServiceError `conflict` when the notary has no session of the order, or it has ended
 */
export async function atLive<T>(
  deps: Pick<LiveDeps, "sheets">,
  operator: Operator,
  claimed: Claimed,
  work: (live: LockedLive) => Promise<T>,
): Promise<T> {
  const { desk } = deps.sheets;
  return desk.db.transaction(async (tx) => {
    const locked = await lockClaimed(tx, desk, operator, claimed);
    const open = await openLiveOf(tx, locked.order.taskId);
    const session = open && (await lockLive(tx, open.id));
    if (!session || session.state === "ended" || session.notaryId !== locked.notary.id)
      throw new ServiceError("conflict", "No session is open for this order.");
    return work({ tx, session, people: await livePeople(tx, session.id), at: locked.at, locked });
  });
}

/** Records an action as an event of the session, and changes the session's row if `set` is given. */
export async function note(
  deps: Pick<LiveDeps, "sheets">,
  { tx, session, at }: Pick<LockedLive, "tx" | "session" | "at">,
  by: string,
  { name, person = null, detail = null }: { name: string; person?: string | null; detail?: unknown },
  set?: Statement,
): Promise<void> {
  if (set) await updateLive(tx, session.id, set);
  await appendEvent(tx, deps.sheets.desk.rowMac, session, { at, name, by, person, detail });
}

/**
 * Begins the session: from now on all media are recorded. Everybody must have consented before.
 * @throws ServiceError `conflict` naming a person who has not consented, and when the session has begun already;
 * `unavailable` while the media engine can't open a session, and when the disk lacks space
 */
export async function startLive(deps: LiveDeps, operator: Operator, code: string): Promise<void> {
  const claimed = await claimedOrder(deps.sheets.desk, operator, code);
  const open = await openLiveOf(deps.sheets.desk.db, claimed.order.taskId);
  if (!open) throw new ServiceError("conflict", "No session is open for this order.");
  // Pages that connect while this call begins the session wait until the recording runs.
  await deps.rooms.openOnce(open.id, () => beginLive(deps, operator, claimed));
}

async function beginLive(deps: LiveDeps, operator: Operator, claimed: Claimed): Promise<void> {
  const live = await atLive(deps, operator, claimed, async (found) => {
    const { session, people, at, tx } = found;
    if (session.state !== "open") throw new ServiceError("conflict", "The session has begun already.");
    await requireDisk(deps, recordedAmong(people));
    for (const { name, consent } of people) {
      if (consent === null)
        throw new ServiceError("conflict", `${name} has not answered whether they agree to be recorded.`);
      if (!consent.agreed)
        throw new ServiceError(
          "conflict",
          `${name} does not agree to be recorded: nobody’s audio and video is passed on.`,
        );
    }
    await leaseOf(deps, session.id, tx);
    await note(deps, found, operator.actor, { name: "live" }, sql`state = 'live', live_at = ${at}`);
    return found;
  });
  const { session, people, at } = live;
  try {
    await beginRecording(deps, session, people, claimed);
  } catch (error) {
    await atLive(deps, operator, claimed, (found) =>
      note(deps, found, "system", { name: "not_begun" }, sql`state = 'open', live_at = NULL`),
    );
    throw error;
  }
  // A concurrent request may have ended the act after the session began. That request found no recording to end, so the
  // recording is ended here.
  if ((await outcomeOf(deps.sheets.desk.db, session.sheetId)) !== null) {
    await deps.recordings.end(session.id, await marksOf(deps, session));
    throw new ServiceError("conflict", "The session has ended.");
  }
  // Renews the lease, because the start of the recording may have taken long.
  const lease = await leaseOf(deps, session.id).catch((error: Error) => {
    deps.rooms.leaving.add(session.id);
    throw error;
  });
  deps.rooms.add(session.id, session.orderId, at, [notaryName], lease);
  deps.rooms.tell(session.id, { kind: "changed" });
}

async function beginRecording(
  deps: LiveDeps,
  { id, notaryId, orderId }: LiveSession,
  people: readonly LivePerson[],
  { notary, order: { environment } }: Pick<Claimed, "notary" | "order">,
): Promise<void> {
  const recorded = [
    { person: notaryName, role: "notary", name: notary.commissionName },
    ...people.map(({ n, name, role }) => ({ person: personName(n), role: role.replaceAll("_", " "), name })),
  ];
  const requireHeld = (tx: Tx) => requireLease(deps, id, tx);
  await deps.recordings.begin({ session: id, notaryId, orderId, environment, people: recorded, requireHeld });
}

/**
 * Connects the notary's page to the media engine.
 * @throws ServiceError `conflict` before the session has begun, and when this node does not have it
 */
export async function connectNotary(
  deps: LiveDeps,
  operator: Operator,
  code: string,
  typed: Typed,
): Promise<Connected> {
  const claimed = await claimedOrder(deps.sheets.desk, operator, code);
  const live = await liveOf(deps, claimed);
  if (!live) throw new ServiceError("conflict", "No session is open for this order.");
  return deps.rooms.connect(live.session.id, notaryName, askingPage(typed));
}

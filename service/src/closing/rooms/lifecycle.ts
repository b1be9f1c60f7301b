import { countOpenRooms, openRoomQuota, tierOf } from "../../firms/partners/partners.ts";
import { auditLine } from "../../kernel/audit/audit.ts";
import { actorOf, type Principal } from "../../kernel/identity/identity.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import type { Tx } from "../../kernel/platform/database/database.ts";
import { invalid } from "../../kernel/platform/errors.ts";
import { type RecordResult, recordNothing } from "../../kernel/platform/idempotency.ts";
import { newCode, newUuid } from "../../kernel/platform/ids.ts";
import { type NewOrder, writeOrder } from "../../orders/order/order.ts";
import { attachIn } from "./attachments/attachments.ts";
import { holdOrder } from "./attachments/store.ts";
import { beginChange, type RoomDeps } from "./change.ts";
import type { NewParticipant, NewRoom } from "./fields.ts";
import { addIn, inviteIn } from "./participants/participants.ts";
import type { CreatedRoom, RoomStatus, RotatedRoom } from "./schemas.ts";
import { changeCode, changeStatus, insertRoom, lockPartner, type RoomState } from "./store.ts";

/**
 * Locks the partner until the transaction ends, so that of two concurrent requests only one gets the last free room.
 * @throws ServiceError when the quota of its present tier is used up
 */
async function takeQuota(tx: Tx, principal: Principal): Promise<void> {
  const tier = await lockPartner(tx, principal.partnerId);
  const quota = openRoomQuota(tierOf(tier));
  if (quota !== null && (await countOpenRooms(tx, principal)) >= quota)
    throw invalid(`Your ${tier} tier allows ${quota} open rooms.`);
}

/** Creates an open room and returns the contract's creation response. @throws ServiceError when the quota is used up */
export async function createRoom(
  { db, clock }: RoomDeps,
  principal: Principal,
  fields: NewRoom,
  record = recordNothing,
): Promise<CreatedRoom> {
  const code = newCode();
  return db.transaction(async (tx) => {
    const at = await createRoomIn(tx, clock, principal, { ...fields, code });
    const created: CreatedRoom = {
      roomCode: code,
      roomUrl: urlOf(code),
      name: fields.name,
      reference: fields.reference,
      status: "open",
      createdAt: at.toISOString(),
    };
    await record(tx, created);
    return created;
  });
}

/** @returns the time when the room was created @throws ServiceError when the quota is used up */
async function createRoomIn(
  tx: Tx,
  clock: Clock,
  principal: Principal,
  fields: NewRoom & { code: string },
): Promise<Date> {
  const { partnerId, environment } = principal;
  await takeQuota(tx, principal);
  const room = { ...fields, id: newUuid(), partnerId, environment, at: clock() };
  await insertRoom(tx, room);
  await tx.query(
    auditLine({ at: room.at, action: "room.created", actor: actorOf(principal), partnerId, roomId: room.id }),
  );
  return room.at;
}

/** A closing that is not placed yet: its room, the people in it, and its orders, which were checked and priced. */
export type NewClosing = {
  room: NewRoom;
  people: readonly (NewParticipant & { isInvited: boolean })[];
  documents: readonly { order: NewOrder; label: string; receivers: readonly Receiver[] }[];
};

/** A person who is to be sent a final document. */
export type Receiver = { name: string; email: string };

/** Callbacks that write further rows in the transaction of a closing. */
type WithClosing = {
  /** Stores the result under the request's idempotency key. */
  record: RecordResult;
  /** Records the people who are to be sent the final document of an order. */
  receive: (
    tx: Tx,
    of: { roomId: string; orderId: number; by: string; at: Date },
    receivers: readonly Receiver[],
  ) => Promise<void>;
};

/**
 * Places a closing in one transaction: either all of its orders, its room and its people are written, or nothing.
 * @throws ServiceError when the quota of open rooms is used up, or another order has used one of the documents
 */
export function placeClosing(
  { db, clock }: RoomDeps,
  principal: Principal,
  { room, people, documents }: NewClosing,
  { record, receive }: WithClosing,
): Promise<{ roomCode: string }> {
  const placed = { roomCode: newCode() };
  return db.transaction(async (tx) => {
    // This statement runs first, so a duplicate request waits here for the original one. It then finds the closing that
    // was placed, instead of failing because the documents are already used.
    await record(tx, placed);
    for (const { order } of documents) await writeOrder(tx, order);
    await createRoomIn(tx, clock, principal, { ...room, code: placed.roomCode });
    const change = await beginChange(tx, clock, principal, placed.roomCode);
    for (const [index, { isInvited, ...person }] of people.entries()) {
      // Lists of participants are sorted by these times.
      const at = new Date(change.at.getTime() + index);
      await (isInvited ? inviteIn : addIn)(tx, { ...change, at }, person);
    }
    for (const { order, label, receivers } of documents) {
      const held = await holdOrder(tx, order.code, principal.environment);
      if (!held) throw new Error("an order that was just written is missing");
      const { partnerId, environment } = principal;
      await attachIn(tx, change, { partnerId, environment }, { ...held, label });
      const of = { roomId: change.room.id, orderId: held.id, by: actorOf(principal), at: change.at };
      await receive(tx, of, receivers);
    }
    return placed;
  });
}

const urlOf = (code: string): string => `/rooms/${code}`;

/** Replaces the room's code. @throws ServiceError for an unknown room */
export async function rotateRoom(
  { db, clock }: RoomDeps,
  principal: Principal,
  roomCode: string,
): Promise<RotatedRoom> {
  return db.transaction(async (tx) => {
    const { room, at, audit } = await beginChange(tx, clock, principal, roomCode);
    const code = newCode();
    await changeCode(tx, room.id, code, at);
    await audit("room.rotated");
    return { roomCode: code, roomUrl: urlOf(code) };
  });
}

/**
 * Closes the room, which then no longer counts against the quota. Closing twice changes nothing. @throws ServiceError
 * for an unknown room
 */
export const closeRoom = (deps: RoomDeps, principal: Principal, roomCode: string): Promise<RoomStatus> =>
  setStatus(deps, principal, roomCode, "closed");

/** Reopens the room. Reopening twice changes nothing. @throws ServiceError for an unknown room or a used-up quota */
export const reopenRoom = (deps: RoomDeps, principal: Principal, roomCode: string): Promise<RoomStatus> =>
  setStatus(deps, principal, roomCode, "open");

async function setStatus(
  { db, clock }: RoomDeps,
  principal: Principal,
  roomCode: string,
  to: RoomState,
): Promise<RoomStatus> {
  return db.transaction(async (tx) => {
    if (to === "open") await lockPartner(tx, principal.partnerId);
    const { room, audit } = await beginChange(tx, clock, principal, roomCode);
    if (room.status !== to) {
      if (to === "open") await takeQuota(tx, principal);
      await changeStatus(tx, room.id, to);
      await audit(to === "open" ? "room.reopened" : "room.closed", { fromStatus: room.status, toStatus: to });
    }
    return { ok: true, status: to };
  });
}

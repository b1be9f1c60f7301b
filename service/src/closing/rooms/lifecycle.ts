import { openRoomQuota, tierOf } from "../../firms/partners/partners.ts";
import { auditLine } from "../../kernel/audit/audit.ts";
import { actorOf, type Principal } from "../../kernel/identity/identity.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import type { Tx } from "../../kernel/platform/database/database.ts";
import { invalid } from "../../kernel/platform/errors.ts";
import { recordNothing } from "../../kernel/platform/idempotency.ts";
import { newCode, newUuid } from "../../kernel/platform/ids.ts";
import { beginChange, type RoomDeps } from "./begin-change.ts";
import type { NewRoom } from "./fields.ts";
import type { CreatedRoom, RoomDay, RoomStatus } from "./schemas.ts";
import { changeClosesOn, changeStatus, countOpenRooms, insertRoom, lockPartner, type RoomState } from "./store.ts";

/**
 * Refuses another open room beyond the quota. Locks the partner until the transaction ends, so that two concurrent
 * requests can't both get the last room.
 * @throws ServiceError when the quota of the partner's present tier is used up
 */
async function requireRoomQuota(tx: Tx, principal: Principal): Promise<void> {
  const tier = await lockPartner(tx, principal.partnerId);
  const quota = openRoomQuota(tierOf(tier));
  if (quota !== null && (await countOpenRooms(tx, principal)) >= quota)
    throw invalid(`Your ${tier} tier allows ${quota} open rooms.`);
}

/**
 * Creates an open room and returns the contract's creation response.
 * @throws ServiceError when the quota is used up
 */
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
      roomUrl: roomUrlOf(code),
      name: fields.name,
      reference: fields.reference,
      ...(fields.closesOn !== undefined && { closesOn: fields.closesOn }),
      status: "open",
      createdAt: at.toISOString(),
    };
    await record(tx, created);
    return created;
  });
}

/**
 * Creates an open room in the caller's transaction.
 * @returns the time when the room was created
 * @throws ServiceError when the quota is used up
 */
export async function createRoomIn(
  tx: Tx,
  clock: Clock,
  principal: Principal,
  fields: NewRoom & { code: string },
): Promise<Date> {
  const { partnerId, environment } = principal;
  await requireRoomQuota(tx, principal);
  const room = { ...fields, id: newUuid(), partnerId, environment, at: clock() };
  await insertRoom(tx, room);
  await tx.query(
    auditLine({ at: room.at, action: "room.created", actor: actorOf(principal), partnerId, roomId: room.id }),
  );
  return room.at;
}

export const roomUrlOf = (code: string): string => `/rooms/${code}`;

/**
 * Sets the day on which the closing is due, or removes it. Only the firm sees the day. Lists of closings are sorted by
 * the day. On that day, members get mails about the closing's orders even in quiet hours.
 * @throws ServiceError for an unknown room
 */
export async function setClosesOn(
  { db, clock }: RoomDeps,
  principal: Principal,
  roomCode: string,
  closesOn: string | null,
): Promise<RoomDay> {
  return db.transaction(async (tx) => {
    const { room, audit } = await beginChange(tx, clock, principal, roomCode);
    if (room.closesOn !== closesOn) {
      await changeClosesOn(tx, room.id, closesOn);
      await audit("room.closes_on_set", { detail: { closesOn } });
    }
    return { ok: true, closesOn };
  });
}

/**
 * Closes the room, which then no longer counts against the quota. Closing twice changes nothing.
 * @throws ServiceError for an unknown room
 */
export const closeRoom = (deps: RoomDeps, principal: Principal, roomCode: string): Promise<RoomStatus> =>
  setStatus(deps, principal, roomCode, "closed");

/**
 * Reopens the room. Reopening twice changes nothing.
 * @throws ServiceError for an unknown room or a used-up quota
 */
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
      if (to === "open") await requireRoomQuota(tx, principal);
      await changeStatus(tx, room.id, to);
      await audit(to === "open" ? "room.reopened" : "room.closed", { fromStatus: room.status, toStatus: to });
    }
    return { ok: true, status: to };
  });
}

import { countOpenRooms, openRoomQuota, tierOf } from "../../firms/partners/partners.ts";
import { auditLine } from "../../kernel/audit/audit.ts";
import { actorOf, type Principal } from "../../kernel/identity/identity.ts";
import type { Tx } from "../../kernel/platform/database/database.ts";
import { invalid } from "../../kernel/platform/errors.ts";
import { recordNothing } from "../../kernel/platform/idempotency.ts";
import { newCode, newUuid } from "../../kernel/platform/ids.ts";
import { beginChange, type RoomDeps } from "./change.ts";
import type { NewRoom } from "./fields.ts";
import type { CreatedRoom, RoomStatus, RotatedRoom } from "./schemas.ts";
import { changeCode, changeStatus, insertRoom, lockPartner, type RoomState } from "./store.ts";

/**
 * Locks the partner until the end of the transaction, so that only one of two concurrent requests gets the last free
 * room.
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
  const { partnerId, environment } = principal;
  const room = { ...fields, id: newUuid(), code: newCode(), partnerId, environment };
  return db.transaction(async (tx) => {
    await takeQuota(tx, principal);
    const at = clock();
    await insertRoom(tx, { ...room, at });
    const line = { at, action: "room.created", actor: actorOf(principal), partnerId, roomId: room.id };
    await tx.query(auditLine(line));
    const created: CreatedRoom = {
      roomCode: room.code,
      roomUrl: urlOf(room.code),
      name: room.name,
      reference: room.reference,
      status: "open",
      createdAt: at.toISOString(),
    };
    await record(tx, created);
    return created;
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
 * Closes the room, which then leaves the quota. Closing twice changes nothing. @throws ServiceError for an unknown
 * room
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

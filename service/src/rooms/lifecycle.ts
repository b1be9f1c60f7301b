import { actorOf, type Principal } from "../identity/identity.ts";
import { countOpenRooms, openRoomQuota, tierOf } from "../partners/partners.ts";
import type { Tx } from "../platform/database.ts";
import { invalid } from "../platform/errors.ts";
import { newCode, newUuid } from "../platform/ids.ts";
import { beginChange, type RoomDeps } from "./change.ts";
import { changeCode, changeStatus, insertAudit, insertRoom, lockPartner } from "./store.ts";

/**
 * Locks the partner until the end of the transaction, so that of twins only one gets the last free room.
 * @throws ServiceError when the quota of its tier, as it is now, is used up.
 */
async function takeQuota(tx: Tx, principal: Principal): Promise<void> {
  const tier = await lockPartner(tx, principal.partnerId);
  const quota = openRoomQuota(tierOf(tier));
  if (quota !== null && (await countOpenRooms(tx, principal)) >= quota)
    throw invalid(`Your ${tier} tier allows ${quota} open rooms.`);
}

/** Creates an open room and answers as the contract's creation response. @throws ServiceError when the quota is used up. */
export async function createRoom(
  { db, clock }: RoomDeps,
  principal: Principal,
  fields: { name: string; reference: string | null },
) {
  const { partnerId, environment } = principal;
  const room = { ...fields, id: newUuid(), code: newCode(), partnerId, environment };
  return db.transaction(async (tx) => {
    await takeQuota(tx, principal);
    const at = clock();
    await insertRoom(tx, { ...room, at });
    await insertAudit(tx, { at, action: "room.created", actor: actorOf(principal), partnerId, roomId: room.id });
    return {
      roomCode: room.code,
      roomUrl: `/rooms/${room.code}`,
      name: room.name,
      reference: room.reference,
      status: "open",
      createdAt: at.toISOString(),
    };
  });
}

/** Gives the room a new code in place of the old one. @throws ServiceError for an unknown room. */
export async function rotateRoom({ db, clock }: RoomDeps, principal: Principal, roomCode: string) {
  return db.transaction(async (tx) => {
    const { room, at, audit } = await beginChange(tx, clock, principal, roomCode);
    const code = newCode();
    await changeCode(tx, room.id, code, at);
    await audit("room.rotated");
    return { roomCode: code, roomUrl: `/rooms/${code}` };
  });
}

/** Closes the room, which leaves the quota; closing twice is the same. @throws ServiceError for an unknown room. */
export async function closeRoom({ db, clock }: RoomDeps, principal: Principal, roomCode: string) {
  return db.transaction(async (tx) => {
    const { room, audit } = await beginChange(tx, clock, principal, roomCode);
    if (room.status !== "closed") {
      await changeStatus(tx, room.id, "closed");
      await audit("room.closed", { fromStatus: room.status, toStatus: "closed" });
    }
    return { ok: true, status: "closed" };
  });
}

/** Opens the room again; opening twice is the same. @throws ServiceError for an unknown room or a used-up quota. */
export async function reopenRoom({ db, clock }: RoomDeps, principal: Principal, roomCode: string) {
  return db.transaction(async (tx) => {
    await lockPartner(tx, principal.partnerId);
    const { room, audit } = await beginChange(tx, clock, principal, roomCode);
    if (room.status !== "open") {
      await takeQuota(tx, principal);
      await changeStatus(tx, room.id, "open");
      await audit("room.reopened", { fromStatus: room.status, toStatus: "open" });
    }
    return { ok: true, status: "open" };
  });
}

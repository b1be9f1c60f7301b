import { actorOf, type Principal } from "../identity/identity.ts";
import type { Clock } from "../platform/clock.ts";
import type { Database, Tx } from "../platform/database.ts";
import { ServiceError } from "../platform/errors.ts";
import { isCode } from "./fields.ts";
import { insertAudit, type LockedRoom, lockRoom, type RoomAudit } from "./store.ts";

export type RoomDeps = { db: Database; clock: Clock };

/** A room locked for a change by its owner: `at` is the change's instant everywhere, `audit` writes its line in the log. */
export type RoomChange = {
  room: LockedRoom;
  at: Date;
  audit: (action: string, more?: Pick<RoomAudit, "orderId" | "fromStatus" | "toStatus" | "detail">) => Promise<unknown>;
};

export const roomNotFound = (): ServiceError => new ServiceError("not_found", "Room not found.");
export const orderNotFound = (): ServiceError => new ServiceError("not_found", "Order not found.");

/**
 * Begins a change inside a transaction; the room stays locked until its end. Locks are taken in the order: order, partner,
 * room.
 * @throws ServiceError when the caller has no such room in the environment of its key.
 */
export async function beginChange(tx: Tx, clock: Clock, principal: Principal, roomCode: string): Promise<RoomChange> {
  const room = isCode(roomCode) ? await lockRoom(tx, roomCode, principal) : undefined;
  if (!room) throw roomNotFound();
  const at = clock();
  return {
    room,
    at,
    audit: (action, more = {}) =>
      insertAudit(tx, {
        at,
        action,
        actor: actorOf(principal),
        partnerId: principal.partnerId,
        roomId: room.id,
        ...more,
      }),
  };
}

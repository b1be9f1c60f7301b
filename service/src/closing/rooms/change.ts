import { type AuditLine, auditLine } from "../audit/audit.ts";
import { actorOf, type Principal } from "../identity/identity.ts";
import type { Clock } from "../platform/clock.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import { ServiceError } from "../platform/errors.ts";
import { isCode } from "../platform/text.ts";
import { type LockedRoom, lockRoom } from "./store.ts";

export type RoomDeps = { db: Database; clock: Clock };

type More = Pick<AuditLine, "orderId" | "fromStatus" | "toStatus" | "detail">;

/** A room locked for a change by its owner: `at` is the change's instant everywhere, `audit` writes its line in the audit log. */
export type RoomChange = {
  room: LockedRoom;
  at: Date;
  audit: (action: string, more?: More) => Promise<unknown>;
};

export const roomNotFound = (): ServiceError => new ServiceError("not_found", "Room not found.");
export const orderNotFound = (): ServiceError => new ServiceError("not_found", "Order not found.");

/**
 * Begins a change inside a transaction; the room stays locked until its end. Locks are taken in the order: order, rooms of
 * other firms, partner, room.
 * @throws ServiceError when the caller has no such room in the environment of its key.
 */
export async function beginChange(tx: Tx, clock: Clock, principal: Principal, roomCode: string): Promise<RoomChange> {
  const room = isCode(roomCode) ? await lockRoom(tx, roomCode, principal) : undefined;
  if (!room) throw roomNotFound();
  const at = clock();
  const line = { at, actor: actorOf(principal), partnerId: principal.partnerId, roomId: room.id };
  return { room, at, audit: (action, more = {}) => tx.query(auditLine({ ...line, action, ...more })) };
}

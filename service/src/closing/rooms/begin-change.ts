import { type AuditLine, auditLine } from "../../kernel/audit/audit.ts";
import { actorOf, type Principal } from "../../kernel/identity/identity.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import type { Database, Tx } from "../../kernel/platform/database/database.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import { isCode } from "../../kernel/platform/text.ts";
import { type LockedRoom, lockRoom } from "./store.ts";

export type RoomDeps = { db: Database; clock: Clock };

type More = Pick<AuditLine, "orderId" | "fromStatus" | "toStatus" | "detail">;

/**
 * A room of the caller that is locked for a change. `at` is the time of the change in all records; `audit` writes the
 * audit line.
 */
export type RoomChange = {
  room: LockedRoom;
  at: Date;
  audit: (action: string, more?: More) => Promise<unknown>;
};

export const roomNotFound = (): ServiceError => new ServiceError("not_found", "Room not found.");

/**
 * Begins a change of a room: locks the room until the transaction ends. The lock order, which prevents deadlocks, is:
 * order, rooms of other firms, partner, room.
 * @throws ServiceError when the caller has no room with this code in its environment
 */
export async function beginChange(tx: Tx, clock: Clock, principal: Principal, roomCode: string): Promise<RoomChange> {
  const room = isCode(roomCode) ? await lockRoom(tx, roomCode, principal) : undefined;
  if (!room) throw roomNotFound();
  const at = clock();
  const line = { at, actor: actorOf(principal), partnerId: principal.partnerId, roomId: room.id };
  return { room, at, audit: (action, more = {}) => tx.query(auditLine({ ...line, action, ...more })) };
}

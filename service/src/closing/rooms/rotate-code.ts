import type { Principal } from "../../kernel/identity/identity.ts";
import { newCode } from "../../kernel/platform/ids.ts";
import { beginChange, type RoomDeps } from "./begin-change.ts";
import { roomUrlOf } from "./lifecycle.ts";
import type { RotatedRoom } from "./schemas.ts";
import { changeCode } from "./store.ts";

/**
 * Replaces the room's code. The old code stops working at once (contract, Closing rooms).
 * @throws ServiceError for an unknown room
 */
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
    return { roomCode: code, roomUrl: roomUrlOf(code) };
  });
}

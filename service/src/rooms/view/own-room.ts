import type { Principal } from "../../identity/identity.ts";
import type { Titled } from "../../orders/orders.ts";
import { selectOwnOrders } from "../attachments/store.ts";
import { type RoomDeps, roomNotFound } from "../change.ts";
import { listParticipants } from "../participants/participants.ts";
import type { Participant } from "../participants/schemas.ts";
import { roomView } from "./read-view.ts";
import type { RoomView } from "./schemas.ts";

/** What everybody sees of a room, and what its owner alone does: who takes part in full, and which orders are its own. */
export type OwnRoom = Omit<RoomView, "participants"> & {
  participants: Participant[];
  ownOrders: ReadonlyMap<string, Titled>;
};

/** A room of the caller's. @throws ServiceError for an unknown room, and for one of another owner or environment. */
export async function ownRoom(deps: RoomDeps, principal: Principal, roomCode: string): Promise<OwnRoom> {
  const participants = await listParticipants(deps, principal, roomCode);
  const [view, ownOrders] = await Promise.all([
    roomView(deps.db, roomCode),
    selectOwnOrders(deps.db, roomCode, principal),
  ]);
  // Rotated since.
  if (!view) throw roomNotFound();
  return { ...view, participants, ownOrders: new Map(ownOrders.map((order) => [order.code, order])) };
}

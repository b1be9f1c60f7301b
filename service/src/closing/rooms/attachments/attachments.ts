import { eventRow } from "../../events/events.ts";
import type { Principal } from "../../identity/identity.ts";
import { sealed } from "../../platform/database/sql.ts";
import { invalid, ServiceError } from "../../platform/errors.ts";
import { isCode } from "../../platform/text.ts";
import { beginChange, orderNotFound, type RoomDeps } from "../change.ts";
import type { NewAttachment } from "../fields.ts";
import type { RoomChanged } from "../schemas.ts";
import type { Attached } from "./schemas.ts";
import {
  countForeignRooms,
  deleteAttachment,
  findOrderId,
  holdOrder,
  insertAttachment,
  isAttached,
  lockForeignRooms,
} from "./store.ts";

const maxOrders = 50;
// Each step of an order rewrites the views of all its rooms, and whoever has its code may attach it.
const maxForeignRooms = 100;
const topic = "room.order_attached";

/**
 * Binds an order to the room. Having the order's code is enough; only the environments must be the same. An order that is
 * there already stays as it is, label and all, also in a closed or full room.
 * @throws ServiceError for an unknown room or order, a closed room, a full one, and an order that too many other firms have.
 */
export async function attachOrder(
  { db, clock }: RoomDeps,
  principal: Principal,
  roomCode: string,
  { orderCode, label }: NewAttachment,
): Promise<Attached> {
  const { partnerId, environment } = principal;
  return db.transaction(async (tx) => {
    const order = isCode(orderCode) ? await holdOrder(tx, orderCode, environment) : undefined;
    const isForeign = order !== undefined && order.partnerId !== partnerId;
    if (isForeign) await lockForeignRooms(tx, order);
    const { room, at, audit } = await beginChange(tx, clock, principal, roomCode);
    if (!order) throw orderNotFound();
    if (await isAttached(tx, room.id, order.id)) return { ok: true, alreadyAttached: true };
    if (room.status !== "open") throw invalid("This room is closed.");
    if (room.orderCount >= maxOrders) throw invalid(`A room holds at most ${maxOrders} orders.`);
    if (isForeign && (await countForeignRooms(tx, order, maxForeignRooms)) === maxForeignRooms)
      throw invalid(`An order is in at most ${maxForeignRooms} rooms of other firms.`);
    await insertAttachment(tx, room.id, order.id, label, at);
    await audit(topic, { orderId: order.id });
    const eventId = sealed("event", `${topic}:${room.code}:${order.code}`);
    await tx.query(eventRow({ at, topic, eventId, partnerId, environment, subject: order.code, roomId: room.id }));
    return { ok: true, alreadyAttached: false };
  });
}

/** Takes an order out of the room; it may come back. @throws ServiceError for an unknown room or order, or one not in it. */
export async function detachOrder(
  { db, clock }: RoomDeps,
  principal: Principal,
  roomCode: string,
  orderCode: string,
): Promise<RoomChanged> {
  return db.transaction(async (tx) => {
    const { room, at, audit } = await beginChange(tx, clock, principal, roomCode);
    const orderId = isCode(orderCode) ? await findOrderId(tx, orderCode, principal.environment) : undefined;
    if (orderId === undefined) throw orderNotFound();
    if (!(await deleteAttachment(tx, room.id, orderId, at)))
      throw new ServiceError("not_found", "That order is not in this room.");
    await audit("room.order_detached", { orderId });
    return { ok: true };
  });
}

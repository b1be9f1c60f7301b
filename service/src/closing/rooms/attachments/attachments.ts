import { eventRow } from "../../../kernel/events/events.ts";
import type { Owner, Principal } from "../../../kernel/identity/identity.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { isCode } from "../../../kernel/platform/text.ts";
import { orderNotFound } from "../../../orders/order/order.ts";
import { findSessionsLater, leaveSessionsOf } from "../../../signing/envelopes/envelopes.ts";
import { beginChange, type RoomChange, type RoomDeps } from "../begin-change.ts";
import type { NewAttachment } from "../fields.ts";
import type { RoomChanged } from "../schemas.ts";
import { sealAgain } from "../seal-wish.ts";
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
// Anyone with an order's code may attach the order to rooms. Each change of the order updates the views of all these
// rooms. The limit bounds that work.
const maxForeignRooms = 100;
const topic = "room.order_attached";

/**
 * Adds an order to the room. Having the order's code is enough, but order and room must belong to the same environment.
 * Attaching an order again changes nothing, not even its label, and succeeds even in a closed or full room.
 * @throws ServiceError for an unknown room or order, a closed or full room, and another firm's order that is in too
 * many rooms of other firms
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
    const change = await beginChange(tx, clock, principal, roomCode);
    const { room } = change;
    if (!order) throw orderNotFound();
    if (await isAttached(tx, room.id, order.id)) return { ok: true, alreadyAttached: true };
    if (room.status !== "open") throw invalid("This room is closed.");
    if (room.orderCount >= maxOrders) throw invalid(`A room holds at most ${maxOrders} orders.`);
    if (isForeign && (await countForeignRooms(tx, order, maxForeignRooms)) === maxForeignRooms)
      throw invalid(`An order is in at most ${maxForeignRooms} rooms of other firms.`);
    await attachIn(tx, change, { partnerId, environment }, { ...order, label });
    await findSessionsLater(tx, order.id);
    return { ok: true, alreadyAttached: false };
  });
}

/** Adds an order to a locked room. The transaction must have locked or written the order. */
export async function attachIn(
  tx: Tx,
  { room, at, audit }: RoomChange,
  owner: Owner,
  { id: orderId, code, label }: { id: number; code: string; label: string | null },
): Promise<void> {
  await insertAttachment(tx, room.id, orderId, label, at);
  await sealAgain(tx, room.id);
  await audit(topic, { orderId });
  const eventId = `${topic}:${room.code}:${code}`;
  await tx.query(eventRow({ at, topic, eventId, ...owner, subject: code, orderId, roomId: room.id }));
}

/**
 * Removes an order from the room; it may be added again.
 * @throws ServiceError for an unknown room or order, or an order that is not in the room
 */
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
    await leaveSessionsOf(tx, orderId, room.id, at);
    await audit("room.order_detached", { orderId });
    return { ok: true };
  });
}

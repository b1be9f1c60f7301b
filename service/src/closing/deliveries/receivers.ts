/**
 * People to whom final documents are sent once the documents are finished. The member chose these people when placing
 * the closing. Documents that are finished within ten minutes are sent together.
 */

import { auditLine } from "../../kernel/audit/audit.ts";
import { actorOf, type Principal } from "../../kernel/identity/identity.ts";
import { type Clock, minuteMs } from "../../kernel/platform/clock.ts";
import type { Database, Tx } from "../../kernel/platform/database/database.ts";
import { nothing, sql } from "../../kernel/platform/database/sql.ts";
import { nullIfAltered } from "../../kernel/platform/database/state-mac.ts";
import type { Log } from "../../kernel/platform/logs.ts";
import type { RowMac } from "../../kernel/platform/row-mac.ts";
import { isCode } from "../../kernel/platform/text.ts";
import { type EmailMove, hasEmailOf, joinOrder, type MovedInRooms } from "../../orders/order/order.ts";
import {
  isOpenRoom,
  lockRoomsOf,
  moveParticipant,
  type Receiver,
  replaceParticipant,
  roomIdsOf,
  roomNotFound,
  roomsLeftBy,
} from "../rooms/rooms.ts";
import { deliverablesOf } from "./contents.ts";
import { notFound } from "./link.ts";
import { endWait, holdOpenRoom, isWithdrawn, waitingReceivers, writeReceivers } from "./receiver-store.ts";
import { moveDeliveries, writeDelivery } from "./send.ts";
import { lockDeliveries, ordersById, roomByCode, roomById } from "./store.ts";

/**
 * Ends the wait of a person for documents of a room, so that none of them is sent to that person automatically.
 * @throws ServiceError `not_found` when the person waits for no document of the room
 */
export async function endReceiver(
  { db, clock }: { db: Database; clock: Clock },
  principal: Principal,
  { roomCode, email }: { roomCode: string; email: string },
): Promise<void> {
  const room = isCode(roomCode) ? await roomByCode(db, roomCode, principal) : undefined;
  if (!room) throw roomNotFound();
  const { id: roomId } = room;
  await db.transaction(async (tx) => {
    const at = clock();
    await lockDeliveries(tx, roomId);
    const own = (await waitingReceivers(tx, roomId)).filter((each) => each.email === email);
    if (own.length === 0) throw notFound();
    for (const { id } of own) await endWait(tx, id, at, null);
    const detail = { room: roomId, documents: own.length };
    const { partnerId } = principal;
    await tx.query(auditLine({ at, action: "delivery.unasked", actor: actorOf(principal), partnerId, detail }));
  });
}

/**
 * Replaces an email address in the firm's rooms that contain one of the orders. Applies to participants, to people who
 * wait for documents, and to deliveries whose links work. In rooms that contained one of the orders only earlier,
 * replaces only links that open a document of these orders. The caller must have locked the orders.
 * @param of.roomId a room of the same firm that is included even if it contains none of the orders; null for none
 */
export async function moveInRooms(
  tx: Tx,
  of: { orderIds: readonly number[]; roomId: string | null },
  move: EmailMove,
  by: { actor: string; at: Date },
): Promise<MovedInRooms> {
  const leftIds = (await roomsLeftBy(tx, of.orderIds)).map(({ id }) => id);
  // Locks the deliveries of each room before the rooms themselves, as `sendTo` does. In another sequence, the two could
  // deadlock.
  for (const id of [...new Set([...(await roomIdsOf(tx, of)), ...leftIds])].sort()) await lockDeliveries(tx, id);
  const rooms = await lockRoomsOf(tx, of);
  // Read after the locks: an order may have been detached in the meantime.
  const left = (await roomsLeftBy(tx, of.orderIds)).filter(({ id }) => rooms.every((room) => room.id !== id));
  const moved: MovedInRooms[] = [];
  for (const room of rooms) {
    moved.push({ isMoved: await moveReceivers(tx, room, move, by), isUnmailed: false });
    moved.push(await moveDeliveries(tx, room, move, by));
    moved.push(await moveParticipant(tx, room, move, by));
  }
  for (const room of left) moved.push(await moveDeliveries(tx, { ...room, orderIds: of.orderIds }, move, by));
  return {
    isMoved: moved.some(({ isMoved }) => isMoved),
    isUnmailed: moved.some(({ isUnmailed }) => isUnmailed),
  };
}

/**
 * If the former signer waits for documents of these orders, the new signer waits for them instead. In each room, the
 * new signer also replaces the former signer as a participant. The former signer stays a participant of a room in which
 * they still sign or wait for other documents. The caller must have locked the orders, and changed their signers.
 */
export async function replaceInRooms(
  tx: Tx,
  orderIds: readonly number[],
  { former, person }: { former: Receiver; person: Receiver },
  { actor, partnerId, at }: { actor: string; partnerId: string; at: Date },
): Promise<void> {
  const isFormer = (each: Receiver) => hasEmailOf({ from: former.email, to: person.email, name: former.name }, each);
  if (isFormer(person)) return;
  const of = { orderIds, roomId: null };
  const roomIds = await roomIdsOf(tx, of);
  for (const roomId of roomIds) await lockDeliveries(tx, roomId);
  // If one of the rooms was altered, no participants are replaced, but the documents still go to the new signer. An
  // altered room lists nobody until an operator has looked at it.
  const rooms = await lockRoomsOf(tx, of).catch(nullIfAltered);
  for (const roomId of roomIds) {
    const waiting = await waitingReceivers(tx, roomId);
    const own = waiting.filter((each) => orderIds.includes(each.orderId) && isFormer(each));
    await passOn(tx, roomId, own, () => person, at);
    const room = rooms?.find(({ id }) => id === roomId);
    // The removal of a participant would withdraw the other documents that go to the same address.
    const isWaiting = waiting.some((each) => !own.includes(each) && each.email === former.email.toLowerCase());
    if (room && !isWaiting) await replaceParticipant(tx, room, { former, person }, { actor, at });
    if (own.length === 0) continue;
    const detail = { room: roomId, documents: own.length };
    await tx.query(auditLine({ at, action: "delivery.receiver_replaced", actor, partnerId, detail }));
  }
}

/**
 * Ends the wait of these people. For each wait that the firm did not withdraw, the person that `to` returns waits
 * instead.
 */
async function passOn(
  tx: Tx,
  roomId: string,
  waiting: Awaited<ReturnType<typeof waitingReceivers>>,
  to: (former: Receiver) => Receiver,
  at: Date,
): Promise<void> {
  for (const { id, orderId, askedBy, isWithdrawn, ...former } of waiting) {
    await endWait(tx, id, at, null);
    if (!isWithdrawn) await writeReceivers(tx, { roomId, orderId, by: askedBy, at }, [to(former)]);
  }
}

/**
 * Replaces the earlier email address of people who wait for documents of the room.
 * @returns true if somebody with the earlier address waited
 */
async function moveReceivers(
  tx: Tx,
  { id: roomId, partnerId }: { id: string; partnerId: string },
  move: EmailMove,
  { actor, at }: { actor: string; at: Date },
): Promise<boolean> {
  const own = (await waitingReceivers(tx, roomId)).filter((each) => hasEmailOf(move, each));
  if (own.length === 0) return false;
  await passOn(tx, roomId, own, ({ name }) => ({ name, email: move.to }), at);
  const detail = { room: roomId, documents: own.length };
  await tx.query(auditLine({ at, action: "delivery.receiver_corrected", actor, partnerId, detail }));
  return true;
}

/** The statuses in which the wait for an order's document ends. The document is sent only in status Completed. */
const over: readonly string[] = ["Completed", "Cancelled", "Refunded"];
const mergedMs = 10 * minuteMs;
const maxAtOnce = 100;
const storedDays = 14;

type Deps = { db: Database; clock: Clock; rowMac: RowMac; log: Log };

/**
 * Sends documents to people who wait for them: ten minutes after one document is done, or at once when all documents of
 * a person are done. A closed room sends nothing until it is open again. A crash loses nothing and sends nothing twice,
 * because the delivery and the end of the wait are committed together.
 */
export async function sendToReceivers(deps: Deps, stopping: AbortSignal): Promise<void> {
  const { db, clock, log } = deps;
  const before = new Date(clock().getTime() - mergedMs);
  let after = nothing;
  for (let isMore = true; isMore; ) {
    const due = await db.query<{ roomId: string; email: string }>(sql`
      SELECT r.room_id AS "roomId", r.email FROM closing_receivers r ${joinOrder(sql`r.order_id`)}
      WHERE r.ended_at IS NULL AND ${isOpenRoom(sql`r.room_id`)} ${after} GROUP BY r.room_id, r.email
      HAVING bool_and(o.status = ANY (${over}::text[])) OR bool_or(o.status = ANY (${over}::text[]) AND o.updated_at < ${before})
        OR bool_or(${isWithdrawn})
      ORDER BY r.room_id, r.email LIMIT ${maxAtOnce}`);
    for (const { roomId, email } of due) {
      if (stopping.aborted) return;
      // Logs an altered row of one room, so that it does not delay the other rooms.
      await db
        .transaction((tx) => sendTo(tx, deps, roomId, email))
        .catch((error: unknown) => log.error({ err: error, room: roomId }, "a closing's documents were not sent"));
      // The query continues after this person. Otherwise it would find the same altered rows again, because they stay
      // due.
      after = sql`AND (r.room_id, r.email) > (${roomId}, ${email})`;
    }
    isMore = due.length === maxAtOnce;
  }
}

async function sendTo(tx: Tx, { clock, rowMac }: Deps, roomId: string, email: string): Promise<void> {
  const at = clock();
  await lockDeliveries(tx, roomId);
  if (!(await holdOpenRoom(tx, roomId))) return;
  const own = (await waitingReceivers(tx, roomId)).filter((each) => each.email === email);
  const [receiver] = own;
  const room = receiver && (await roomById(tx, roomId));
  if (!receiver || !room) return;
  const withdrawn = own.filter((each) => each.isWithdrawn);
  for (const { id } of withdrawn) await endWait(tx, id, at, null);
  // This transaction only ends the withdrawn waits. The next run decides whether the person's other documents are sent.
  if (withdrawn.length > 0) return;
  const ids = own.map(({ orderId }) => orderId);
  const rows = (await ordersById(tx, ids, room.partnerId)).filter(({ status }) => over.includes(status));
  const ended = deliverablesOf({ rowMac, titleOf: () => null }, rows, room.reference);
  const orders = ended.filter(
    ({ status, final }) => status === "Completed" && final !== null && final.deletedAt === null,
  );
  const recipient = { recipientName: receiver.name, recipientEmail: email };
  const delivery = {
    ...recipient,
    days: storedDays,
    asksCode: true,
    certificateSha256: null,
    actor: receiver.askedBy,
    at,
  };
  const deliveryId = orders.length > 0 ? await writeDelivery(tx, room, orders, delivery) : null;
  const sent = new Set(orders.map(({ id }) => id));
  for (const { id, orderId } of own)
    if (ended.some((each) => each.id === orderId)) await endWait(tx, id, at, sent.has(orderId) ? deliveryId : null);
}

import { actorOf, type Principal } from "../../kernel/identity/identity.ts";
import type { Tx } from "../../kernel/platform/database/database.ts";
import type { RecordResult } from "../../kernel/platform/idempotency.ts";
import { newCode } from "../../kernel/platform/ids.ts";
import { enqueue } from "../../kernel/platform/jobs/jobs.ts";
import { firmChargeQueue, firmWaitQueue, type NewOrder, writeOrder } from "../../orders/order/order.ts";
import { attachIn } from "./attachments/attachments.ts";
import { holdOrder } from "./attachments/store.ts";
import { beginChange, type RoomDeps } from "./begin-change.ts";
import type { NewParticipant, NewRoom } from "./fields.ts";
import { createRoomIn } from "./lifecycle.ts";
import { addIn, inviteIn } from "./participants/participants.ts";
import { askForSeal } from "./seal-wish.ts";

/** A closing that is not placed yet: its room, the people in it, and its orders, which were checked and priced. */
export type NewClosing = {
  room: NewRoom;
  /** True if the service seals the closing's certificate once every order has ended and at least one is completed. */
  sealsWhenDone: boolean;
  people: readonly (NewParticipant & { isInvited: boolean })[];
  documents: readonly { order: NewOrder; label: string; receivers: readonly Receiver[] }[];
  /**
   * The payment method that is charged automatically if the firm pays: null for none, undefined for the firm's active
   * method.
   */
  methodToCharge?: string | null | undefined;
};

/** A person who will be sent a final document. */
export type Receiver = { name: string; email: string };

/** Callbacks that write further rows in the transaction of a closing. */
type WithClosing = {
  /** Stores the result under the request's idempotency key. */
  record: RecordResult;
  /** Records the people who will be sent the final document of an order. */
  receive: (
    tx: Tx,
    of: { roomId: string; orderId: number; by: string; at: Date },
    receivers: readonly Receiver[],
  ) => Promise<void>;
};

/**
 * Places a closing in one transaction: either all of its orders, its room and its people are written, or nothing.
 * @throws ServiceError when the quota of open rooms is used up, or another order has used one of the documents
 */
export function placeClosing(
  { db, clock }: RoomDeps,
  principal: Principal,
  { room, sealsWhenDone, people, documents, methodToCharge: methodId }: NewClosing,
  { record, receive }: WithClosing,
): Promise<{ roomCode: string }> {
  const closingCode = { roomCode: newCode() };
  return db.transaction(async (tx) => {
    // Runs first, so that a duplicate request waits here for the original one and then gets its closing. Otherwise the
    // duplicate would fail, because its documents are already used.
    await record(tx, closingCode);
    for (const { order } of documents) await writeOrder(tx, { ...order, isChargedWithOthers: true });
    await createRoomIn(tx, clock, principal, { ...room, code: closingCode.roomCode });
    const change = await beginChange(tx, clock, principal, closingCode.roomCode);
    if (sealsWhenDone) await askForSeal(tx, { roomId: change.room.id, by: actorOf(principal), at: change.at });
    for (const [index, { isInvited, ...person }] of people.entries()) {
      // The participants' times differ by a millisecond, because lists of participants are sorted by them.
      const at = new Date(change.at.getTime() + index);
      await (isInvited ? inviteIn : addIn)(tx, { ...change, at }, person);
    }
    const charged: number[] = [];
    for (const { order, label, receivers } of documents) {
      const held = await holdOrder(tx, order.code, principal.environment);
      if (!held) throw new Error("an order that was just written is missing");
      const { partnerId, environment } = principal;
      await attachIn(tx, change, { partnerId, environment }, { ...held, label });
      const of = { roomId: change.room.id, orderId: held.id, by: actorOf(principal), at: change.at };
      await receive(tx, of, receivers);
      if (order.form.payBy === "firm" && order.status === "QuoteReady") charged.push(held.id);
    }
    // All orders that the firm pays and that have a price become one charge. If a person must price an order first, the
    // order gets its own charge later, when somebody of the firm agrees to the price.
    if (charged.length > 0)
      await (methodId === null
        ? enqueue(tx, firmWaitQueue, { orderIds: charged })
        : enqueue(tx, firmChargeQueue, { orderIds: charged, ...(methodId !== undefined && { methodId }) }));
    return closingCode;
  });
}

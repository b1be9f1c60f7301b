import type { Owner } from "../../kernel/identity/identity.ts";
import type { Sql, Tx } from "../../kernel/platform/database/database.ts";
import { nullIfAltered } from "../../kernel/platform/database/state-mac.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import type { RowMac } from "../../kernel/platform/row-mac.ts";
import {
  type CorrectedPeople,
  correctionsOf,
  type EmailMove,
  isOrderOf,
  isPayable,
  type LockedOrder,
  lockOwnOrder,
  lockUnalteredOrders,
  type MovedInRooms,
  type MovedPeople,
  mailClient,
  moveEmail,
  orderCodes,
  readSigning,
  recordCorrection,
  whenDocumentsWereDeleted,
} from "../order/order.ts";
import { hasNoLinks, whyNotAgainToday, whyNotMoved } from "./allowed.ts";
import { emailChangesIn } from "./store.ts";

export type PeopleDeps = {
  /** The firm's closings that contain the order, each with the ids of the firm's orders in it. */
  closingsOf: (db: Sql, orderId: number) => Promise<readonly { orders: readonly number[] }[]>;
  /**
   * Replaces the email address of participants and of people who are sent documents. Changes the firm's rooms that
   * contain the orders, and the room `roomId`. In a room that contained an order only earlier, changes only links to
   * that order.
   */
  moveInRooms: (
    tx: Tx,
    of: { orderIds: readonly number[]; roomId: string | null },
    move: EmailMove,
    by: By,
  ) => Promise<MovedInRooms>;
  /**
   * Replaces the email address of signers in locked orders, and ends the links that were mailed to the earlier address.
   * People who have not signed are changed only in `movable` orders. People who have signed get new links, but their
   * records keep the earlier address. Leaves out an envelope that is being signed in a notary's presence.
   */
  moveSigners: (
    tx: Tx,
    of: { orders: readonly LockedOrder[]; movable: ReadonlySet<number> },
    move: EmailMove,
    by: By,
  ) => Promise<{
    people: ReadonlyMap<number, { moved: readonly string[]; signed: readonly string[] }>;
    /** The ids of the orders in which nobody was changed, because a row about their signers was altered. */
    altered: ReadonlySet<number>;
  }>;
  /**
   * Ends the links to appointments and identity checks that these people of the order had at the earlier address. Mails
   * new links to appointments, once the order waits for a notary. The order must be locked, and its correction
   * recorded.
   */
  renewNotaryLinks: (tx: Tx, orderId: number, people: CorrectedPeople, at: Date) => Promise<void>;
};

/**
 * `corrected`: the codes of the orders in which an email address was replaced. `altered`: those left out, because their
 * record was altered in the database. `isUnmailed`: a room's link was not mailed to the new address, because the room
 * reached its daily limit of mails.
 */
export type CorrectedOrders = { corrected: readonly string[]; altered: readonly string[]; isUnmailed: boolean };

type By = { actor: string; at: Date };

/**
 * Locks the order, and all orders of the firm that are in a closing with it.
 * @returns `altered`: the codes of those that were left out, because their row was altered
 * @throws ServiceError `not_found` for an order of another owner, and `conflict` when an order was added to the closing
 * meanwhile
 */
export async function lockWithClosing(
  tx: Tx,
  { closingsOf }: Pick<PeopleDeps, "closingsOf">,
  owner: Owner,
  { id, code }: { id: number; code: string },
): Promise<{ order: LockedOrder; others: LockedOrder[]; altered: string[] }> {
  const idsNow = async () =>
    [...new Set((await closingsOf(tx, id)).flatMap(({ orders }) => orders))].filter((each) => each !== id);
  const ids = await idsNow();
  const codes = [...(await orderCodes(tx, ids)).values()];
  const locked = await lockUnalteredOrders(tx, [code, ...codes]);
  if ((await idsNow()).some((each) => !ids.includes(each)))
    throw new ServiceError("conflict", "The closing was changed at the same time. Try again.");
  // `lockOwnOrder` is called here to verify the owner. The order itself is already locked.
  const order = await lockOwnOrder(tx, owner, code);
  const altered = codes.filter((each) => locked.every((other) => other.code !== each));
  return { order, others: locked.filter((each) => each.id !== id && isOrderOf(owner, each)), altered };
}

/**
 * Replaces the earlier address in all of the locked orders. Links that were mailed to that address end at once, and new
 * ones are mailed. A signature that was made under the earlier address still states it. People who have not signed also
 * keep that address while a notary identifies their order's client. In a canceled order, everybody keeps it, too.
 * @param of.roomId a room of the firm in which the address is replaced, even if it contains none of the orders
 * @returns the orders that were changed; `isChanged` is true also if only a participant of a room was changed
 */
export async function correctEmail(
  tx: Tx,
  { moveSigners, moveInRooms, renewNotaryLinks, rowMac }: Omit<PeopleDeps, "closingsOf"> & { rowMac: RowMac },
  { locked, roomId = null }: { locked: readonly LockedOrder[]; roomId?: string | null },
  move: EmailMove,
  by: By,
): Promise<CorrectedOrders & { isChanged: boolean }> {
  const withLinks = locked.filter((order) => !hasNoLinks(order)).sort((one, other) => one.id - other.id);
  // An order with an altered record must stay unchanged, so all records are read before the first change.
  const orders = await withIntactRecords(tx, rowMac, withLinks);
  const movable = new Set(orders.filter((order) => whyNotMoved(order) === null).map(({ id }) => id));
  // The rooms are changed before the envelopes. All code locks them in this sequence, to avoid deadlocks.
  const orderIds = locked.map(({ id }) => id);
  const { isMoved, isUnmailed } = await moveInRooms(tx, { orderIds, roomId }, move, by);
  // The envelopes are changed before the orders. This step refuses the whole correction if another signer already has
  // the same name and the new address.
  const { people: inEnvelopes, altered: unmoved } = await moveSigners(tx, { orders, movable }, move, by);
  const intact = orders.filter(({ id }) => !unmoved.has(id));
  const corrected: string[] = [];
  for (const order of intact) {
    const nobody = { client: false, signers: [], left: [] };
    const inOrder = movable.has(order.id) ? await moveEmail(tx, rowMac, order.id, move) : nobody;
    const people = { ...inOrder, ...(inEnvelopes.get(order.id) ?? { moved: [], signed: inOrder.left }) };
    if (await record(tx, order, people, { move, by })) {
      corrected.push(order.code);
      await renewNotaryLinks(tx, order.id, { names: namesOf(people, move), email: move.to }, by.at);
    }
    if (people.client) await mailNewAddress(tx, order, by);
  }
  return {
    corrected,
    altered: withLinks.filter((order) => !intact.includes(order)).map(({ code }) => code),
    isUnmailed,
    isChanged: isMoved || corrected.length > 0,
  };
}

/** The locked orders without those whose signers or corrections were altered. */
async function withIntactRecords(tx: Tx, rowMac: RowMac, orders: readonly LockedOrder[]): Promise<LockedOrder[]> {
  const intact: LockedOrder[] = [];
  for (const order of orders) {
    const signing = await readSigning(tx, rowMac, order.id).catch(nullIfAltered);
    const corrections = await correctionsOf(tx, order.id).catch(nullIfAltered);
    if (signing && corrections) intact.push(order);
  }
  return intact;
}

type People = Omit<MovedPeople, "left"> & { moved: readonly string[]; signed: readonly string[] };

const namesOf = ({ client, signers, moved, signed }: People, { to }: EmailMove): ReadonlySet<string> =>
  new Set([...signers.map(({ name }) => name), ...moved, ...signed, ...(client ? [to] : [])]);

/**
 * Records the correction. If the client's address changed, writes one record. It names the signers who had already
 * signed, and the signers whose address changed before they signed. If the client's address did not change, writes one
 * record for each person whose address changed.
 * @returns true if anybody's address changed
 */
async function record(
  tx: Tx,
  order: LockedOrder,
  people: People,
  { move, by }: { move: EmailMove; by: By },
): Promise<boolean> {
  const { client, signers, moved, signed } = people;
  const { from, to } = move;
  if (!client && signers.length + moved.length + signed.length === 0) return false;
  const refusal = whyNotAgainToday(emailChangesIn(await correctionsOf(tx, order.id), by.at));
  if (refusal !== null) throw new ServiceError("conflict", refusal);
  if (client) {
    const unsigned = [...new Set([...signers.map(({ name }) => name), ...moved])];
    // `moved` is always recorded, because a record without it counts as one of an earlier release.
    const after = { email: to, ...(signed.length > 0 && { signed }), moved: unsigned };
    await recordCorrection(tx, order, { kind: "email", before: { email: from }, after, ...by });
    return true;
  }
  for (const name of namesOf(people, move)) {
    const after = { name, email: to, ...(signed.includes(name) && { signed: [name] }) };
    await recordCorrection(tx, order, { kind: "signer", before: { name, email: from }, after, ...by });
  }
  return true;
}

/** Mails the client's links again, to the new address, if they are still useful. */
async function mailNewAddress(tx: Tx, { id, status }: LockedOrder, { at }: By): Promise<void> {
  if (isPayable(status)) await mailClient(tx, id, "quote_ready", at, { isRepeated: true });
  if (status === "Completed" && (await whenDocumentsWereDeleted(tx, id)) === null)
    await mailClient(tx, id, "completed", at, { isRepeated: true });
}

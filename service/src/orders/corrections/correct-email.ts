import type { Owner } from "../../kernel/identity/identity.ts";
import type { Sql, Tx } from "../../kernel/platform/database/database.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import type { RowMac } from "../../kernel/platform/row-mac.ts";
import { type LockedOrder, lockOrders, moveEmail, orderCodes, recordCorrection } from "../order/order.ts";
import { whyNotMoved } from "./allowed.ts";
import { lockOwnOrder } from "./store.ts";

export type PeopleDeps = {
  /** The firm's closings that contain the order, each with the ids of the firm's orders in it. */
  closingsOf: (db: Sql, orderId: number) => Promise<readonly { orders: readonly number[] }[]>;
  /**
   * Replaces the address of participants in the firm's rooms that contain the orders. Returns false when no participant
   * had it.
   */
  moveParticipants: (tx: Tx, orderIds: readonly number[], move: Move) => Promise<boolean>;
  /**
   * Replaces the address of people who have not signed, in the open envelopes of locked orders. Revokes their earlier
   * links at once.
   */
  moveSigners: (
    tx: Tx,
    orders: readonly LockedOrder[],
    move: Move,
    by: By,
  ) => Promise<ReadonlyMap<number, { moved: readonly string[]; signed: readonly string[] }>>;
};

type Move = { from: string; to: string };
type By = { actor: string; at: Date };

/** Locks the order, and all orders of the firm that are in a closing with it. @throws ServiceError */
export async function lockWithClosing(
  tx: Tx,
  { closingsOf }: Pick<PeopleDeps, "closingsOf">,
  owner: Owner,
  { id, code }: { id: number; code: string },
): Promise<{ order: LockedOrder; others: LockedOrder[] }> {
  const idsNow = async () =>
    [...new Set((await closingsOf(tx, id)).flatMap(({ orders }) => orders))].filter((each) => each !== id);
  const ids = await idsNow();
  const locked = await lockOrders(tx, [code, ...(await orderCodes(tx, ids)).values()]);
  if ((await idsNow()).some((each) => !ids.includes(each)))
    throw new ServiceError("conflict", "The closing was changed at the same time. Try again.");
  // The order is already locked. `lockOwnOrder` verifies its owner.
  const order = await lockOwnOrder(tx, owner, code);
  return { order, others: locked.filter((each) => each.id !== id && isOf(owner, each)) };
}

export const isOf = ({ partnerId, environment }: Owner, order: LockedOrder): boolean =>
  order.partnerId === partnerId && order.environment === environment;

/**
 * Replaces the earlier address in all of the locked orders whose status allows it. Existing signatures keep the earlier
 * address.
 * @returns whether anything was changed
 */
export async function correctEmail(
  tx: Tx,
  { moveSigners, moveParticipants, rowMac }: Omit<PeopleDeps, "closingsOf"> & { rowMac: RowMac },
  orders: readonly LockedOrder[],
  move: Move,
  by: By,
): Promise<boolean> {
  const { from, to } = move;
  const movable = orders.filter((order) => whyNotMoved(order) === null).sort((one, other) => one.id - other.id);
  // All code locks rooms before envelopes, to avoid deadlocks.
  const ids = orders.map(({ id }) => id);
  let isChanged = await moveParticipants(tx, ids, move);
  // Changes the envelopes first, because this step refuses the whole correction if another signer already has the same
  // name and the new address.
  const inEnvelopes = await moveSigners(tx, movable, move, by);
  for (const order of movable) {
    const { client, signers, left } = await moveEmail(tx, rowMac, order.id, move);
    const envelope = inEnvelopes.get(order.id);
    const signed = envelope?.signed ?? left;
    const after = { email: to, ...(signed.length > 0 && { signed }) };
    if (client) await recordCorrection(tx, order, { kind: "email", before: { email: from }, after, ...by });
    isChanged ||= client || signers.length > 0 || (envelope?.moved.length ?? 0) > 0;
    const moved = [...signers.map(({ name }) => name), ...(envelope?.moved ?? [])];
    for (const name of client ? [] : moved)
      await recordCorrection(tx, order, {
        kind: "signer",
        before: { name, email: from },
        after: { name, ...after },
        ...by,
      });
  }
  return isChanged;
}

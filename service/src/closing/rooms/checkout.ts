import type { Environment, Owner, Principal } from "../../kernel/identity/identity.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { isSealed, type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { isServiceError, ServiceError } from "../../kernel/platform/errors.ts";
import { isCode } from "../../kernel/platform/text.ts";
import { type SandboxDeps, type SandboxOutcome, sandboxGroupCheckout } from "../../orders/fulfilment/fulfilment.ts";
import {
  clientEmailOf,
  fromOrders,
  hasOrderCode,
  joinOrder,
  orderNotFound,
  type Payer,
} from "../../orders/order/order.ts";
import {
  type ChargeDeps,
  type CheckoutDeps,
  chargeGroup,
  type GroupCharge,
  type GroupChargeEnd,
  isLossOfFirm,
  letClientsPay,
  type Member,
  type SharedCheckout,
  type ShownOrder,
  sharedCheckout,
} from "../../orders/payments/payments.ts";
import { closingFirst } from "./attachments/store.ts";
import { roomNotFound } from "./begin-change.ts";
import { verifiedRoom } from "./store.ts";

export type Group = { id: string; environment: Environment; name: string };

async function roomOf(db: Sql, roomCode: string, { partnerId, environment }: Owner): Promise<Group> {
  const [room] = isCode(roomCode)
    ? await db.query<Group>(sql`
        SELECT r.id, r.environment, r.name, ${verifiedRoom} FROM rooms r
        WHERE ${isSealed(sql`r.code`, "room", roomCode)} AND r.partner_id = ${partnerId} AND r.environment = ${environment}`)
    : [];
  if (!room) throw roomNotFound();
  return room;
}

/** The room of the order's own firm that comes first by `closingFirst`; undefined for none. */
export async function roomOfOrder(db: Sql, orderCode: string): Promise<Group | undefined> {
  const [room] = await db.query<Group>(sql`
    SELECT r.id, r.environment, r.name, ${verifiedRoom}
    ${fromOrders} JOIN room_orders a ON a.order_id = o.id
      JOIN rooms r ON r.id = a.room_id AND r.partner_id = o.partner_id AND r.environment = o.environment
    WHERE ${hasOrderCode(orderCode)} ORDER BY ${closingFirst} LIMIT 1`);
  return room;
}

/**
 * The orders of the room that the room's own firm placed, in the order of the room's list. Other firms' orders are
 * never paid with them.
 */
export const membersOf =
  (roomId: string, which: Statement) =>
  (db: Sql): Promise<Member[]> =>
    db.query<Member>(sql`
      SELECT o.id, o.code AS "code@order"
      FROM rooms r JOIN room_orders a ON a.room_id = r.id ${joinOrder(sql`a.order_id`)} AND o.partner_id = r.partner_id
      WHERE r.id = ${roomId} AND ${which} ORDER BY a.position`);

const all = sql`true`;

const paidBy = (payer: Payer): Statement => sql`o.pay_by = ${payer}`;

/**
 * SQL condition: the order is paid by the client of the order `orderCode`. The holder of one client's link must not see
 * the prices of other clients. Leaves out orders for which the firm must replace a payment that a bank took back.
 */
export const ofSameClient = (orderCode: string) =>
  sql`o.pay_by = 'client' AND lower(o.customer_email) = ${clientEmailOf(orderCode)} AND NOT ${isLossOfFirm}`;

/**
 * Opens one checkout for the room's payable orders: those that the room's own firm placed and that one payer pays.
 * @param asked selects the orders by their payer. By default the client, or the firm if no client's order can be paid
 * now
 * @param payer the payer at the checkout. It can be the firm even for a client's orders. By default, the payer of the
 * selected orders
 * @throws ServiceError `not_found` for an unknown room, `not_payable` when no order is payable, and the errors of a
 * checkout for one order
 */
export async function roomCheckout(
  deps: CheckoutDeps,
  owner: Owner,
  roomCode: string,
  asked?: Payer,
  payer?: Payer,
): Promise<RoomCheckout> {
  const { id, environment } = await roomOf(deps.db, roomCode, owner);
  const of = (payBy: Payer) => membersOf(id, paidBy(payBy));
  const open = async (payBy: Payer): Promise<RoomCheckout> => ({
    ...(await sharedCheckout(deps, { groupId: id, environment, payer }, of(payBy))),
    payBy,
  });
  const paysNothing = async (payBy: Payer) => (await of(payBy)(deps.db)).length === 0;
  try {
    return await open(asked ?? "client");
  } catch (refusal) {
    if (!isServiceError(refusal, "not_payable")) throw refusal;
    if (asked !== undefined) throw (await paysNothing(asked)) ? notPayable(paysNoOrder[asked]) : refusal;
    // The client's orders can't be paid now, for example because a bank is still moving money. So tries the firm's
    // orders. If these can't be paid either, throws the error about the client's orders. If the client pays no order,
    // throws the error about the firm's orders.
    return open("firm").catch(async (error: unknown) => {
      throw isServiceError(error, "not_payable") && !(await paysNothing("client")) ? refusal : error;
    });
  }
}

/**
 * The orders of the room that its own firm placed and that this payer pays.
 * @throws ServiceError for an unknown room
 */
async function membersToPay(db: Sql, owner: Owner, roomCode: string, payBy: Payer): Promise<Member[]> {
  const { id } = await roomOf(db, roomCode, owner);
  return membersOf(id, paidBy(payBy))(db);
}

const notPayable = (message: string) => new ServiceError("not_payable", message);

const paysNoOrder: Readonly<Record<Payer, string>> = {
  client: "No order of this room is paid by a client. For those that your firm pays, use pay_by=firm.",
  firm: "No order of this room is paid by your firm. For those that a client pays, use pay_by=client.",
};

type RoomCheckout = SharedCheckout & {
  /** The payer whose orders this checkout covers. */
  payBy: Payer;
};

/**
 * Charges the firm's card or bank account once for all payable orders of the room that the firm pays: either all of
 * them, or none. Leaves out free orders, and those whose payment a bank took back.
 * @throws ServiceError `not_found` for an unknown room, and the errors of `chargeGroup`
 */
export async function roomCharge<Result extends GroupCharge>(
  deps: ChargeDeps,
  principal: Principal,
  roomCode: string,
  end: GroupChargeEnd<Result>,
): Promise<Result> {
  const { id } = await roomOf(deps.db, roomCode, principal);
  return chargeGroup(deps, principal, membersOf(id, all), end);
}

/**
 * Makes the clients the payers of the orders that the room's page showed, in place of the firm. Changes all of these
 * orders or none.
 */
export async function letRoomsClientsPay(
  deps: CheckoutDeps,
  principal: Principal,
  roomCode: string,
  shown: readonly ShownOrder[],
): Promise<void> {
  const { id } = await roomOf(deps.db, roomCode, principal);
  await letClientsPay(deps, principal, membersOf(id, all), shown);
}

/** Opens one checkout for all payable orders of the order's client in the order's room. */
export async function clientCheckout(deps: CheckoutDeps, orderCode: string): Promise<SharedCheckout> {
  const room = isCode(orderCode) ? await roomOfOrder(deps.db, orderCode) : undefined;
  if (!room) throw orderNotFound();
  const group = { groupId: room.id, environment: room.environment, by: "client" } as const;
  return sharedCheckout(deps, group, membersOf(room.id, ofSameClient(orderCode)));
}

/** By default, `payBy` is the client, or the firm if the room has no order that a client pays. */
type SandboxAsked = { principal: Principal; roomCode: string; attempt: string; payBy?: Payer | undefined };

/**
 * Simulates one payment for the room's payable test orders: those that the room's own firm placed and that one payer
 * pays. If this payer has already paid all of them, nothing changes: the other payer's orders are not paid instead.
 * @throws ServiceError `conflict` for a caller in the live environment; `not_found` for a room that is unknown in the
 *   test environment; `not_payable` without an order
 */
export async function sandboxRoomCheckout(
  deps: SandboxDeps,
  { principal, roomCode, attempt, payBy: asked }: SandboxAsked,
  outcome: SandboxOutcome,
) {
  if (principal.environment !== "test") throw new ServiceError("conflict", "The sandbox takes test orders only.");
  const membersPaidBy = (payer: Payer) => membersToPay(deps.db, principal, isCode(roomCode) ? roomCode : "", payer);
  const clients = await membersPaidBy("client");
  const payBy = asked ?? (clients.length > 0 ? "client" : "firm");
  const members = payBy === "client" ? clients : await membersPaidBy("firm");
  if (asked !== undefined && members.length === 0) throw notPayable(paysNoOrder[asked]);
  const codes = members.map(({ code }) => code);
  const { isNothingDue, orders, firedEvents } = await sandboxGroupCheckout(deps, { codes, attempt }, outcome);
  if (isNothingDue && !orders.some(({ wasPaid }) => wasPaid)) throw notPayable("No order of this room is payable.");
  return {
    payBy,
    orders: orders.map(({ orderCode, totalCents, status }) => ({ orderCode, totalCents, status })),
    totalCents: orders.reduce((sum, { totalCents }) => sum + totalCents, 0),
    firedEvents,
  };
}

/** The sums that can be paid in a room now, for its pages. */
import type { Sql } from "../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { isAltered, type Marked, marked } from "../../kernel/platform/database/state-mac.ts";
import { fromOrders, isPayable, type NotarySupply, orderState, type Payer } from "../../orders/order/order.ts";
import { dueCents, isOpenCharge, type Member, mayBePaidByFirm, refusalsOf } from "../../orders/payments/payments.ts";
import { type Group, membersOf, ofSameClient, roomOfOrder } from "./checkout.ts";
import type { OwnRoom } from "./view/read-view.ts";
import type { OwnOrder } from "./view/store.ts";

/**
 * An order that can be paid together with others of its room. `totalCents` is the sum that is due: the order's total,
 * or a supplement.
 */
type PayableMember = Member & { totalCents: number };

/** The orders that a checkout would pay now, with their totals or unpaid supplements. */
type Payable = {
  orders: PayableMember[];
  /**
   * The number of orders that the checkout leaves out because a record of them was altered, or their notarization can't
   * be performed as quoted.
   */
  withheld: number;
};

/**
 * For each payer, the sums of the room's orders that can be paid now, one sum for each order. `chargeableCents`: the
 * sum that `roomCharge` charges. This sum leaves out a supplement that replaces a payment that a bank took back.
 */
type RoomDue = Record<Payer, number[]> & { chargeableCents: number };

/**
 * The sums that `roomCheckout` and `roomCharge` would take now. Like them, it leaves out orders that `refusalsOf`
 * refuses.
 * @param payers the payers whose sums are wanted; for another payer, the sums are empty
 */
export async function dueOfRoom(
  { db, notarySupply }: DueDeps,
  { ownOrders, charges }: Pick<OwnRoom, "ownOrders" | "charges">,
  payers: readonly Payer[],
): Promise<RoomDue> {
  const moving = new Set(charges.filter(isOpenCharge).map(({ orderId }) => orderId));
  const asked = [...ownOrders.values()].flatMap((order) => {
    const cents = payers.includes(order.payBy) && !moving.has(order.id) ? sumDue(order) : null;
    return cents === null ? [] : [{ order, cents }];
  });
  const refusals = await refusalsOf(
    db,
    notarySupply,
    asked.flatMap(({ order }) => (order.mayBeRefused ? order.id : [])),
  );
  const due = asked.filter(({ order }) => !refusals.has(order.id));
  const of = (payer: Payer) => due.filter(({ order }) => order.payBy === payer);
  const charged = of("firm").filter(({ order }) => isPayable(order.status) || !order.replacesLoss);
  return {
    client: of("client").map(({ cents }) => cents),
    firm: of("firm").map(({ cents }) => cents),
    chargeableCents: charged.reduce((sum, { cents }) => sum + cents, 0),
  };
}

/**
 * The orders that `clientCheckout` would pay. None if the order has no room, or if a row of its room has an invalid
 * MAC. In these cases, the client can still pay the order alone.
 */
export async function payableOfClient(deps: DueDeps, orderCode: string): Promise<Payable> {
  try {
    const room = await roomOfOrder(deps.db, orderCode);
    if (room) return await payable(deps, room, ofSameClient(orderCode));
  } catch (error) {
    if (!isAltered(error)) throw error;
  }
  return { orders: [], withheld: 0 };
}

async function payable({ db, notarySupply }: DueDeps, { id }: Group, which: Statement): Promise<Payable> {
  const members = await membersOf(id, which)(db);
  const rows = await db.query<PayableRow & Marked>(sql`
    SELECT o.id, o.status, o.total_cents AS "totalCents", ${dueCents}, ${marked(orderState, sql`o`)} ${fromOrders}
    WHERE o.id = ANY (${members.map((each) => each.id)}::bigint[])`);
  const authentic = new Map(rows.flatMap((row) => (row.isAuthentic ? [[row.id, row] as const] : [])));
  const asked: PayableMember[] = [];
  for (const member of members) {
    const row = authentic.get(member.id);
    const totalCents = row ? sumDue(row) : null;
    // `ofSameClient` leaves out payments of the firm that a bank took back, but by data that are not verified.
    const isHidden = row?.replacesLoss && (await mayBePaidByFirm(db, member.code));
    if (totalCents !== null && !isHidden) asked.push({ ...member, totalCents });
  }
  const refusals = await refusalsOf(
    db,
    notarySupply,
    asked.map(({ id: orderId }) => orderId),
  );
  const stuck = [...refusals.values()].filter(({ kind }) => kind === "stuck" || kind === "altered").length;
  return { orders: asked.filter((each) => !refusals.has(each.id)), withheld: rows.length - authentic.size + stuck };
}

/** The facts that decide whether an order can be paid now. */
export type DueDeps = { db: Sql; notarySupply: NotarySupply };

type PayableRow = Pick<OwnOrder, "id" | "status" | "totalCents" | "supplementCents" | "replacesLoss">;

/**
 * The sum that is due for the order now: its total before the first payment, later an unpaid supplement. Null when
 * nothing is due.
 */
export const sumDue = ({
  status,
  totalCents,
  supplementCents,
}: Omit<PayableRow, "id" | "replacesLoss">): number | null => (isPayable(status) ? totalCents : supplementCents);

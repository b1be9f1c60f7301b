/** Charges to a firm's card or bank account that a member or a key requests. A job sends them (`send-charges.ts`). */
import { auditLine } from "../../../kernel/audit/audit.ts";
import { actorOf, type Principal } from "../../../kernel/identity/identity.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import { enqueue } from "../../../kernel/platform/jobs/jobs.ts";
import { requireProof } from "../../../kernel/platform/recent-proof.ts";
import { dollars } from "../../dollars.ts";
import { firmChargeQueue, type LockedOrder, lockOwnOrder, type NotarySupply, orderPayer } from "../../order/order.ts";
import { partOf } from "../checkout/checkout.ts";
import { paymentRefusal } from "../checkout/refusals.ts";
import type { Part } from "../checkout/store.ts";
import { accountOf, type FirmPaysDeps } from "../methods/methods.ts";
import { type FirmCharge, insertCharge } from "../records/charges.ts";
import { activeMethod } from "../records/methods.ts";
import { notify } from "./charge-events.ts";
import { spendingRefusal } from "./limits.ts";

export type ChargeDeps = FirmPaysDeps & { notarySupply: NotarySupply };

export const noMethod = () =>
  new ServiceError("not_payable", "Your firm has no card or bank account on file. An owner adds one under Billing.");

export const anotherMethod = "Your firm pays by another card or bank account now.";

export const refusals = {
  left: "This person or key can’t spend for the firm any more.",
  no_limit: "An owner has not allowed you to spend. Ask an owner of your firm.",
  above_order_limit: "The sum is above your limit for one order. Ask an owner of your firm.",
  above_month_limit: "The sum is above what is left of your limit for this month. Ask an owner of your firm.",
} as const;

/**
 * The charge that the caller saw and agreed to: its sum, and the id of the method. A value that is missing is not
 * compared.
 */
export type ExpectedCharge = { cents?: number; methodId?: string };

/**
 * Creates a charge of the firm's method, at a member's request, for an order that the firm pays. A job sends the
 * charge, and the processor's event moves the order.
 * @throws ServiceError `not_found`; `conflict` when the charge is not the expected one, or another one is under way;
 * `not_payable`, also above the caller's limits; `payments_not_configured`; the errors of `requireProof`
 */
export async function chargeByMember(
  deps: ChargeDeps,
  principal: Principal,
  code: string,
  expected: ExpectedCharge = {},
): Promise<void> {
  accountOf(deps, principal);
  await deps.db.transaction(async (tx) => {
    const order = await lockOwnOrder(tx, principal, code);
    requireProof(principal, deps.clock());
    if ((await orderPayer(tx, order.id)) !== "firm")
      throw new ServiceError("not_payable", "The client pays this order.");
    const refusal = await paymentRefusal(tx, deps.notarySupply, order);
    if (refusal !== null) throw new ServiceError("not_payable", refusal);
    const charged = await chargePayable(tx, deps, principal, [order], expected);
    if ("refusal" in charged) throw new ServiceError("not_payable", charged.refusal);
  });
}

/** The processor charges no card for $0.00, but its checkout completes an order of $0.00. */
export const freeOrder = "An order of $0.00 is not charged: open its checkout to complete it.";

/**
 * A created payment, with its charge for each order. The charges are in the sequence in which the orders were passed.
 */
export type Charged = { paymentId: string; charges: { orderCode: string; chargeId: string; totalCents: number }[] };

/**
 * Creates one payment that the caller requested for payable orders, and queues it for sending.
 * @returns `refusal` when the caller may not spend the sum; `order` is then the order at which a limit was exceeded, or
 * the first order
 * @throws ServiceError `not_payable` without a method on file, or with an order of $0.00; `conflict` when the sum or
 * the method is not the expected one
 */
export async function chargePayable(
  tx: Tx,
  deps: ChargeDeps,
  principal: Principal,
  orders: readonly LockedOrder[],
  expected: ExpectedCharge = {},
): Promise<Charged | { refusal: string; order: LockedOrder | undefined }> {
  const method = await activeMethod(tx, principal);
  if (!method) throw noMethod();
  const spender = actorOf(principal);
  const parts = await partsOf(tx, orders);
  if (parts.some(({ part }) => part.amountCents === 0)) throw new ServiceError("not_payable", freeOrder);
  const totalCents = parts.reduce((sum, { part }) => sum + part.amountCents, 0);
  const conflict = (message: string) =>
    new ServiceError(
      "conflict",
      `${message} Nothing was charged: look at the ${orders.length === 1 ? "order" : "orders"} again.`,
    );
  if (expected.methodId !== undefined && method.id !== expected.methodId) throw conflict(anotherMethod);
  if (expected.cents !== undefined && totalCents !== expected.cents)
    throw conflict(`The sum is ${dollars(totalCents)} now, not ${dollars(expected.cents)}.`);
  const limit = await spendingRefusal(tx, deps, principal, { spender, amounts: amountsOf(parts) });
  if (limit !== null) return { refusal: refusals[limit.reason], order: orders[limit.at] };
  const asked = { methodId: method.id, askedBy: spender, at: deps.clock(), reason: null };
  const charged = await insertPayment(tx, parts, asked);
  await enqueue(tx, firmChargeQueue, { orderId: orders[0]?.id });
  return charged;
}

export type OrderPart = { order: LockedOrder; part: Part };

async function partsOf(tx: Tx, orders: readonly LockedOrder[]): Promise<OrderPart[]> {
  const parts: OrderPart[] = [];
  for (const order of orders) parts.push({ order, part: await partOf(tx, order) });
  return parts;
}

export const amountsOf = (parts: readonly OrderPart[]): number[] => parts.map(({ part }) => part.amountCents);

type Asked = { methodId: string | null; askedBy: string; at: Date; reason: string | null };

/**
 * Inserts a payment that is to be sent: a charge for each order. With `reason`, inserts a refused payment, which is
 * never sent.
 * @throws ServiceError `conflict` when one of the orders is being charged
 */
export async function insertPayment(
  tx: Tx,
  parts: readonly OrderPart[],
  { methodId, askedBy, at, reason }: Asked,
): Promise<Charged> {
  const groupId = parts.length > 1 ? newUuid() : null;
  const state = reason === null ? "asked" : "refused";
  const charges = parts.map(
    ({ order, part }): FirmCharge => ({
      id: newUuid(),
      groupId,
      orderId: order.id,
      orderCode: order.code,
      partnerId: order.partnerId,
      environment: order.environment,
      methodId,
      amountCents: part.amountCents,
      supplementId: part.supplementId,
      askedBy,
      askedAt: at,
      sentAt: null,
      changedAt: at,
      state,
      reason,
      paymentIntent: null,
    }),
  );
  for (const charge of charges) {
    if (!(await insertCharge(tx, charge))) throw new ServiceError("conflict", "A payment by your firm is under way.");
    const { id, partnerId, orderId, amountCents } = charge;
    const detail = {
      charge: id,
      ...(groupId && { payment: groupId }),
      amountCents,
      ...(reason !== null && { reason }),
    };
    await tx.query(auditLine({ at, action: `charge.${state}`, actor: askedBy, partnerId, orderId, detail }));
  }
  if (reason !== null) await notify(tx, charges, "refused", at);
  return {
    paymentId: groupId ?? charges[0]?.id ?? "",
    charges: charges.map(({ id: chargeId, orderCode, amountCents: totalCents }) => ({
      orderCode,
      chargeId,
      totalCents,
    })),
  };
}

/** Charges several orders at once. Also returns an order's charge as the API shows it. */
import type { Principal } from "../../../kernel/identity/identity.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { isServiceError, ServiceError } from "../../../kernel/platform/errors.ts";
import type { RecordResult } from "../../../kernel/platform/idempotency.ts";
import { requireProof } from "../../../kernel/platform/recent-proof.ts";
import { type LockedOrder, type OrderCharge, orderPayer } from "../../order/order.ts";
import { lockGroup, type Member, partToCharge } from "../checkout/checkout.ts";
import { refusalsOf } from "../checkout/refusals.ts";
import { accountOf } from "../methods/methods.ts";
import { type ChargeState, chargesOfCode } from "../records/charges.ts";
import { type ChargeDeps, type Charged, chargePayable, type ExpectedCharge, freeOrder } from "./charges.ts";

export type GroupCharge = {
  paymentId: string;
  /**
   * The charged orders, in the sequence in which the group lists them. Each charge is that order's part of the payment.
   */
  orders: Charged["charges"];
  totalCents: number;
};

export type GroupChargeEnd<Result> = {
  /** Stores the result for the request's Idempotency-Key. */
  record: RecordResult;
  resultOf: (charged: GroupCharge) => Result;
  expected?: ExpectedCharge;
};

/**
 * Charges the firm's method once for all payable orders of a group that the firm pays. Either all of them are charged,
 * or none is. Leaves out orders of $0.00, and orders whose payment a bank took back.
 * @param members reads the group's orders; called a second time when they are locked
 * @throws ServiceError `not_payable` if the firm can pay none of the orders, has no method on file, or the caller's
 * limits are exceeded; `conflict` when the sum or the method is not the expected one; `payments_not_configured`; the
 * errors of `requireProof`
 */
export function chargeGroup<Result extends GroupCharge>(
  deps: ChargeDeps,
  principal: Principal,
  members: (db: Sql) => Promise<readonly Member[]>,
  { record, resultOf, expected }: GroupChargeEnd<Result>,
): Promise<Result> {
  accountOf(deps, principal);
  return deps.db.transaction(async (tx) => {
    requireProof(principal, deps.clock());
    const payable: LockedOrder[] = [];
    const refusals: string[] = [];
    const refuse = async (message: string): Promise<never> => {
      // `record` throws if an earlier request with the same Idempotency-Key has just charged the firm. That request's
      // answer is then returned instead of this refusal.
      await record(tx, {});
      throw new ServiceError("not_payable", message);
    };
    const own: LockedOrder[] = [];
    for (const order of await lockGroup(tx, members)) if ((await orderPayer(tx, order.id)) === "firm") own.push(order);
    const refused = await refusalsOf(
      tx,
      deps.notarySupply,
      own.map(({ id }) => id),
    );
    for (const order of own) {
      const refusal = refused.get(order.id)?.message ?? null;
      const part = refusal === null ? await partToCharge(tx, order) : undefined;
      if (refusal !== null) refusals.push(`Order ${order.code}: ${refusal}`);
      // A payment that a bank took back is charged again only on a request for that order alone, and an order of $0.00
      // is not charged at all. The other orders are still charged.
      else if (!part) refusals.push(`Order ${order.code}: ${payAlone}`);
      else if (part.amountCents === 0) refusals.push(`Order ${order.code}: ${freeOrder}`);
      else payable.push(order);
    }
    if (payable.length === 0) await refuse(refusals[0] ?? "No order of this room is paid by your firm.");
    const charged = await chargePayable(tx, deps, principal, payable, expected).catch((error: unknown) => {
      if (!isServiceError(error, "not_payable")) throw error;
      return refuse(error.message);
    });
    if ("refusal" in charged)
      return refuse(`${charged.order ? `Order ${charged.order.code}: ` : ""}${charged.refusal}`);
    const { paymentId, charges: orders } = charged;
    const totalCents = orders.reduce((sum, each) => sum + each.totalCents, 0);
    const result = resultOf({ paymentId, orders, totalCents });
    await record(tx, result);
    return result;
  });
}

export const payAlone = "A bank took its payment back. Charge it by itself, or open its checkout.";

const shownStates: Readonly<Record<ChargeState, OrderCharge["state"]>> = {
  asked: "asked",
  answered: "processing",
  pending: "processing",
  declined: "failed",
  failed: "failed",
  refused: "refused",
  succeeded: "succeeded",
};

/**
 * The latest charge of the order's total, even one that was refused and never sent; null if none was requested.
 * @throws ServiceError `unavailable` for an altered charge
 */
export async function chargeOfOrder(db: Sql, orderCode: string): Promise<OrderCharge | null> {
  const latest = (await chargesOfCode(db, orderCode)).find(({ supplementId }) => supplementId === null);
  if (!latest) return null;
  const { id: chargeId, state, amountCents, askedAt, reason } = latest;
  return { chargeId, state: shownStates[state], amountCents, askedAt: askedAt.toISOString(), reason };
}

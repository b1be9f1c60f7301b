import type { Principal } from "../../../kernel/identity/identity.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { isCode } from "../../../kernel/platform/text.ts";
import { isPayable, lockOrder, lockOrders, type Milestone, orderNotFound, wasPaid } from "../../order/order.ts";
import { findFacts, type OrderFacts } from "../store.ts";
import {
  isOnHappyPath,
  milestones,
  type SandboxDeps,
  type SandboxOutcome,
  type SimulationResult,
  type StepCheck,
  simulate,
} from "./simulate.ts";

export { milestones, type SandboxDeps, type SandboxOutcome, type SimulationResult };

export const outcomes = ["success", "decline", "cancel", "delayed"] as const satisfies SandboxOutcome[];

/** A test order and its caller. `attempt` identifies the request; `check` can refuse each step. */
export type SandboxRequest = { principal: Principal; code: string; attempt: string; check?: StepCheck };

/** The next step that the sandbox can do for a test order in this status. */
export function sandboxMoves(status: string): "pay" | "advance" | "none" {
  if (isPayable(status)) return "pay";
  return isOnHappyPath(status) ? "advance" : "none";
}

/**
 * Simulates the payment of a test order. An order that was already paid does not change, and no event fires.
 * @throws ServiceError `not_found`, `conflict` for a live order, `not_payable` naming the status
 */
export async function sandboxCheckout(
  deps: SandboxDeps,
  request: SandboxRequest,
  outcome: SandboxOutcome,
): Promise<SimulationResult> {
  const { orderCode } = await testOrder(deps, request);
  return deps.db.transaction(async (tx) => {
    const order = await lockOrder(tx, orderCode);
    if (!order) throw orderNotFound();
    if (wasPaid(order.status, order.statusBeforeHold)) return { status: order.status, firedEvents: [] };
    if (!isPayable(order.status)) throw new ServiceError("not_payable", `An order in ${order.status} is not payable.`);
    const options = { at: deps.clock(), log: deps.log, attempt: request.attempt };
    const applied = await deps.sandboxPayment(tx, order, outcome, options);
    return { status: applied.order?.status ?? order.status, firedEvents: applied.firedEvents };
  });
}

/**
 * Simulates one payment for several test orders, in one transaction. Either all payable orders get the outcome, or
 * none. The caller has verified that the orders belong to its firm.
 * @returns the orders of the payment, in the sequence of `codes`. If none was payable, `isNothingDue` is true, and the
 * orders are those that were already paid
 */
export async function sandboxGroupCheckout(
  deps: SandboxDeps,
  { codes, attempt }: { codes: readonly string[]; attempt: string },
  outcome: SandboxOutcome,
): Promise<{ isNothingDue: boolean; orders: GroupOrder[]; firedEvents: Milestone[] }> {
  return deps.db.transaction(async (tx) => {
    const locked = new Map((await lockOrders(tx, codes)).map((order) => [order.code, order]));
    const orders = codes.flatMap((code) => locked.get(code) ?? []);
    if (orders.some(({ environment }) => environment !== "test"))
      throw new ServiceError("conflict", "The sandbox takes test orders only.");
    const due = orders.filter(({ status }) => isPayable(status));
    const firedEvents: Milestone[] = [];
    const group: GroupOrder[] = [];
    for (const order of due.length > 0 ? due : orders) {
      const paid = wasPaid(order.status, order.statusBeforeHold);
      const options = { at: deps.clock(), log: deps.log, attempt };
      const applied = due.length > 0 ? await deps.sandboxPayment(tx, order, outcome, options) : null;
      firedEvents.push(...(applied?.firedEvents ?? []));
      const { code: orderCode, totalCents } = order;
      group.push({ orderCode, totalCents, status: applied?.order?.status ?? order.status, wasPaid: paid });
    }
    return {
      isNothingDue: due.length === 0,
      orders: due.length > 0 ? group : group.filter((each) => each.wasPaid),
      firedEvents,
    };
  });
}

type GroupOrder = { orderCode: string; totalCents: number; status: string; wasPaid: boolean };

/**
 * Moves a test order to the named milestone. Without a name, moves it to the next milestone, or to Completed after the
 * last one.
 * @throws ServiceError `not_found`, `conflict` for a live order and for an order that cannot advance
 */
export async function sandboxAdvance(
  deps: SandboxDeps,
  request: SandboxRequest,
  event: Milestone | null,
): Promise<SimulationResult> {
  return simulate(deps, await testOrder(deps, request), event, request);
}

/** Moves a test order through all its milestones to Completed. @throws ServiceError as `sandboxAdvance` */
export async function sandboxComplete(deps: SandboxDeps, request: SandboxRequest): Promise<SimulationResult> {
  const firedEvents: Milestone[] = [];
  // Each round reaches one milestone, and the last round reaches the end.
  for (let round = 0; ; round++) {
    const result = await sandboxAdvance(deps, request, null);
    firedEvents.push(...result.firedEvents);
    if (result.status === "Completed" || round === milestones.length) return { status: result.status, firedEvents };
  }
}

/** Reads the caller's own test order. */
async function testOrder({ db }: SandboxDeps, { principal, code }: SandboxRequest): Promise<OrderFacts> {
  const order = isCode(code) ? await findFacts(db, code) : undefined;
  if (order?.partnerId !== principal.partnerId) throw orderNotFound();
  if (order.environment !== "test") throw new ServiceError("conflict", "The sandbox takes test orders only.");
  if (principal.environment !== "test") throw orderNotFound();
  return order;
}

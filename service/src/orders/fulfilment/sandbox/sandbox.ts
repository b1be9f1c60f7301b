import type { Principal } from "../../identity/identity.ts";
import { isPayable, lockOrder, type Milestone, wasPaid } from "../../orders/orders.ts";
import { ServiceError } from "../../platform/errors.ts";
import { isCode } from "../../platform/text.ts";
import { findFacts, type OrderFacts } from "../store.ts";
import {
  isOnHappyPath,
  milestones,
  type SandboxDeps,
  type SandboxOutcome,
  type SimulationResult,
  simulate,
} from "./simulate.ts";

export { milestones, type SandboxDeps, type SandboxOutcome, type SimulationResult };

export const outcomes = ["success", "decline", "cancel", "delayed"] as const satisfies SandboxOutcome[];

/** Whose order, and which; `attempt` names the request. */
export type SandboxRequest = { principal: Principal; code: string; attempt: string };

/** What the sandbox can do next with a test order of this status. */
export function sandboxMoves(status: string): "pay" | "advance" | "none" {
  if (isPayable(status)) return "pay";
  return isOnHappyPath(status) ? "advance" : "none";
}

/**
 * Simulates the payment of a test order; one that was paid before stays as it is, and nothing fires.
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
    if (!order) throw notFound();
    if (wasPaid(order.status, order.statusBeforeHold)) return { status: order.status, firedEvents: [] };
    if (!isPayable(order.status)) throw new ServiceError("not_payable", `An order in ${order.status} is not payable.`);
    const options = { at: deps.clock(), log: deps.log, attempt: request.attempt };
    const taken = await deps.sandboxPayment(tx, order, outcome, options);
    return { status: taken.order?.status ?? order.status, firedEvents: taken.firedEvents };
  });
}

/**
 * Takes a test order to the named milestone or the next one; after the last, to Completed.
 * @throws ServiceError `not_found`, `conflict` for a live order and for one that cannot advance
 */
export async function sandboxAdvance(
  deps: SandboxDeps,
  request: SandboxRequest,
  event: Milestone | null,
): Promise<SimulationResult> {
  return simulate(deps, await testOrder(deps, request), event, request.attempt);
}

/** Takes a test order through all its milestones to Completed. @throws ServiceError as `sandboxAdvance` */
export async function sandboxComplete(deps: SandboxDeps, request: SandboxRequest): Promise<SimulationResult> {
  const firedEvents: Milestone[] = [];
  // Each milestone, and the way from the last one to the end.
  for (let round = 0; ; round++) {
    const result = await sandboxAdvance(deps, request, null);
    firedEvents.push(...result.firedEvents);
    if (result.status === "Completed" || round === milestones.length) return { status: result.status, firedEvents };
  }
}

/** The caller's own test order. */
async function testOrder({ db }: SandboxDeps, { principal, code }: SandboxRequest): Promise<OrderFacts> {
  const order = isCode(code) ? await findFacts(db, code) : undefined;
  if (order?.partnerId !== principal.partnerId) throw notFound();
  if (order.environment !== "test") throw new ServiceError("conflict", "The sandbox takes test orders only.");
  if (principal.environment !== "test") throw notFound();
  return order;
}

const notFound = (): ServiceError => new ServiceError("not_found", "Order not found.");

import { type SealReason, sealReasons } from "@signsealship/evidence/seal";
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Database, Tx } from "../../../kernel/platform/database/database.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import type { Log } from "../../../kernel/platform/logs.ts";
import {
  isPayable,
  type LockedOrder,
  lockOrder,
  type Milestone,
  type OrderStatus,
  orderNotFound,
  type PeopleEvent,
  transition,
} from "../../order/order.ts";
import { type Facts, needsDocument, perform } from "../perform.ts";
import { type SealDeps, sealSimulated } from "../seal-and-store.ts";
import { milestonesOf, type OrderFacts } from "../store.ts";

export type SandboxOutcome = "success" | "decline" | "cancel" | "delayed";

/** Pays a locked test order by the same code that applies the processor's events. */
type SandboxPayment = (
  tx: Tx,
  order: LockedOrder,
  outcome: SandboxOutcome,
  options: { at: Date; log: Log; attempt: string },
) => Promise<{ order: LockedOrder | null; firedEvents: Milestone[] }>;

export type SandboxDeps = SealDeps & { db: Database; clock: Clock; log: Log; sandboxPayment: SandboxPayment };

/** Runs on the locked order before each step; throws to refuse the step. */
export type StepCheck = (tx: Tx, orderCode: string) => Promise<void>;

export type SimulationResult = { status: OrderStatus; firedEvents: Milestone[] };

export const milestones = [
  "payment.cleared",
  "signature.completed",
  "shipment.delivered",
] as const satisfies Milestone[];

const serviceOf = { "payment.cleared": null, "signature.completed": "sign", "shipment.delivered": "ship" } as const;

/** By status: the next event of a paid order on the path without failures. */
const happy: Readonly<Record<string, PeopleEvent>> = {
  Paid: "next_segment",
  EsignPending: "signed",
  EsignComplete: "next_segment",
  NotarizationPending: "notarized",
  NotarizationComplete: "next_segment",
  ShippingPending: "shipped",
  Shipped: "delivered",
  Delivered: "next_segment",
  FaxPending: "fax_sent",
  FaxSent: "fax_delivered",
  FaxDelivered: "next_segment",
};

export const isOnHappyPath = (status: string): boolean => Object.hasOwn(happy, status);

// Prevents an endless loop. Every path through the status table has fewer steps.
const maxSteps = 20;

/**
 * Moves a test order along the path without failures, to the named milestone. Without a name, moves it to the next
 * milestone, or to Completed after the last one. A milestone that was already reached changes nothing.
 * @param by `attempt` identifies this request
 * @throws ServiceError `conflict` for an unreachable milestone, or an order that is not on the path
 */
export async function simulate(
  deps: SandboxDeps,
  order: OrderFacts,
  event: Milestone | null,
  by: { attempt: string; check?: StepCheck },
): Promise<SimulationResult> {
  const reached = (topic: Milestone): boolean => serviceOf[topic] === null || order[serviceOf[topic]];
  if (event && !reached(event))
    throw new ServiceError("conflict", `This order never reaches ${event}: the service was not bought.`);
  const passed = await milestonesOf(deps.db, order.id);
  const goal = event ?? milestones.find((topic) => reached(topic) && !passed.has(topic)) ?? null;
  if (goal && passed.has(goal)) return { status: order.status, firedEvents: [] };

  const firedEvents: Milestone[] = [];
  let { status } = order;
  for (let step = 0; step < maxSteps && status !== "Completed"; step++) {
    const moved = await simulateStep(deps, order, status, by);
    status = moved.status;
    firedEvents.push(...moved.firedEvents);
    if (goal && (await milestonesOf(deps.db, order.id)).has(goal)) break;
  }
  return { status, firedEvents };
}

async function simulateStep(
  deps: SandboxDeps,
  asked: OrderFacts,
  status: OrderStatus,
  { attempt, check }: { attempt: string; check?: StepCheck },
): Promise<SimulationResult> {
  const on = happy[status];
  const paying = isPayable(status);
  if (!on && !paying) throw new ServiceError("conflict", `An order in ${status} cannot advance.`);
  const document =
    on && needsDocument(on) ? await sealSimulated(deps, deps.db, { ...asked, on }, reasonOf(on)) : undefined;

  return deps.db.transaction(async (tx) => {
    const order = await lockOrder(tx, asked.orderCode);
    if (!order) throw orderNotFound();
    // Another request moved the order first, so this one returns the order's present status.
    if (order.status !== status) return { status: order.status, firedEvents: [] };
    await check?.(tx, order.code);
    const at = deps.clock();
    if (!on) {
      const paid = await deps.sandboxPayment(tx, order, "success", { at, log: deps.log, attempt });
      return { status: paid.order?.status ?? status, firedEvents: paid.firedEvents };
    }
    const actor = { actor: "sandbox", at, log: deps.log };
    const facts = { ...simulated(order), ...(document && { document }) };
    const moved =
      on === "next_segment" ? await transition(tx, order, on, actor) : await perform(tx, order, on, facts, actor);
    return { status: moved.order.status, firedEvents: moved.firedEvents };
  });
}

const reasonOf = (on: string): SealReason => sealReasons[on === "signed" ? "signed" : "notarized"].test;

/** The facts of simulated work. They depend only on the order, so a repeated step has the same facts. */
const simulated = ({ code }: LockedOrder): Facts => ({
  carrier: "Test Carrier",
  trackingNumber: `TEST${code.slice(0, 12).toUpperCase()}`,
});

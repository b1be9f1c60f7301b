import type { LockedOrder } from "../orders/orders.ts";
import type { Tx } from "../platform/database/database.ts";
import type { Log } from "../platform/logs.ts";
import { currency } from "./checkout/checkout.ts";
import { type Taken, takeEvent } from "./processor/events.ts";

export type SandboxOutcome = "success" | "decline" | "cancel" | "delayed";

const types: Readonly<Record<SandboxOutcome, string>> = {
  success: "checkout.session.completed",
  delayed: "checkout.session.completed",
  decline: "payment_intent.payment_failed",
  cancel: "checkout.session.expired",
};

/**
 * Crosses a test order's payment as the verified event of the processor does: the same code, behind the signature check.
 * @param attempt tells this event from others of the same order
 */
export function sandboxPayment(
  tx: Tx,
  order: LockedOrder,
  outcome: SandboxOutcome,
  { at, log, attempt }: { at: Date; log: Log; attempt: string },
): Promise<Taken> {
  if (order.environment !== "test") throw new Error("a live order is paid by the processor alone");
  const object = {
    ...(types[outcome].startsWith("checkout") && { id: `sandbox:${order.code}:${outcome}` }),
    metadata: { order_code: order.code },
    payment_status: outcome === "success" ? "paid" : "unpaid",
    payment_intent: `sandbox:${order.code}`,
    amount_total: order.totalCents,
    currency,
  };
  const event = { id: `sandbox:${order.code}:${attempt}`, type: types[outcome], data: { object } };
  return takeEvent(tx, event, { at, log, actor: "sandbox", simulated: true, livemode: null });
}

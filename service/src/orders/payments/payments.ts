import type { Clock } from "../../kernel/platform/clock.ts";
import type { Database } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import type { Jobs } from "../../kernel/platform/jobs/jobs.ts";
import type { Log } from "../../kernel/platform/logs.ts";
import { closeCheckoutQueue, refundQueue, verifiedOrders } from "../order/order.ts";
import { closeCheckouts } from "./checkout/sessions.ts";
import { checkoutRows } from "./checkout/store.ts";
import { takeEvent } from "./processor/events.ts";
import type { Processor } from "./processor/processor.ts";
import { heldPayments, moneyRows } from "./store.ts";

export {
  type CheckoutDeps,
  checkoutUrl,
  type Member,
  type SharedCheckout,
  sharedCheckout,
  takesPayment,
} from "./checkout/checkout.ts";
export { isPaymentInProcess } from "./checkout/store.ts";
export { isTestModeKey, openProcessor, type Processor } from "./processor/processor.ts";
export { checkoutRoute, processorWebhook } from "./routes.ts";
export { renameSandboxPayments, type SandboxOutcome, sandboxPayment } from "./sandbox.ts";
export { heldPayments, paymentState } from "./store.ts";
export { resolveUnapplied, type UnappliedPayment, unappliedPayments } from "./unapplied.ts";

export const protectedTables = [...moneyRows, ...checkoutRows];

type JobDeps = { db: Database; clock: Clock; log: Log; processor: Processor | null };

/** The processor's jobs after an order has moved: close sessions, give refunds. */
export function paymentJobs(jobs: Jobs, deps: JobDeps): void {
  jobs.work<{ orderId: number }>(closeCheckoutQueue, ({ orderId }) => closeCheckouts(deps, orderId));
  jobs.work<{ orderId: number }>(refundQueue, ({ orderId }) => refund(deps, orderId));
}

/**
 * Refunds all held payments; of one that paid several orders, this order's share. The order stays in RefundPending until the processor confirms; sandbox money is back at
 * once.
 * A forged job refunds nothing, because the order's MAC covers its RefundPending.
 */
async function refund({ db, clock, log, processor }: JobDeps, orderId: number): Promise<void> {
  const [order] = await db.query<{ status: string }>(
    sql`SELECT status, ${verifiedOrders} FROM orders WHERE id = ${orderId}`,
  );
  if (order?.status !== "RefundPending") return;
  for (const { id, paymentIntent, simulated, isShared, amountCents } of await heldPayments(db, orderId)) {
    if (simulated) {
      const object = { payment_intent: paymentIntent, refunded: true };
      const event = { id: `sandbox:refund:${id}`, type: "charge.refunded", data: { object } };
      const options = { at: clock(), log, actor: "sandbox", simulated: true, livemode: null } as const;
      await db.transaction((tx) => takeEvent(tx, event, options));
    } else {
      if (!processor) throw new Error("payments are not configured: the refund waits");
      if (paymentIntent === null) throw new Error("the payment has no payment intent: refund it at the processor");
      if (isShared) await processor.refundShare({ payment: id, paymentIntent, amountCents });
      else await processor.refund(String(id), paymentIntent);
    }
  }
}

import { closeCheckoutQueue, refundQueue } from "../orders/orders.ts";
import type { Clock } from "../platform/clock.ts";
import type { Database } from "../platform/database/database.ts";
import type { Jobs } from "../platform/jobs/jobs.ts";
import type { Log } from "../platform/logs.ts";
import { endSession, openSessions } from "./checkout/store.ts";
import { takeEvent } from "./processor/events.ts";
import type { Processor } from "./processor/processor.ts";
import { heldPayments } from "./store.ts";

type JobDeps = { db: Database; clock: Clock; log: Log; processor: Processor | null };

/** What is asked of the processor after an order has moved: sessions closed, refunds given. */
export function paymentJobs(jobs: Jobs, deps: JobDeps): void {
  jobs.work<{ orderId: number }>(closeCheckoutQueue, ({ orderId }) => closeCheckout(deps, orderId));
  jobs.work<{ orderId: number }>(refundQueue, ({ orderId }) => refund(deps, orderId));
}

/** Nobody shall pay an order twice, or one that was cancelled. */
async function closeCheckout({ db, processor }: JobDeps, orderId: number): Promise<void> {
  for (const { id, sessionId } of await openSessions(db, orderId)) {
    if (sessionId !== null && processor) await processor.expire(sessionId);
    await endSession(db, id, "expired");
  }
}

/** The order stays in RefundPending until the processor confirms; money of the sandbox is back at once. */
async function refund({ db, clock, log, processor }: JobDeps, orderId: number): Promise<void> {
  for (const { id, paymentIntent, simulated } of await heldPayments(db, orderId)) {
    if (simulated) {
      const object = { payment_intent: paymentIntent, refunded: true };
      const event = { id: `sandbox:refund:${id}`, type: "charge.refunded", data: { object } };
      const options = { at: clock(), log, actor: "sandbox", simulated: true, livemode: null } as const;
      await db.transaction((tx) => takeEvent(tx, event, options));
    } else {
      if (!processor) throw new Error("payments are not configured: the refund waits");
      if (paymentIntent === null) throw new Error("the payment has no payment intent: refund it at the processor");
      await processor.refund(String(id), paymentIntent);
    }
  }
}

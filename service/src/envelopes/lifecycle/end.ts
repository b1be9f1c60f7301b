import { perform } from "../../fulfilment/fulfilment.ts";
import { lockOrder } from "../../orders/orders.ts";
import type { Tx } from "../../platform/database/database.ts";
import { type Envelope, endEnvelope, lockEnvelope } from "../records/envelope.ts";
import { appendToTrail } from "../records/trail.ts";
import type { EnvelopeDeps } from "./deps.ts";
import { mailEverybody } from "./links.ts";

/** How an envelope ends without being completed. */
export type Ending = {
  outcome: "Declined" | "Expired";
  /** For the order's audit trail. */
  reason: string;
  /** For the envelope's own. */
  detail: Parameters<typeof appendToTrail>[5];
  actor: string;
};

/**
 * Ends an open envelope, and moves its order.
 * @param judge called with the locked envelope; what it throws is thrown, and nothing is written
 * @returns false when it had ended before, or its order does not wait for signatures
 */
export async function endUnsigned(
  { db, clock, log, rowMac }: EnvelopeDeps,
  { id, orderCode }: { id: number; orderCode: string },
  { outcome, reason, detail, actor }: Ending,
  judge: (tx: Tx, envelope: Envelope) => Promise<void> = async () => {},
): Promise<boolean> {
  return db.transaction(async (tx) => {
    const order = await lockOrder(tx, orderCode);
    const envelope = await lockEnvelope(tx, id);
    if (order?.status !== "EsignPending" || !envelope || envelope.endedAt !== null) return false;
    await judge(tx, envelope);
    const at = clock();
    await appendToTrail(tx, rowMac, envelope, outcome === "Declined" ? "declined" : "expired", at, detail);
    await endEnvelope(tx, id, outcome, at);
    await perform(tx, order, outcome === "Declined" ? "sign_declined" : "sign_expired", { reason }, { actor, at, log });
    await mailEverybody(tx, id, "ended");
    return true;
  });
}

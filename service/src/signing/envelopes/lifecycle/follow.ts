import { readOrderHead } from "../../../orders/order/order.ts";
import type { EnvelopeDeps } from "../records/deps.ts";
import { endEnvelope, findOpenEnvelope, findSigners, lockEnvelope } from "../records/envelope.ts";
import { appendToTrail } from "../records/trail.ts";
import { completeEnvelope } from "./complete.ts";
import { openEnvelope } from "./open.ts";

/**
 * Brings an order's envelope in line with the order's status. It opens the envelope when the order waits for
 * signatures, completes it when everybody has signed, and ends it when the order no longer waits for signatures. An
 * envelope that is signed in a notary's presence ends when the order no longer waits for the notary. The envelope of an
 * order on hold stays unchanged. May be called at any time, because work that is already done is not
 * repeated.
 */
export async function followOrder(deps: EnvelopeDeps, orderId: number): Promise<void> {
  const { db } = deps;
  const order = await readOrderHead(db, orderId);
  const envelope = await findOpenEnvelope(db, orderId);
  if (order?.status === "OnHold") return;
  if (order?.status !== "EsignPending") {
    if (envelope) await endWithOrder(deps, envelope.id);
  } else if (!envelope) await openEnvelope(deps, orderId);
  else if ((await findSigners(db, envelope.id)).every(({ signedAt }) => signedAt !== null))
    await completeEnvelope(deps, envelope.id);
}

const outcomeOf: Readonly<Record<string, "Declined" | "Expired">> = {
  EsignDeclined: "Declined",
  EsignExpired: "Expired",
};

/** Ends an envelope whose order no longer needs it, because it was canceled, refunded, or signed in another way. */
async function endWithOrder({ db, clock, rowMac }: EnvelopeDeps, envelopeId: number): Promise<void> {
  await db.transaction(async (tx) => {
    const envelope = await lockEnvelope(tx, envelopeId);
    if (!envelope || envelope.endedAt !== null) return;
    // The order may have been put on hold since it was read.
    if (envelope.orderStatus === "OnHold") return;
    // A job that was queued while the order waited for signatures may run when a notary's envelope is already open.
    if (envelope.orderStatus === (envelope.isInRoom ? "NotarizationPending" : "EsignPending")) return;
    const at = clock();
    await endEnvelope(tx, envelopeId, outcomeOf[envelope.orderStatus] ?? "Voided", at);
    await appendToTrail(tx, rowMac, envelope, "voided", at, { orderStatus: envelope.orderStatus });
  });
}

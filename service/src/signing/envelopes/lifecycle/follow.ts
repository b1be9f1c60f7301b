import { AlteredDocumentError } from "../../../kernel/platform/errors.ts";
import { readOrderHead } from "../../../orders/order/order.ts";
import type { EnvelopeDeps } from "../records/deps.ts";
import { endEnvelope, findOpenEnvelope, findSigners, lockEnvelope } from "../records/envelope.ts";
import { appendToTrail } from "../records/trail.ts";
import { completeEnvelope } from "./complete.ts";
import { holdAltered } from "./hold-altered.ts";
import { openEnvelope } from "./open.ts";

/**
 * Makes an order's envelope match the order's status. Opens the envelope when the order waits for signatures, completes
 * it when everybody has signed, and ends it when the order needs no more signatures. The envelope of an order on hold
 * stays unchanged. Idempotent, so it may be called at any time.
 */
export async function followOrder(deps: EnvelopeDeps, orderId: number): Promise<void> {
  const { db } = deps;
  const order = await readOrderHead(db, orderId);
  const envelope = await findOpenEnvelope(db, orderId);
  if (order?.status === "OnHold") return;
  if (order?.status !== "EsignPending") {
    if (envelope) await endWithOrder(deps, envelope.id);
  } else if (!envelope)
    await openEnvelope(deps, orderId).catch((error: unknown) => {
      if (!(error instanceof AlteredDocumentError)) throw error;
      return holdAltered(deps, order.code, error);
    });
  else if ((await findSigners(db, envelope.id)).every(({ signedAt }) => signedAt !== null))
    await completeEnvelope(deps, envelope.id);
}

/** For each status in which the signing has ended: the outcome of the envelope, and its event in the trail. */
const endOf: Readonly<Record<string, ["Declined", "declined"] | ["Expired", "expired"]>> = {
  EsignDeclined: ["Declined", "declined"],
  EsignExpired: ["Expired", "expired"],
};

/**
 * Ends the envelope of an order that no longer waits for its signatures, for example because it was canceled or
 * refunded. An order on hold keeps its envelope.
 */
async function endWithOrder({ db, clock, rowMac }: EnvelopeDeps, envelopeId: number): Promise<void> {
  await db.transaction(async (tx) => {
    const envelope = await lockEnvelope(tx, envelopeId);
    if (!envelope || envelope.endedAt !== null) return;
    // The order may have been put on hold since it was read.
    if (envelope.orderStatus === "OnHold") return;
    // The order waits for this envelope's signatures, so the envelope stays open. The job may have been queued for an
    // earlier envelope, before this one was opened for signing in a notary's presence.
    if (envelope.orderStatus === (envelope.isInRoom ? "NotarizationPending" : "EsignPending")) return;
    const at = clock();
    const [outcome, event] = endOf[envelope.orderStatus] ?? ["Voided", "voided"];
    await endEnvelope(tx, envelopeId, outcome, at);
    await appendToTrail(tx, rowMac, envelope, event, at, { orderStatus: envelope.orderStatus });
  });
}

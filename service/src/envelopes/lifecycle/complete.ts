import { sealReasons } from "@signsealship/evidence/seal";
import { perform, type SealedDocument, sealAndStore } from "../../fulfilment/fulfilment.ts";
import { lockOrder } from "../../orders/orders.ts";
import { isOutcomeUnknown } from "../../platform/database/sql-errors.ts";
import { type Envelope, endEnvelope, findEnvelope, lockEnvelope } from "../records/envelope.ts";
import { readDocument } from "../records/revisions.ts";
import { appendToTrail } from "../records/trail.ts";
import type { EnvelopeDeps } from "./deps.ts";
import { mailEverybody } from "./links.ts";

/**
 * Seals the document that everybody has signed, and moves its order on. Safe beside itself and after a crash: the order is
 * moved once.
 * @returns false when it had been completed, or ended, before
 */
export async function completeEnvelope(deps: EnvelopeDeps, envelopeId: number): Promise<boolean> {
  const envelope = await findEnvelope(deps.db, envelopeId);
  if (!envelope || envelope.endedAt !== null) return false;
  const { orderCode, partnerId, environment } = envelope;
  const signed = await readDocument(deps, envelope);
  const of = { orderCode, partnerId, on: "signed" } as const;
  const document = await sealAndStore(deps, signed.bytes, sealReasons.signed[environment], of);
  try {
    const completed = await recorded(deps, envelope, document);
    if (!completed) await deps.blobs.discard(document.blobKey);
    return completed;
  } catch (error) {
    if (!isOutcomeUnknown(error)) await deps.blobs.discard(document.blobKey);
    throw error;
  }
}

/** Writes down that the document is sealed. Who writes to the trail meanwhile is waited for. */
async function recorded(deps: EnvelopeDeps, envelope: Envelope, document: SealedDocument): Promise<boolean> {
  const { db, clock, rowMac, log } = deps;
  return db.transaction(async (tx) => {
    const order = await lockOrder(tx, envelope.orderCode);
    const locked = await lockEnvelope(tx, envelope.id);
    if (order?.status !== "EsignPending" || !locked || locked.endedAt !== null) return false;
    const at = clock();
    await appendToTrail(tx, rowMac, envelope, "sealed", at, {
      document: { bytes: document.bytes, sha256: document.sha256 },
    });
    await endEnvelope(tx, envelope.id, "Completed", at);
    await perform(tx, order, "signed", { document }, { actor: "system", at, log });
    await mailEverybody(tx, envelope.id, "signed");
    return true;
  });
}

import { sealReasons } from "@signsealship/evidence/seal";
import type { Sealed } from "../../../evidence/seals/seals.ts";
import { orDiscard } from "../../../kernel/platform/blobs/blobs.ts";
import { memoryHolder } from "../../../kernel/platform/bounds/memory-budget.ts";
import { AlteredDocumentError, AlteredRecordError } from "../../../kernel/platform/errors.ts";
import { perform, type SealedDocument, storeSealed } from "../../../orders/fulfilment/fulfilment.ts";
import { lockOrder } from "../../../orders/order/order.ts";
import { evidenceOf } from "../custody/evidence.ts";
import type { EnvelopeDeps } from "../records/deps.ts";
import { type Envelope, endEnvelope, findEnvelope, findSigners, lockEnvelope } from "../records/envelope.ts";
import { type Document, findRevisions, readDocument } from "../records/revisions.ts";
import { alteredRecord, insertRecord, lastRecord, nextRecord, readTrail, type TrailRecord } from "../records/trail.ts";
import { holdAltered } from "./hold-altered.ts";
import { mailEverybody } from "./issue-link.ts";

type CompletionDeps = Omit<EnvelopeDeps, "workers" | "reach">;

/**
 * The most attempts to draw and seal the certificate, if the trail grows meanwhile. After that, a job retries later.
 */
const tries = 5;

/**
 * Seals the document that everybody has signed, certifies how it was signed, and changes the order's status. Safe to
 * run concurrently and after a crash: the status is changed only once.
 * @returns false if the envelope has ended, its order doesn't wait for signatures, or its document was altered. An
 * altered document puts the order on hold
 */
export async function completeEnvelope(deps: CompletionDeps, envelopeId: number): Promise<boolean> {
  const envelope = await findEnvelope(deps.db, envelopeId);
  if (!envelope || envelope.endedAt !== null) return false;
  const head = (await findRevisions(deps.db, envelope.id)).at(-1);
  // Reserves memory for two documents: the signed one and the sealed one.
  const bytes = 2 * (head?.bytes ?? 0);
  try {
    return await deps.blobs.memory.within(memoryHolder(envelope), bytes, () => sealSigned(deps, envelope));
  } catch (error) {
    if (!(error instanceof AlteredDocumentError)) throw error;
    await holdAltered(deps, envelope.orderCode, error);
    return false;
  }
}

async function sealSigned(deps: CompletionDeps, envelope: Envelope): Promise<boolean> {
  const { orderCode, environment } = envelope;
  const signed = await readDocument(deps, envelope);
  const sealed = await deps.seal.signed({
    bytes: signed.bytes,
    hash: signed.hash,
    reason: sealReasons.signed[environment],
    locks: envelope.isNotarized ? "fields" : "document",
  });
  const document = await storeSealed(deps, sealed, envelope, "sealed");
  return orDiscard(deps.blobs, document.blobKey, async () => {
    for (let tried = 0; tried < tries; tried++) {
      const outcome = await certify(deps, envelope, signed.original, document, sealed);
      if (outcome !== "grown") return outcome === "completed";
    }
    throw new Error(`the trail of order ${orderCode} grows faster than it can be certified`);
  });
}

type Outcome = "completed" | "ended" | "grown";

/**
 * Builds the trail's last record (the document is sealed), and a certificate over the whole trail including this
 * record. Stores both. Stores nothing if another record was added since the trail was read, or if the envelope has
 * ended.
 */
async function certify(
  deps: CompletionDeps,
  envelope: Envelope,
  original: Document["original"],
  document: SealedDocument,
  sealed: Sealed,
): Promise<Outcome> {
  const { db, clock } = deps;
  const { verifyCode } = envelope;
  const trail = await wholeTrail(deps, envelope);
  const detail = { document: { bytes: document.bytes, sha256: document.sha256 } };
  const last = nextRecord(trail.at(-1), { verifyCode, event: "sealed", at: clock(), detail });
  const evidence = evidenceOf({
    envelope,
    original,
    sealed: { bytes: document.bytes, sha256: document.sha256 },
    revisions: await findRevisions(db, envelope.id),
    signers: await findSigners(db, envelope.id),
    trail: [...trail, last],
  });
  const certificate = await deps.seal.custody(envelope, evidence, sealed.bytes);
  const stored = await storeSealed(deps, certificate, envelope, "custody_certificate");
  const outcome = await orDiscard(deps.blobs, stored.blobKey, () =>
    writeDown(deps, envelope, { document, custodyCertificate: stored, last }),
  );
  if (outcome !== "completed") await deps.blobs.discard(stored.blobKey);
  return outcome;
}

/**
 * Reads the whole trail of an envelope, to certify it.
 * @throws AlteredRecordError when a record was altered, because the certificate would vouch for the altered record
 */
async function wholeTrail({ db, rowMac }: CompletionDeps, { id, verifyCode, orderCode }: Envelope) {
  const trail = await readTrail(db, id);
  const altered = alteredRecord(rowMac, verifyCode, trail);
  if (altered) throw new AlteredRecordError(`record ${altered.position} of the trail of order ${orderCode}`);
  return trail;
}

type Completed = { document: SealedDocument; custodyCertificate: SealedDocument; last: TrailRecord };

/**
 * Writes the end of the signing, with the last record and both documents. Locks the envelope first, so that all other
 * writers of the trail have finished. If one of them has added a record, the certificate is outdated and nothing is
 * written.
 */
async function writeDown(
  { db, clock, rowMac, log }: CompletionDeps,
  envelope: Envelope,
  { last, ...documents }: Completed,
): Promise<Outcome> {
  return db.transaction(async (tx) => {
    const order = await lockOrder(tx, envelope.orderCode);
    const locked = await lockEnvelope(tx, envelope.id);
    if (order?.status !== "EsignPending" || !locked || locked.endedAt !== null) return "ended";
    if ((await lastRecord(tx, envelope.id))?.position !== last.position - 1) return "grown";
    const at = clock();
    await insertRecord(tx, rowMac, envelope, last);
    await endEnvelope(tx, envelope.id, "Completed", at);
    await perform(tx, order, "signed", documents, { actor: "system", at, log });
    await mailEverybody(tx, envelope.id, "signed");
    return "completed";
  });
}

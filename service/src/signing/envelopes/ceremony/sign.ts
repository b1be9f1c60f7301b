import { orDiscard } from "../../../kernel/platform/blobs/blobs.ts";
import { memoryHolder } from "../../../kernel/platform/bounds/memory-budget.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { AlteredDocumentError, ServiceError } from "../../../kernel/platform/errors.ts";
import { envelopeQueue, lockOrder, setEnvelopeStatus } from "../../../orders/order/order.ts";
import { completeEnvelope } from "../lifecycle/complete.ts";
import { holdAltered } from "../lifecycle/hold-altered.ts";
import { issueLink } from "../lifecycle/issue-link.ts";
import type { EnvelopeDeps } from "../records/deps.ts";
import { findSigners, signersInTurn, updateSigner } from "../records/envelope.ts";
import { type Document, findRevisions, insertRevision } from "../records/revisions.ts";
import { appendToTrail } from "../records/trail.ts";
import { revokeAfterAct } from "../revocation.ts";
import { oneActKey } from "../signer-authority.ts";
import type { Acts, OpenAct, StoredAct } from "./act.ts";
import type { Link, PreparedAct, SignOutcome, SignRequest } from "./ceremony.ts";
import { channelOf, follow, followLocked, type Linked, requireMaySign, requireState } from "./links.ts";
import { dropPreparedAct, findPreparedAct, keepPreparedAct } from "./prepared-acts.ts";
import { namesSigner } from "./require-own-act.ts";
import { requireMark, requireP256 } from "./sign-request.ts";
import type { Client } from "./view.ts";

export type SigningDeps = Pick<EnvelopeDeps, "db" | "clock" | "log" | "blobs" | "rowMac" | "seal" | "reach"> & {
  acts: Acts;
};

/** Nothing was signed: the page must reload the document and ask the signer again. `SignOutcome` lists the reasons. */
type Again = { outcome: "again" };

/**
 * Signs the newest revision for a signer, with a key that the service creates for this one act. @throws ServiceError
 */
export async function sign(deps: SigningDeps, link: Link, request: SignRequest, client: Client): Promise<SignOutcome> {
  requireMark(request.mark);
  const linked = await follow(deps.db, link, deps.clock);
  const done = await outcomeOfBefore(deps, linked);
  if (done) return done;
  const key = oneActKey();
  const holder = { keyHeldBy: "service", publicKey: key.publicKey } as const;
  const open = await onDocument(deps, linked, request.revision, (document) =>
    deps.acts.open(linked, document, request, holder, client),
  );
  return "outcome" in open ? open : close(deps, link, linked, open, await key.sign(open.signedAttrs));
}

/**
 * Prepares an act for a key that the signer's browser created. The browser compares the act with the page that it
 * shows, and then signs the act. The act expires after ten minutes.
 * @param publicKey SubjectPublicKeyInfo of P-256, DER
 * @throws ServiceError
 */
export async function prepareAct(
  deps: SigningDeps,
  link: Link,
  request: SignRequest,
  publicKey: Uint8Array,
  client: Client,
): Promise<PreparedAct | Again> {
  requireMark(request.mark);
  requireP256(publicKey);
  const linked = await follow(deps.db, link, deps.clock);
  const open = await onDocument(deps, linked, request.revision, (document) =>
    deps.acts.open(linked, document, request, { keyHeldBy: "browser", publicKey }, client),
  );
  if ("outcome" in open || !(await keep(deps, link, open))) return { outcome: "again" };
  const { tail, contentsStart, contentsEnd, signedAttrs, record } = open;
  return { outcome: "prepared", tail, contentsStart, contentsEnd, signedAttrs, record };
}

/**
 * Stores a prepared act until the signer's browser has signed it.
 * @returns false, and stores nothing, if the signer was changed since the request began
 * @throws ServiceError when the signer can't sign now
 */
const keep = ({ db, clock }: SigningDeps, link: Link, open: OpenAct): Promise<boolean> =>
  db.transaction(async (tx) => {
    const linked = await followLocked(tx, link, clock);
    requireState(linked, "ready");
    requireMaySign(linked);
    if (!namesSigner(open.record, linked.signer)) return false;
    await keepPreparedAct(tx, linked.signer.id, open, linked.at);
    return true;
  });

/**
 * Completes the act that was prepared last.
 * @param signature ECDSA over the act's signed attributes
 * @throws ServiceError
 */
export async function completeAct(deps: SigningDeps, link: Link, signature: Uint8Array): Promise<SignOutcome> {
  const linked = await follow(deps.db, link, deps.clock);
  const done = await outcomeOfBefore(deps, linked);
  if (done) return done;
  const open = await findPreparedAct(deps.db, linked.signer.id, deps.clock());
  if (!open) return { outcome: "again" };
  return close(deps, link, linked, open, signature);
}

/**
 * Closes an act: requests its time stamp, adds the signature, and stores the revision. After the last signature, also
 * seals the document. The document is not in memory while the time-stamping authority answers.
 */
async function close(
  deps: SigningDeps,
  link: Link,
  linked: Linked,
  open: OpenAct,
  signature: Uint8Array,
): Promise<SignOutcome> {
  if (!(await findHead(deps, linked, open.revision))) return { outcome: "again" };
  const signed = await deps.acts.stamp(open, signature);
  const outcome = await onDocument(deps, linked, open.revision, async (document) =>
    written(deps, link, linked, await deps.acts.close(linked, document, open, signed)),
  );
  // The act has released its memory here, before sealing reserves memory of its own. Acts that waited for more memory
  // while they occupied some could deadlock.
  if (outcome.outcome === "again") return outcome;
  return { outcome: "signed", completed: await completeIfLast(deps, linked.envelope) };
}

/**
 * The outcome for a signer who has already signed and sends the same request again, for example because the first
 * response was lost.
 */
async function outcomeOfBefore(deps: SigningDeps, { envelope, signer, identified }: Linked) {
  if (signer.signedAt === null || !identified) return null;
  const completed = envelope.outcome === "Completed" || (await completeIfLast(deps, envelope));
  return { outcome: "signed", completed } as const;
}

/**
 * Runs work on the newest revision, if it is still the one that the signer saw.
 * @throws ServiceError when the signer can't sign now; `unavailable` when too many requests with large documents are
 * waiting
 */
async function onDocument<T>(
  deps: SigningDeps,
  linked: Linked,
  revision: number,
  work: (document: Document) => Promise<T>,
): Promise<T | Again> {
  const { envelope } = linked;
  const head = await findHead(deps, linked, revision);
  if (!head) return { outcome: "again" };
  return deps.blobs.memory.within(memoryHolder(envelope), head.bytes, async () => {
    const document = await deps.acts.document(envelope).catch(async (error: unknown) => {
      if (error instanceof AlteredDocumentError) await holdAltered(deps, envelope.orderCode, error);
      throw error;
    });
    return document.revision === revision ? work(document) : { outcome: "again" };
  });
}

/**
 * The newest revision; undefined if it is not the one that the signer saw.
 * @throws ServiceError when the signer can't sign now
 */
async function findHead({ db }: SigningDeps, linked: Linked, revision: number) {
  requireState(linked, "ready");
  requireMaySign(linked);
  if (linked.signer.consent === null) throw new ServiceError("conflict", "Agree to sign electronically first.");
  const head = (await findRevisions(db, linked.envelope.id)).at(-1);
  return head?.number === revision ? head : undefined;
}

async function written(
  deps: SigningDeps,
  link: Link,
  linked: Linked,
  stored: StoredAct,
): Promise<{ outcome: "written" } | Again> {
  const isWritten = await orDiscard(deps.blobs, stored.tail.blobKey, () => writeAct(deps, link, linked, stored));
  return { outcome: isWritten ? "written" : "again" };
}

async function completeIfLast(deps: SigningDeps, { id, isInRoom }: Linked["envelope"]): Promise<boolean> {
  if (isInRoom) return false;
  const signers = await findSigners(deps.db, id);
  if (!signers.every(({ signedAt }) => signedAt !== null)) return false;
  // If sealing fails now, the act stays stored, and a job retries the seal.
  return completeEnvelope(deps, id).catch((error: Error) => {
    deps.log.error({ err: error }, "an envelope that everybody has signed could not be completed yet");
    return false;
  });
}

/**
 * Writes an act whose revision is stored: the rows of the revision and the signer, and the trail's record.
 * @returns false, and writes nothing, if another signer signed first, or the signer was changed
 */
async function writeAct(
  deps: SigningDeps,
  link: Link,
  { envelope: { id, orderCode } }: Linked,
  stored: StoredAct,
): Promise<boolean> {
  const { db, rowMac, clock } = deps;
  return db.transaction(async (tx) => {
    const order = await lockOrder(tx, orderCode);
    const linked = await followLocked(tx, link, clock);
    requireState(linked, "ready");
    requireMaySign(linked);
    const { envelope, signer, at: now } = linked;
    const head = (await findRevisions(tx, id)).at(-1);
    if (!order || head?.number !== stored.number - 1 || !namesSigner(stored.record, signer)) return false;
    const { at, number, bytes, sha256 } = stored;
    await insertRevision(tx, envelope, { number, signer: signer.n, bytes, sha256, createdAt: at }, stored.tail);
    await updateSigner(tx, signer.id, sql`signed_at = ${at}`);
    await dropPreparedAct(tx, signer.id);
    await revokeAfterAct({ tx, rowMac }, stored.serialNumber, now, stored.timeStamp && new Date(stored.timeStamp.at));
    const detail = {
      act: stored.record,
      actSha256: stored.actSha256,
      revision: { bytes, number, sha256 },
      signer: signer.n,
      timeStamp: stored.timeStamp,
    };
    await appendToTrail(tx, rowMac, envelope, "signed", now, detail, channelOf(linked));
    // An envelope that is signed in a notary's presence needs no links, and no job completes it. The notary calls each
    // signer, and the notary's own signature ends the envelope.
    if (envelope.isInRoom) return true;
    await setEnvelopeStatus(tx, order, "PartiallySigned", at);
    const left = signersInTurn(await findSigners(tx, id));
    if (left.length === 0) await completeLater(tx, order.id);
    for (const next of left)
      if (next.issuedAt === null) await issueLink(tx, deps, envelope, next, { at: now, actor: "system" });
    return true;
  });
}

/**
 * Queues a job that completes the envelope 30 seconds later, by the database's clock. The request itself usually
 * completes the envelope first, unless it is interrupted.
 */
const completeLater = (tx: Tx, orderId: number) =>
  tx.query(sql`SELECT enqueue_job(${envelopeQueue}, ${{ orderId }}::jsonb, now() + interval '30 seconds')`);

import { auditLine } from "../../../kernel/audit/audit.ts";
import { orDiscard } from "../../../kernel/platform/blobs/blobs.ts";
import { memoryHolder } from "../../../kernel/platform/bounds/memory-budget.ts";
import { hourMs } from "../../../kernel/platform/clock.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { hashYielding } from "../../../kernel/platform/hash-yielding.ts";
import { newCode } from "../../../kernel/platform/ids.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import { lockOrder } from "../../../orders/order/order.ts";
import type { PlannedField } from "../pdf/fields.ts";
import { planFields } from "../pdf/placement/plan-fields.ts";
import type { PlannedBlock } from "../pdf/prepare.ts";
import { prepareIn } from "../pdf/tasks.ts";
import type { EnvelopeDeps } from "../records/deps.ts";
import {
  type Envelope,
  endEnvelope,
  findEnvelope,
  findOpenEnvelope,
  findSigners,
  lockEnvelope,
  type Signer,
} from "../records/envelope.ts";
import {
  type Document,
  findRevisions,
  insertRevision,
  openDocument,
  readDocument,
  storeTail,
  withOriginal,
} from "../records/revisions.ts";
import {
  blockOf,
  closeSignerRooms,
  insertRoom,
  insertSignerRoom,
  type NotaryBlock,
  setExpiry,
  setMaySign,
  signedBlockOf,
} from "../records/rooms.ts";
import { appendToTrail } from "../records/trail.ts";
import { insertEnvelope, signaturePageWords } from "./open.ts";
import { readSigningOrder } from "./signing-order.ts";

/** How long a turn in the notary's presence lasts, if the caller sets no end (`until`). */
const turnMs = hourMs;

/** The dependencies of signing in a notary's presence. */
export type RoomDeps = Pick<EnvelopeDeps, "db" | "clock" | "blobs" | "rowMac" | "workers">;

/** An envelope whose signers sign in a notary's presence. */
export type RoomEnvelope = {
  id: number;
  verifyCode: string;
  /** The newest revision of the document. */
  head: { number: number; bytes: number; sha256: string };
  block: NotaryBlock;
  signers: readonly Pick<Signer, "id" | "n" | "name" | "language" | "consent" | "signedAt" | "openedAt">[];
};

/** Finds a place for a notary's block that does not touch the planned fields. */
export type PlaceBlock = (
  original: { bytes: Buffer; sha256: string },
  planned: readonly PlannedField[],
) => Promise<PlannedBlock>;

/**
 * Prepares the document of an order that waits for a notary. All fields are added before the first signature: those of
 * the signers, and the notary's block. Nobody is mailed.
 * @returns the id of the envelope
 * @throws PdfRefusal, UnfitField when the document can't be prepared; ServiceError `conflict` when another envelope is
 * open, or the order does not wait for a notary
 */
export async function openRoomEnvelope(
  deps: RoomDeps,
  orderId: number,
  place: PlaceBlock,
  isRemote: boolean,
): Promise<number> {
  const order = await readSigningOrder(deps, orderId, "NotarizationPending");
  if (!order) throw new ServiceError("conflict", "The order does not wait for a notary.");
  const { code: orderCode, partnerId, environment, signers, fields: requested } = order;
  const owner = { orderCode, partnerId, environment };
  return withOriginal(deps, { orderId, ...owner }, async (original) => {
    const { bytes, sha256: docSha256 } = original;
    const holder = partnerId;
    const planned = await planFields(deps.workers, { holder, bytes, signers: signers.length, fields: requested });
    const block = await place(original, planned);
    const input = { planned, signers: signers.length, page: signaturePageWords, docSha256, isNotarized: true, block };
    const prepared = await prepareIn(deps.workers, { holder, bytes, input });
    const own = prepared.block;
    if (!own) throw new Error("the prepared document has no field for its notary");
    const tail = await storeTail(deps, owner, prepared.tail);
    const sha256 = (await hashYielding(bytes)).update(prepared.tail).digest("hex");
    const length = bytes.length + prepared.tail.length;
    const write = async (tx: Tx) => {
      const locked = await lockOrder(tx, orderCode);
      if (locked?.status !== "NotarizationPending" || (await findOpenEnvelope(tx, orderId)))
        throw new ServiceError("conflict", "The document is prepared already. Reload the page.");
      const at = deps.clock();
      const envelope = await insertEnvelope(tx, orderId, order, prepared, at);
      // No reminders are sent for signatures in a notary's presence.
      await tx.query(sql`UPDATE envelopes SET remind_at = NULL WHERE id = ${envelope.id}`);
      const { name, object, width, height } = own;
      const room = { name, object, width, height, ...(isRemote && { isRemote: true as const }) };
      await insertRoom(tx, envelope.id, room, at);
      await insertRevision(tx, envelope, { number: 1, signer: null, bytes: length, sha256, createdAt: at }, tail);
      await appendToTrail(tx, deps.rowMac, envelope, "created", at, {
        attempt: envelope.attempt,
        document: { bytes: bytes.length, sha256: docSha256 },
        inPresence: true,
        orderCode,
        revision: { bytes: length, number: 1, sha256 },
        signers: signers.map(({ name, email }, index) => ({ email, n: index + 1, name })),
      });
      return envelope.id;
    };
    return orDiscard(deps.blobs, tail.blobKey, () => deps.db.transaction(write));
  });
}

/** The open envelope whose signers sign in a notary's presence; undefined when the order has none. */
export async function roomEnvelopeOf(db: Sql, orderId: number): Promise<RoomEnvelope | undefined> {
  const envelope = await findOpenEnvelope(db, orderId);
  const block = envelope?.isInRoom ? await blockOf(db, envelope.id) : undefined;
  const head = envelope && block ? (await findRevisions(db, envelope.id)).at(-1) : undefined;
  if (!envelope || !block || !head) return undefined;
  const { id, verifyCode } = envelope;
  return { id, verifyCode, head, block, signers: await findSigners(db, id) };
}

/**
 * The field in the order's document that is reserved for the notary's signature. Null when the document has none, for
 * example because it was signed elsewhere. The notary then adds a field.
 * @param room the envelope of the notarial act in progress, if its signers sign in the notary's presence
 */
export async function notaryBlockOf(db: Sql, orderId: number, room?: RoomEnvelope): Promise<NotaryBlock | null> {
  return room?.block ?? (await signedBlockOf(db, orderId)) ?? null;
}

/** Opens the newest revision as a file, to send it to a browser. @throws as `openDocument` */
export async function openRoomDocument(deps: Pick<RoomDeps, "db" | "blobs" | "rowMac">, envelopeId: number) {
  const envelope = await findEnvelope(deps.db, envelopeId);
  if (!envelope) throw new ServiceError("unavailable", "The document can't be read now. Try again later.");
  return openDocument(deps, envelope);
}

/**
 * Runs work on the newest revision, and reserves memory for it and for one more copy.
 * @throws ServiceError `unavailable`; AlteredDocumentError
 */
export async function readRoomDocument<T>(
  deps: Pick<RoomDeps, "db" | "blobs" | "rowMac">,
  envelopeId: number,
  work: (document: Document) => Promise<T>,
): Promise<T> {
  const envelope = await findEnvelope(deps.db, envelopeId);
  const head = envelope && (await findRevisions(deps.db, envelopeId)).at(-1);
  if (!envelope || !head) throw new ServiceError("unavailable", "The document can't be read now. Try again later.");
  return deps.blobs.memory.within(memoryHolder(envelope), 2 * head.bytes, async () =>
    work(await readDocument(deps, envelope)),
  );
}

type Turn = { n: number; maySign: boolean; presence: string; actor: string; at: Date; until?: Date };

/**
 * Begins a signer's turn in the notary's presence, on the notary's device or by audio and video. Earlier turns end,
 * also those of the same signer.
 * @returns the token of the signing pages
 * @throws ServiceError `conflict` for an envelope that has ended, `not_found` for an unknown signer
 */
export async function giveToSigner(tx: Tx, rowMac: RowMac, envelopeId: number, turn: Turn): Promise<string> {
  const { n, maySign, presence, actor, at } = turn;
  const envelope = await lockOpen(tx, envelopeId);
  const signer = (await findSigners(tx, envelopeId)).find((each) => each.n === n);
  if (!signer) throw new ServiceError("not_found", "There is no such signer.");
  await closeSignerRooms(tx, envelopeId, at);
  const token = newCode();
  const expiresAt = turn.until ?? new Date(at.getTime() + turnMs);
  await insertSignerRoom(tx, { signerId: signer.id, token, maySign, presence, at, expiresAt });
  await appendToTrail(tx, rowMac, envelope, "handed_over", at, { maySign, presence, signer: n });
  const { partnerId, orderId } = envelope;
  const detail = { signer: n, attempt: envelope.attempt, maySign };
  await tx.query(auditLine({ at, action: "signing_device.handed_over", actor, partnerId, orderId, detail }));
  return token;
}

/**
 * Forbids or allows signing in the open turn. The notary forbids it, for example, while a person is out of view. Locks
 * the envelope before its turns, as a signature does.
 */
export async function setSignature(tx: Tx, envelopeId: number, isOpen: boolean): Promise<void> {
  await lockOpen(tx, envelopeId);
  await setMaySign(tx, envelopeId, isOpen);
}

/** Sets the time when the open turn ends. */
export async function extendTurn(tx: Tx, envelopeId: number, until: Date): Promise<void> {
  await lockOpen(tx, envelopeId);
  await setExpiry(tx, envelopeId, until);
}

/** Ends the open turn, so that nobody can sign until the next turn. */
export const endSignersTurn = (tx: Tx, envelopeId: number, at: Date): Promise<void> =>
  closeSignerRooms(tx, envelopeId, at);

async function lockOpen(tx: Tx, envelopeId: number): Promise<Envelope> {
  const envelope = await lockEnvelope(tx, envelopeId);
  if (!envelope?.isInRoom || envelope.endedAt !== null)
    throw new ServiceError("conflict", "The signing of this document has ended.");
  return envelope;
}

/**
 * Ends the envelope after a notary has signed its document. The caller must change the order's status.
 * @throws ServiceError `conflict` when a signer has not signed, or the envelope has ended
 */
export async function completeRoom(
  tx: Tx,
  rowMac: RowMac,
  envelopeId: number,
  { notarizedSha256, bytes, at }: { notarizedSha256: string; bytes: number; at: Date },
): Promise<void> {
  const envelope = await lockOpen(tx, envelopeId);
  const left = (await findSigners(tx, envelopeId)).find(({ signedAt }) => signedAt === null);
  if (left) throw new ServiceError("conflict", `${left.name} has not signed yet.`);
  await closeSignerRooms(tx, envelopeId, at);
  await appendToTrail(tx, rowMac, envelope, "notarized", at, { document: { bytes, sha256: notarizedSha256 } });
  await endEnvelope(tx, envelopeId, "Completed", at);
}

/**
 * Ends the envelope without a notarized document. A later notarization begins again with the order's original document.
 */
export async function voidRoom(tx: Tx, rowMac: RowMac, envelopeId: number, reason: string, at: Date): Promise<void> {
  const envelope = await lockEnvelope(tx, envelopeId);
  if (!envelope?.isInRoom || envelope.endedAt !== null) return;
  await closeSignerRooms(tx, envelopeId, at);
  await appendToTrail(tx, rowMac, envelope, "voided", at, { reason });
  await endEnvelope(tx, envelopeId, "Voided", at);
}

import { isDeepStrictEqual } from "node:util";
import { orDiscard } from "../../../kernel/platform/blobs/blobs.ts";
import { dayMs } from "../../../kernel/platform/clock.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { sealed, sql } from "../../../kernel/platform/database/sql.ts";
import { hashYielding } from "../../../kernel/platform/hash-yielding.ts";
import { newVerifyCode } from "../../../kernel/platform/ids.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import {
  correctionsOf,
  currentEmail,
  lockOrder,
  readSigning,
  replaceSigner,
  signersOf,
} from "../../../orders/order/order.ts";
import { planFields, planFieldsAndBlock } from "../pdf/placement/plan-fields.ts";
import type { Prepared } from "../pdf/prepare.ts";
import { prepareIn } from "../pdf/tasks.ts";
import type { EnvelopeDeps } from "../records/deps.ts";
import {
  type Envelope,
  findEnvelope,
  findOpenEnvelope,
  findSigners,
  signersInTurn,
  vouchForEnvelopes,
  vouchForSigners,
} from "../records/envelope.ts";
import { insertRevision, storeTail, withOriginal } from "../records/revisions.ts";
import { insertBlock } from "../records/rooms.ts";
import { appendToTrail } from "../records/trail.ts";
import { endingOf } from "../texts/texts.ts";
import { issueLink } from "./issue-link.ts";
import { readSigningOrder, type SigningOrder } from "./signing-order.ts";

/** How long an envelope is open. Advancing a test firm's clock shortens it. */
export const openMs = 30 * dayMs;
/** Reminders are sent this many days after the envelope was opened, to the signers whose turn it is. */
export const reminderDays = [2, 5, 9, 14, 21] as const;

/**
 * Opens the envelope of an order that waits for signatures: prepares the document, and mails links to the signers whose
 * turn it is. Safe on several nodes at once, because a second node finds the envelope already open.
 * @throws PdfRefusal, UnfitField when the document can't be prepared; AlteredDocumentError
 */
export async function openEnvelope(deps: EnvelopeDeps, orderId: number): Promise<void> {
  const order = await readSigningOrder(deps, orderId);
  if (!order) return;
  const { code: orderCode, partnerId, environment } = order;
  await withOriginal(deps, { orderId, orderCode, partnerId, environment }, (original) =>
    openOn(deps, orderId, order, original),
  );
}

/**
 * Stores the envelope with its prepared revision (the tail). Does nothing if the envelope is already open, or if the
 * order or its document has changed.
 */
async function openOn(
  deps: EnvelopeDeps,
  orderId: number,
  order: SigningOrder,
  original: { bytes: Buffer; sha256: string },
): Promise<void> {
  const { db, workers, clock, rowMac } = deps;
  const { code: orderCode, partnerId, environment } = order;
  const owner = { orderCode, partnerId, environment };
  const { signers, fields: requested } = order;
  const { isNotarized } = order;
  const toPlan = { holder: partnerId, bytes: original.bytes, signers: signers.length, fields: requested };
  const { planned, block } = isNotarized
    ? await planFieldsAndBlock(workers, toPlan)
    : { planned: await planFields(workers, toPlan), block: null };
  const about = { signers: signers.length, page: signaturePageWords, docSha256: original.sha256, isNotarized };
  const prepared = await prepareIn(workers, {
    holder: partnerId,
    bytes: original.bytes,
    input: { planned, ...about, ...(block && { block }) },
  });
  const tail = await storeTail(deps, owner, prepared.tail);
  const sha256 = (await hashYielding(original.bytes)).update(prepared.tail).digest("hex");
  const open = async (tx: Tx) => {
    const locked = await lockOrder(tx, order.code);
    if (locked?.status !== "EsignPending" || (await findOpenEnvelope(tx, orderId))) return false;
    await useCorrectedAddresses(tx, rowMac, orderId);
    // Reads the signers again, because their names and email addresses may have been corrected during the preparation.
    // The prepared document doesn't depend on them.
    const current = await readSigningOrder({ db: tx, rowMac }, orderId);
    // If the document was replaced during the preparation, the replacement has queued its own job, which opens the
    // envelope.
    if (current?.replacements !== order.replacements) return false;
    if (current.signers.length !== signers.length || !isDeepStrictEqual(current.fields, requested))
      throw new Error(`who signs order ${order.code} was changed while its document was prepared`);
    const at = clock();
    const bytes = original.bytes.length + prepared.tail.length;
    const envelope = await insertEnvelope(tx, orderId, current, prepared, at);
    if (prepared.block) await insertBlock(tx, envelope.id, prepared.block);
    await insertRevision(tx, envelope, { number: 1, signer: null, bytes, sha256, createdAt: at }, tail);
    await appendToTrail(tx, rowMac, envelope, "created", at, {
      attempt: envelope.attempt,
      document: { bytes: original.bytes.length, sha256: original.sha256 },
      expiresAt: envelope.expiresAt.toISOString(),
      orderCode: order.code,
      revision: { bytes, number: 1, sha256 },
      signers: current.signers.map(({ accessCodeHash: _, phone, ...signer }, index) => ({
        ...signer,
        n: index + 1,
        phone: phone && endingOf(phone),
      })),
    });
    for (const signer of signersInTurn(await findSigners(tx, envelope.id)))
      await issueLink(tx, deps, envelope, signer, { at, actor: "system" });
    return true;
  };
  await orDiscard(deps.blobs, tail.blobKey, () => db.transaction(open));
}

/**
 * A signer's address may have been corrected after the signature in an earlier envelope, which kept the earlier
 * address. The link for a new envelope must go to the corrected address. So this writes the corrected addresses to the
 * order's signers. The order must be locked.
 */
async function useCorrectedAddresses(tx: Tx, rowMac: RowMac, orderId: number): Promise<void> {
  const corrections = await correctionsOf(tx, orderId);
  if (corrections.length === 0) return;
  for (const [index, signer] of signersOf(await readSigning(tx, rowMac, orderId)).entries()) {
    const email = currentEmail(corrections, signer);
    if (email !== signer.email) await replaceSigner(tx, rowMac, orderId, index + 1, { email });
  }
}

export const signaturePageWords = {
  title: "Signatures",
  note: "Each signature below is a digital signature in this file. PDF readers that know signatures, as Acrobat, show and check it.",
};

export async function insertEnvelope(
  tx: Tx,
  orderId: number,
  { pages, signers }: SigningOrder,
  prepared: Pick<Prepared, "fields" | "block">,
  at: Date,
): Promise<Envelope> {
  const last = Math.max(pages, ...prepared.fields.map(({ page }) => page + 1));
  const fields = prepared.fields.filter(({ name }) => name !== prepared.block?.name);
  const [row] = await tx.query<{ id: number }>(sql`
    INSERT INTO envelopes (order_id, attempt, verify_code, fields, pages, created_at, expires_at, remind_at)
    SELECT ${orderId}, 1 + coalesce(max(attempt), 0), ${sealed("envelope", newVerifyCode())}, ${JSON.stringify(fields)}::jsonb, ${last}, ${at},
      ${new Date(at.getTime() + openMs)}, ${new Date(at.getTime() + reminderDays[0] * dayMs)}
    FROM envelopes WHERE order_id = ${orderId} RETURNING id`);
  if (row) await vouchForEnvelopes(tx, sql`id = ${row.id}`);
  const envelope = row && (await findEnvelope(tx, row.id));
  if (!envelope) throw new Error("the envelope was not written");
  for (const [index, { name, email, phone, language, routing, auth, accessCodeHash }] of signers.entries())
    await tx.query(sql`
      INSERT INTO envelope_signers (envelope_id, n, name, email, phone, language, routing, auth, access_code_hash)
      VALUES (${envelope.id}, ${index + 1}, ${name}, ${email}, ${phone}, ${language}, ${routing}, ${auth},
        ${accessCodeHash})`);
  await vouchForSigners(tx, sql`envelope_id = ${envelope.id}`);
  return envelope;
}

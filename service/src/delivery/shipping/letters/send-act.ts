import { hash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { auditLine } from "../../../kernel/audit/audit.ts";
import { minuteMs } from "../../../kernel/platform/clock.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { AlteredDocumentError, invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { enqueue } from "../../../kernel/platform/jobs/jobs.ts";
import { shortCode } from "../../../kernel/platform/text.ts";
import { fromOrders, hasOrderCode, type LockedOrder, lockOrder, verifiedOrder } from "../../../orders/order/order.ts";
import type { Address } from "../../../orders/pricing/pricing.ts";
import { type AcceptedLetter, type Act, createLob, type Intent, isLetterId } from "../../../providers/providers.ts";
import { type WantedDocument, withOrderDocument } from "../../../signing/envelopes/envelopes.ts";
import { actor, type LetterDeps, pollQueue } from "./deps.ts";
import { type LetterPlan, printByHand, waitsForLetter } from "./intend-letter.ts";
import { pollEveryMs } from "./listen.ts";
import { recallWhereUnwanted } from "./recall.ts";
import { findLetter, insertLetter } from "./store.ts";

/** Lob accepts a letter in less time than this, so a look-up after this time finds the letter. */
const lookAfterMs = 2 * minuteMs;

const planOf = (intent: Intent): LetterPlan => intent.payload as LetterPlan;

/** An attempt's idempotency key at Lob. It is stable across retries and doesn't reveal the order. */
const letterKey = (orderCode: string, attempt: number): string =>
  hash("sha256", `${orderCode}:mail:${attempt}`).slice(0, 32);

/** Sends the document of an order as a letter. */
export const sendAct = (deps: LetterDeps): Act<AcceptedLetter> => ({
  name: "letter.send",
  provider: "lob",
  byHand: "packet_print",
  lookAfterMs,
  async wanted(tx, intent) {
    const { orderCode, to } = planOf(intent);
    const order = await lockOrder(tx, orderCode);
    if (order === undefined || !(await waitsForLetter(tx, order))) return false;
    await requireAddress(tx, orderCode, to);
    return true;
  },
  async perform(intent, call) {
    const { orderCode, owner, documentId, to, from, mailClass, doubleSided } = planOf(intent);
    const key = letterKey(orderCode, intent.attempt);
    const metadata = { order: shortCode(orderCode), letter: key };
    // The document is in memory twice: as the file that was read, and in the body of the request.
    return withDocument(deps, { orderCode, owner, documentId }, (bytes) =>
      createLob(call).send({ to, from, pdf: new Uint8Array(bytes), mailClass, doubleSided, metadata }, key),
    );
  },
  // Searches for the letter at Lob instead of repeating the request, because the order may no longer need the letter.
  // If Lob has none, the retry first decides whether a letter is needed, and then uses the same idempotency key.
  async lookUp(intent, call) {
    const found = await createLob(call).find({ letter: letterKey(planOf(intent).orderCode, intent.attempt) });
    if (found.kind !== "done") return { kind: "unclear", why: found.why };
    const [letter] = found.result;
    return letter ? { kind: "done", result: letter } : { kind: "not_done" };
  },
  resultOf({ id, tracking }) {
    if (!isLetterId(id)) throw invalid("id must be that of a letter at Lob: ltr_...");
    return {
      letterId: id,
      trackingNumber: tracking,
      expectedDelivery: null,
      sendAt: null,
      isCanceled: false,
      tracking: [],
    };
  },
  async settled(tx, intent, end) {
    const order = await lockOrder(tx, planOf(intent).orderCode);
    if (!order || end.kind === "unclear") return;
    if (end.kind === "done") return keepAccepted(deps, tx, order, intent, end.result);
    if (await waitsForLetter(tx, order))
      await printByHand(tx, order, `Lob did not take the letter: ${end.why}`, deps.clock());
  },
});

/**
 * Checks that a planned letter still has the order's present address. The order's address may have changed since the
 * letter was planned.
 * @throws Error when the addresses differ
 */
async function requireAddress(tx: Tx, orderCode: string, to: Address): Promise<void> {
  const [order] = await tx.query<{ shipTo: Address | null }>(
    sql`SELECT o.ship_to AS "shipTo", ${verifiedOrder} ${fromOrders} WHERE ${hasOrderCode(orderCode)}`,
  );
  if (!isDeepStrictEqual(order?.shipTo, to))
    throw new Error(`the letter of order ${orderCode} has an address that is not its order's`);
}

/** Calls `send` with the document's bytes. Refuses when the document was deleted or belongs to another order. */
async function withDocument(
  deps: LetterDeps,
  which: WantedDocument,
  send: (bytes: Buffer) => ReturnType<Act<AcceptedLetter>["perform"]>,
): ReturnType<Act<AcceptedLetter>["perform"]> {
  let isRead = false;
  try {
    return await withOrderDocument(deps, which, (bytes) => {
      isRead = true;
      return send(bytes);
    });
  } catch (error) {
    // The act is retried after an outage that prevented reading, and after any error of `send`.
    if (isRead || !(error instanceof ServiceError) || error.code === "unavailable") throw error;
    // An altered document has a task of its own. The letter is mailed once the document's file is restored.
    if (error instanceof AlteredDocumentError) return { kind: "unavailable", why: error.message, retryAfterMs: null };
    return { kind: "refused", status: 0, code: null, why: error.message };
  }
}

async function keepAccepted(
  deps: LetterDeps,
  tx: Tx,
  order: LockedOrder,
  intent: Intent,
  accepted: AcceptedLetter,
): Promise<void> {
  const { mailClass, docSha256, pages, doubleSided, documentId } = planOf(intent);
  const { letterId, trackingNumber, expectedDelivery, sendAt } = accepted;
  const at = deps.clock();
  const facts = { letterId, trackingNumber, expectedDelivery, sendAt, mailClass, docSha256, pages, doubleSided };
  const id = await insertLetter(tx, { ...facts, orderId: order.id, attempt: intent.attempt, acceptedAt: at });
  // No row was inserted, so the letter is already recorded: a person may have typed its id. Continuing would change
  // that letter wrongly.
  if (id === undefined) throw invalid("this letter is on record already");
  const detail = { letter: letterId, mailClass, pages, doubleSided, document: documentId };
  const { id: orderId, partnerId } = order;
  await tx.query(auditLine({ at, action: "letter.accepted", actor, partnerId, orderId, detail }));
  await enqueue(tx, pollQueue, { letterId }, new Date(at.getTime() + pollEveryMs));
  const letter = await findLetter(tx, letterId);
  // During the request, the order may have changed to a status that needs no letter.
  if (letter) await recallWhereUnwanted(deps, tx, order, letter);
}

import { isDeepStrictEqual } from "node:util";
import type { Owner } from "../../../kernel/identity/identity.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { isServiceError, ServiceError } from "../../../kernel/platform/errors.ts";
import { enqueue } from "../../../kernel/platform/jobs/jobs.ts";
import { runOr } from "../../../kernel/platform/workers/task.ts";
import { claimantOf, explainTask, openTask } from "../../../kernel/tasks/tasks.ts";
import { type LockedOrder, lockOrder, readOrderHead } from "../../../orders/order/order.ts";
import { type Address, senderOf } from "../../../orders/pricing/pricing.ts";
import type { MailClass } from "../../../providers/providers.ts";
import { type PaperOrder, paperOrder, withSentDocument } from "../../paper/paper.ts";
import { type LetterDeps, mailQueue } from "./deps.ts";
import { type PagesRead, type PrintPlan, planLetter, readPages } from "./fit.ts";
import { currentLetter, letterActs } from "./store.ts";

/**
 * Everything that a letter's request to Lob contains. It is decided in advance, so that a retry sends the same letter.
 */
export type LetterPlan = PrintPlan & {
  orderCode: string;
  owner: Owner;
  documentId: string;
  docSha256: string;
  mailClass: MailClass;
  to: Address;
  from: Address;
};

/**
 * True if the order needs a letter and has no `currentLetter`, which is a letter at Lob that may still arrive or was
 * delivered. The caller must have locked the order's row.
 */
export async function waitsForLetter(tx: Tx, order: LockedOrder): Promise<boolean> {
  if (order.environment !== "live" || order.status !== "ShippingPending" || order.shipMethod !== "print_mail")
    return false;
  return (await currentLetter(tx, order.id)) === undefined;
}

/**
 * Queues the order's document as a letter if Lob can print and mail it; otherwise the printing task states the reason.
 * Reads and measures the document before it locks the order's row.
 */
export async function intendLetter(deps: LetterDeps, orderId: number): Promise<void> {
  const found = await readOrderHead(deps.db, orderId);
  if (found?.environment !== "live" || found.status !== "ShippingPending") return;
  const order = await paperOrder(deps.db, found.code, "live");
  const plan = await planFor(deps, order);
  await deps.db.transaction(async (tx) => {
    const locked = await lockOrder(tx, found.code);
    if (!locked || !(await waitsForLetter(tx, locked)) || (await isClaimed(tx, orderId))) return;
    const { isUnderWay, next } = await letterActs(tx, orderId);
    if (isUnderWay) return;
    // The firm may have corrected the address while the document was measured.
    if (!isDeepStrictEqual((await paperOrder(tx, found.code, "live")).shipTo, order.shipTo))
      return enqueue(tx, mailQueue, { orderId });
    const at = deps.clock();
    if ("misfit" in plan) return printByHand(tx, locked, plan.misfit, at);
    await deps.providers.intend(tx, { act: "letter.send", provider: "lob", orderId, attempt: next, payload: plan, at });
  });
}

async function planFor(deps: LetterDeps, order: PaperOrder): Promise<LetterPlan | { misfit: string }> {
  const { workers, business, mailClass } = deps.planning;
  const { code: orderCode, partnerId, environment, shipTo: to, shipFrom } = order;
  if (mailClass === null) return { misfit: "No account at Lob is set." };
  if (to === null) return { misfit: "The order has no address to mail to." };
  const document = await withSentDocument(deps, order, async ({ kind, sha256, bytes }) => {
    const costly: PagesRead = { count: 0, odd: null, isEncrypted: false, refused: "that takes too long" };
    const read = await runOr(workers, readPages, { holder: partnerId, bytes, input: null }, () => costly);
    return { kind, sha256, read };
  }).catch((error: unknown) => {
    if (!isServiceError(error, "not_found")) throw error;
    return error;
  });
  if (document instanceof ServiceError) return { misfit: document.message };
  const { kind, sha256, read } = document;
  const from = senderOf(shipFrom, business);
  const plan = planLetter(read, to, from);
  if ("misfit" in plan) return plan;
  const owner = { partnerId, environment };
  return { ...plan, orderCode, owner, documentId: `${kind}-${sha256}`, docSha256: sha256, mailClass, to, from };
}

const isClaimed = async (tx: Tx, orderId: number): Promise<boolean> =>
  (await claimantOf(tx, orderId, "packet_print")) !== null;

/** Opens the task to print and mail the document by hand, with the reason. */
export async function printByHand(tx: Tx, { id, isRush }: LockedOrder, reason: string, at: Date): Promise<void> {
  await openTask(tx, { kind: "packet_print", at, environment: "live", orderId: id, isRush, reason });
  await explainTask(tx, id, "packet_print", reason);
}

import { hash } from "node:crypto";
import { minuteMs } from "../../kernel/platform/clock.ts";
import type { Tx } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { AlteredDocumentError, invalid, nullIf, ServiceError } from "../../kernel/platform/errors.ts";
import { openTask } from "../../kernel/tasks/tasks.ts";
import { fromOrders, pagesOf, verifiedOrder } from "../../orders/order/order.ts";
import { type Act, type ActEnd, createTelnyx, type Intent, type TelnyxFax } from "../../providers/providers.ts";
import { paperOrder, printFor, withSentDocument } from "../paper/paper.ts";
import { actName, actor, type FaxDeps, pollMs } from "./deps.ts";
import { applyFax, resume } from "./record.ts";
import { mayBeRefused } from "./states.ts";
import { type FaxAttempt, findAttempt, followSoon, lockFaxes, updateAttempt } from "./store.ts";

/**
 * Telnyx lists an accepted fax only after a delay, and the request itself can take a minute. After this time, a look-up
 * finds the fax.
 */
const lookAfterMs = 3 * minuteMs;
/** The look-up includes faxes from this long before the request, because Telnyx's clock may be behind. */
const clockMs = 5 * minuteMs;

const attemptIdIn = ({ payload }: Intent): number => (payload as { attemptId: number }).attemptId;

/**
 * The provider's act that sends one attempt of a fax. The act repeats a request only once it is certain that Telnyx has
 * no fax of the attempt.
 */
export function faxAct(deps: FaxDeps): Act<TelnyxFax> {
  const { db, app } = deps;
  const attemptOf = async (intent: Intent): Promise<FaxAttempt & { orderCode: string }> => {
    const attempt = await findAttempt(db, attemptIdIn(intent));
    const [order] = await db.query<{ code: string; faxTo: string | null }>(
      sql`SELECT o.code AS "code@order", o.fax_to AS "faxTo", ${verifiedOrder} ${fromOrders} WHERE o.id = ${intent.orderId}`,
    );
    if (!attempt || !order) throw new Error("an intent without its attempt");
    // The order's fax number may have changed since the attempt was created. A fax may go only to the order's present
    // number.
    if (attempt.faxTo !== order.faxTo)
      throw new Error(`a fax of order ${order.code} goes to a number that is not its order's`);
    return { ...attempt, orderCode: order.code };
  };
  return {
    name: actName,
    provider: "telnyx",
    byHand: "fax_send",
    lookAfterMs,
    async wanted(tx, intent) {
      const faxes = await lockFaxes(tx, intent.orderId);
      const attempt = faxes?.attempts.find(({ id }) => id === attemptIdIn(intent));
      // False for `FaxedByHand`: staff already faxed the document, so another fax would deliver it twice.
      const isFaxed = faxes?.status === "FaxPending" || faxes?.status === "FaxSent";
      // The firm may have corrected the order's fax number since this attempt was queued.
      const isSameNumber = attempt?.faxTo === faxes?.order.faxTo;
      if (faxes && isFaxed && isSameNumber && faxes.order.environment === "live" && attempt?.state === "waiting")
        return true;
      if (attempt?.state === "waiting") await updateAttempt(tx, attempt.id, sql`state = 'withdrawn'`);
      return false;
    },
    async perform(intent, call) {
      const { id, faxTo, faxFrom, clientState, orderCode } = await attemptOf(intent);
      const packet = await faxPacket(deps, orderCode);
      if ("notNow" in packet) return { kind: "unavailable", why: packet.notNow, retryAfterMs: null };
      if ("refused" in packet) return { kind: "refused", status: 0, code: null, why: packet.refused };
      const { pdf, documentSha256, sentSha256, pages } = packet;
      // Stores the hashes of the document and the faxed file before the request, because Telnyx never returns the file.
      const sent = sql`document_sha256 = ${documentSha256}, sent_sha256 = ${sentSha256}, sent_pages = ${pages}`;
      await db.transaction((tx) => updateAttempt(tx, id, sent));
      return createTelnyx(call).sendFax({ app, from: faxFrom, to: faxTo, pdf, clientState });
    },
    async lookUp(intent, call) {
      const { faxId, faxTo, clientState } = await attemptOf(intent);
      const telnyx = createTelnyx(call);
      const since = new Date((intent.begunAt ?? intent.intendedAt).getTime() - clockMs);
      const listed = faxId ? await telnyx.getFax(faxId) : await telnyx.listFaxes({ to: faxTo, since });
      if (listed.kind !== "done") return { kind: "unclear", why: listed.why };
      if (!Array.isArray(listed.result)) return { kind: "done", result: listed.result };
      const found = listed.result.find((fax) => fax?.clientState === clientState);
      if (found) return { kind: "done", result: found };
      // A listed fax without a mark (`clientState`) may be the fax of this attempt. Then it remains unknown whether the
      // attempt was sent.
      return listed.result.some((fax) => !fax?.clientState)
        ? {
            kind: "unclear",
            why: "Telnyx lists a fax to this number without the mark that tells whether it is this one",
          }
        : { kind: "not_done" };
    },
    resultOf({ id }) {
      if (!/^[\w-]{1,100}$/.test(id)) throw invalid("id must be the id of the fax at Telnyx.");
      return { id, status: "queued", clientState: null, failureReason: null, pages: null, seconds: null };
    },
    settled: (tx, intent, end) => settle(deps, tx, intent, end),
  };
}

async function settle(deps: FaxDeps, tx: Tx, intent: Intent, end: ActEnd<TelnyxFax>): Promise<void> {
  const faxes = await lockFaxes(tx, intent.orderId);
  const attempt = faxes?.attempts.find(({ id }) => id === attemptIdIn(intent));
  if (!faxes || !attempt || end.kind === "unclear") return;
  const at = deps.clock();
  if (end.kind === "done") {
    const fax = { ...end.result, status: end.result.status ?? "queued" };
    await applyFax(tx, attempt, fax, { at, eventId: null });
  } else if (mayBeRefused(attempt.state)) {
    await updateAttempt(tx, attempt.id, sql`state = 'refused', reason = ${end.why}, ended_at = ${at}`);
    const { status } = faxes;
    const { id: orderId, environment, isRush } = faxes.order;
    const reason = `Telnyx does not take it: ${end.why}`;
    if (status === "FaxPending") await openTask(tx, { kind: "fax_send", at, environment, orderId, isRush, reason });
  }
  const { cancel } = await resume(deps, tx, intent.orderId);
  const isAccepted = end.kind === "done" || !mayBeRefused(attempt.state);
  if (isAccepted || cancel) await followSoon(tx, intent.orderId, cancel ? 0 : pollMs);
}

/** Telnyx's limits for one fax, from `POST /faxes` in its OpenAPI document. */
const max = { bytes: 50 * 1024 * 1024, pages: 350 };

/** The faxed file: a cover sheet that states where to verify the sealed original, then the document. */
type FaxPacket = { pdf: Buffer; documentSha256: string; sentSha256: string; pages: number };

/**
 * Makes the file to fax.
 * @returns the packet; `refused` with the reason why it can never be faxed; `notNow` with the reason why it must be
 * retried
 */
async function faxPacket(
  deps: FaxDeps,
  orderCode: string,
): Promise<FaxPacket | { refused: string } | { notNow: string }> {
  const { db, paper } = deps;
  const order = await paperOrder(db, orderCode, "live").catch(nullIf("not_found"));
  if (!order) return { notNow: "the order is not being faxed now" };
  try {
    const documentSha256 = await withSentDocument(paper, order, async ({ sha256 }) => sha256);
    const pdf = await printFor(paper, order, { what: "fax", actor });
    if (pdf.length > max.bytes) return { refused: "With its cover sheet the document is larger than 50 MB." };
    const pages = await pagesOf(paper.workers, order.partnerId, pdf);
    if (pages > max.pages)
      return { refused: `With its cover sheet the document has ${pages} pages: a fax has at most ${max.pages}.` };
    return { pdf, documentSha256, sentSha256: hash("sha256", pdf), pages };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    // When the store or the workers are unavailable for a while, the act is retried, and no task for staff is opened.
    // An altered document has a task of its own. The fax is sent once the document's file is restored.
    const isLater = error.code === "unavailable" || error instanceof AlteredDocumentError;
    return isLater ? { notNow: error.message } : { refused: error.message };
  }
}

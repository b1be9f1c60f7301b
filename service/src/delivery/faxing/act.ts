import { verifiedOrders } from "../orders/orders.ts";
import type { Tx } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";
import { invalid } from "../platform/errors.ts";
import { type Act, type ActEnd, createTelnyx, type Intent, type TelnyxFax } from "../providers/providers.ts";
import { openTask } from "../tasks/tasks.ts";
import { actName, type FaxDeps, pollMs } from "./deps.ts";
import { faxPacket } from "./packet.ts";
import { applyFax, carryOn } from "./record.ts";
import { type FaxAttempt, findAttempt, followSoon, lockFaxes, updateAttempt } from "./store.ts";

/** By then a fax that Telnyx took stands in its list: its request may take a minute. */
const lookAfterMs = 180_000;
/** Its clock may be behind ours. */
const clockMs = 5 * 60_000;

const attemptIdIn = ({ payload }: Intent): number => (payload as { attemptId: number }).attemptId;

/** Sends a fax once. */
export function faxAct(deps: FaxDeps): Act<TelnyxFax> {
  const { db, app } = deps;
  const attemptOf = async (intent: Intent): Promise<FaxAttempt & { orderCode: string }> => {
    const attempt = await findAttempt(db, attemptIdIn(intent));
    const [order] = await db.query<{ code: string; faxTo: string | null }>(
      sql`SELECT code, fax_to AS "faxTo", ${verifiedOrders} FROM orders WHERE id = ${intent.orderId}`,
    );
    if (!attempt || !order) throw new Error("an intent without its attempt");
    // The attempt's number is a copy that bears no MAC.
    if (attempt.faxTo !== order.faxTo)
      throw new Error(`a fax of order ${order.code} goes to another than its order's number`);
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
      // Not `FaxedByHand`: the document would go out a second time.
      const isFaxed = faxes?.standing === "FaxPending" || faxes?.standing === "FaxSent";
      if (faxes && isFaxed && faxes.order.environment === "live" && attempt?.state === "waiting") return true;
      if (attempt?.state === "waiting") await updateAttempt(tx, attempt.id, sql`state = 'withdrawn'`);
      return false;
    },
    async perform(intent, call) {
      const { id, faxTo, faxFrom, clientState, orderCode } = await attemptOf(intent);
      const packet = await faxPacket(deps, orderCode);
      if ("notNow" in packet) return { kind: "unavailable", why: packet.notNow, retryAfterMs: null };
      if ("refused" in packet) return { kind: "refused", status: 0, code: null, why: packet.refused };
      const { pdf, documentSha256, sentSha256, pages } = packet;
      // Before it is sent: whoever finds it later at Telnyx finds no file there.
      await updateAttempt(
        db,
        id,
        sql`document_sha256 = ${documentSha256}, sent_sha256 = ${sentSha256}, sent_pages = ${pages}`,
      );
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
      // What cannot be compared may be the one.
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
  } else {
    await updateAttempt(tx, attempt.id, sql`state = 'refused', reason = ${end.why}, ended_at = ${at}`);
    const { id: orderId, environment, isRush, status } = faxes.order;
    const reason = `Telnyx does not take it: ${end.why}`;
    if (status === "FaxPending")
      await tx.query(openTask({ kind: "fax_send", at, environment, orderId, isRush, reason }));
  }
  const { cancel } = await carryOn(deps, tx, intent.orderId);
  if (end.kind === "done" || cancel) await followSoon(tx, intent.orderId, cancel ? 0 : pollMs);
}

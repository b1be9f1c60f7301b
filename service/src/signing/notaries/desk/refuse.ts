import type { Operator } from "../../../firms/operators/operators.ts";
import { perform } from "../../../orders/fulfilment/fulfilment.ts";
import type { Act } from "../acts/act.ts";
import { type RefusalReason, refusalReasons } from "../acts/entry.ts";
import { appendEntry } from "../acts/journal.ts";
import { deleteSignatures } from "../acts/signatures.ts";
import { claimedOrder, type DeskDeps, lockClaimed } from "../claims/claims.ts";
import { deleteDraft, findDraft } from "../claims/orders.ts";
import { accepted, formReader, type Typed } from "../form-reader.ts";
import { recordingOfOrder } from "../recordings/in-journal.ts";
import { endWithoutAct } from "../sheets/room.ts";

const reasons = Object.keys(refusalReasons) as [RefusalReason, ...RefusalReason[]];

/**
 * Ends an order's notarization without an act. If the notary's reason is that a person's identity was not proven, the
 * order becomes IdentityLocked; otherwise its notarization fails. The journal records the reason.
 * @throws ServiceError naming every wrong field
 */
export async function refuseAct(deps: DeskDeps, operator: Operator, code: string, typed: Typed): Promise<void> {
  const read = formReader(typed);
  const { reason, words } = accepted(
    read.done({
      reason: read.requiredOneOf("reason", reasons),
      words: read.required("words", { max: 1000, lines: true }),
    }),
  );
  const claimed = await claimedOrder(deps, operator, code);
  await deps.db.transaction(async (tx) => {
    const { locked, notary, order, at } = await lockClaimed(tx, deps, operator, claimed);
    const act = ((await findDraft(tx, order.taskId, notary.id))?.act ?? null) as Act | null;
    const { environment, orderId } = order;
    const frame = { journal: notary.id, notary, orderCode: code, environment, at, orderId, actor: operator.actor };
    const recording = await recordingOfOrder(tx, orderId, notary.id, deps.baseUrl);
    await appendEntry(tx, deps.rowMac, frame, { kind: "refusal", reason, words, act, ...(recording && { recording }) });
    const on = reason === "identity" ? "identity_locked" : "notarization_failed";
    // The firm gets only the standard text for the reason. The notary's own words are only in the journal.
    const facts = { reason: refusalReasons[reason] };
    await perform(tx, locked, on, facts, { actor: operator.actor, at, log: deps.log });
    const outcome = reason === "identity" || reason === "no_show" || reason === "technical" ? reason : "refused";
    await endWithoutAct(tx, deps.rowMac, order, outcome, { by: operator.actor, at });
    await deleteDraft(tx, order.taskId);
    await deleteSignatures(tx, order.taskId);
  });
}

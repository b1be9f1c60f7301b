import { Type } from "typebox";
import { Value } from "typebox/value";
import { auditLine } from "../../../kernel/audit/audit.ts";
import { minuteMs } from "../../../kernel/platform/clock.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { enqueue } from "../../../kernel/platform/jobs/jobs.ts";
import { dollars } from "../../../orders/dollars.ts";
import { dispatchQueue } from "../../../orders/order/order.ts";
import { type Act, createEasyPost, type Intent } from "../../../providers/providers.ts";
import { openTrouble } from "../../trouble.ts";
import { easypostActor, type LabelDeps } from "./deps.ts";
import { askLater, refundPauseMs } from "./follow-up.ts";
import { isHandedOver } from "./progress.ts";
import { asDelivery, type Label, labelOfAct, type RefundState, updateLabel } from "./store.ts";

export const refundLabelAct = "label.refund";

const Payload = Type.Object({ shipmentId: Type.String() });

function shipmentOf({ payload }: Intent): string {
  if (!Value.Check(Payload, payload)) throw new Error("the intent of a label’s refund can’t be read");
  return payload.shipmentId;
}

/**
 * Requests the refund of an unused label. The carrier refunds the postage once it has confirmed that the label was not
 * used.
 */
export async function giveBack(
  { providers, clock }: Pick<LabelDeps, "providers" | "clock">,
  tx: Tx,
  label: Label,
): Promise<void> {
  const { id, orderId, number: attempt, shipmentId } = label;
  if (label.state !== "bought" || label.refundState !== null || isHandedOver(new Set(label.seen))) return;
  await updateLabel(tx, id, sql`refund_state = 'intended'`);
  const at = clock();
  const intent = { act: refundLabelAct, provider: "easypost", orderId, attempt, payload: { shipmentId }, at } as const;
  await providers.intend(tx, { ...intent, isBeside: true });
}

/**
 * The service's names for EasyPost's refund states. A refund with a state that is not in the table is treated as in
 * progress.
 */
const states: Readonly<Record<string, RefundState>> = {
  refunded: "refunded",
  rejected: "rejected",
  not_applicable: "not_applicable",
};

const stateOf = (status: string | null): RefundState => states[status ?? ""] ?? "submitted";

type Refund = { refundStatus: string | null };

export const refundLabel = (deps: LabelDeps): Act<Refund> => ({
  name: refundLabelAct,
  provider: "easypost",
  byHand: null,
  lookAfterMs: minuteMs,
  async wanted(tx, intent) {
    const label = await labelOfAct(tx, intent.orderId, intent.attempt);
    if (label?.refundState === "intended" && !isHandedOver(new Set(label.seen))) return true;
    if (label) {
      await updateLabel(tx, label.id, sql`refund_state = NULL`);
      await askLater(tx, label.id, deps.clock());
    }
    return false;
  },
  perform: (intent, call) => createEasyPost(call).refundLabel(shipmentOf(intent)),
  async lookUp(intent, call) {
    const found = await createEasyPost(call).findShipment(shipmentOf(intent));
    if (found.kind !== "done") return { kind: "unclear", why: found.why };
    const { refundStatus } = found.result;
    return refundStatus === null ? { kind: "not_done" } : { kind: "done", result: { refundStatus } };
  },
  resultOf: () => ({ refundStatus: "submitted" }),
  async settled(tx, intent, end) {
    const label = await labelOfAct(tx, intent.orderId, intent.attempt);
    if (!label || end.kind === "unclear") return;
    if (end.kind === "done") await recordRefund(deps, tx, label, end.result.refundStatus);
    else await recordRefund(deps, tx, label, "rejected", end.why);
    // If the address was corrected, the parcel's next label can now be bought.
    await enqueue(tx, dispatchQueue, { orderId: label.orderId });
  },
});

/** Records a refund's state. A refund in progress is polled daily. */
export async function recordRefund(
  { clock }: LabelDeps,
  tx: Tx,
  { id, orderId, number, cents, refundState: before }: Label,
  status: string | null,
  why = "EasyPost says so",
): Promise<void> {
  const at = clock();
  const refundState = stateOf(status);
  const isChanged = before !== null && before !== refundState;
  if (isChanged) await updateLabel(tx, id, sql`refund_state = ${refundState}`);
  if (refundState === "submitted") await askLater(tx, id, at, refundPauseMs);
  if (!isChanged) return;
  const detail = { label: number, refund: refundState };
  await tx.query(auditLine({ at, action: "label.refund", actor: easypostActor, orderId, detail }));
  if (refundState !== "rejected") return;
  const reason = `The postage of a label that was not used (${dollars(cents ?? 0)}) is not refunded: ${why}.`;
  await openTrouble(tx, asDelivery({ id, orderId }), at, reason);
}

import type { Sql, Tx } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { enqueue } from "../../kernel/platform/jobs/jobs.ts";
import { closeTasks, explainTask } from "../../kernel/tasks/tasks.ts";
import type { Parcels } from "../../orders/corrections/corrections.ts";
import { dispatchQueue, type LockedOrder } from "../../orders/order/order.ts";
import { withdrawSupplement } from "../../orders/payments/payments.ts";
import { actsOfOrder } from "../../providers/providers.ts";
import { buyLabelAct } from "./labels/buy.ts";
import type { LabelDeps } from "./labels/deps.ts";
import { isHandedOver } from "./labels/progress.ts";
import { giveBack } from "./labels/refund.ts";
import { type Label, labelsOf, shippingAttempt, updateLabel } from "./labels/store.ts";
import { currentLetter, letterActs } from "./letters/store.ts";

type Deps = Pick<LabelDeps, "providers" | "clock">;

/**
 * Changes the destination of parcels and letters before they are handed to a carrier. The caller must have locked the
 * order.
 */
export const openParcels = (deps: Deps): Parcels => ({
  whyFixed,
  readdress: (tx, order, at) => readdress(deps, tx, order, at),
});

/**
 * The reason why the shipment's address can't change now; null when it can. While the outcome of a label's purchase is
 * unknown, the label may still have the earlier address. A letter's address can't change after the request to Lob. A
 * parcel's address can't change after the carrier's first scan.
 */
async function whyFixed(db: Sql, orderId: number): Promise<string | null> {
  const purchase = (await actsOfOrder(db, orderId)).findLast(({ act }) => act === buyLabelAct);
  if (purchase?.state === "begun") return "A label is being bought at this moment. Try again in a minute.";
  if (purchase?.state === "unknown")
    return "Nobody knows yet whether a label was bought. The operator of this service looks into it.";
  if ((await currentLetter(db, orderId)) || (await letterActs(db, orderId)).isUnderWay)
    return "The printer has the letter. Ask the operator of this service to hold the order.";
  const isGone = ({ state, seen }: Label) => state === "bought" && isHandedOver(new Set(seen));
  return (await labelsOfNow(db, orderId)).some(isGone) ? "The carrier has the parcel." : null;
}

async function labelsOfNow(db: Sql, orderId: number): Promise<Label[]> {
  const attempt = await shippingAttempt(db, orderId);
  return (await labelsOf(db, orderId)).filter((label) => label.attempt === attempt);
}

/**
 * Withdraws labels that are not bought yet. For a bought label, requests the refund first. The next label is bought
 * only after EasyPost has answered that request.
 */
async function readdress(deps: Deps, tx: Tx, order: LockedOrder, at: Date): Promise<void> {
  const { id: orderId } = order;
  await withdrawSupplement(tx, order, { actor: "system", at });
  const end = { state: "dropped", at, by: "system", outcome: "the address was corrected" } as const;
  await closeTasks(tx, { orderId, kinds: ["postage_dearer"] }, end);
  const labels = await labelsOfNow(tx, orderId);
  for (const label of labels) {
    if (label.state === "bought") await giveBack(deps, tx, label);
    else if (label.state !== "withdrawn") await updateLabel(tx, label.id, sql`state = 'withdrawn'`);
  }
  const numbers = labels.flatMap(({ state, trackingNumber }) => (state === "bought" ? [trackingNumber] : []));
  const warning = numbers.length > 0 ? ` Hand over no parcel with the label ${numbers.join(", ")}.` : "";
  for (const kind of ["label_print", "packet_print"] as const)
    await explainTask(tx, orderId, kind, `The address was corrected: print everything again.${warning}`, true);
  if (order.environment === "live") await enqueue(tx, dispatchQueue, { orderId });
}

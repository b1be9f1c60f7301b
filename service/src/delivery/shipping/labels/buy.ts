import { type Static, Type } from "typebox";
import { Value } from "typebox/value";
import { auditLine } from "../../../kernel/audit/audit.ts";
import { minuteMs } from "../../../kernel/platform/clock.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { invalid } from "../../../kernel/platform/errors.ts";
import { enqueue } from "../../../kernel/platform/jobs/jobs.ts";
import { dollars } from "../../../orders/dollars.ts";
import { readOrderHead } from "../../../orders/order/order.ts";
import { type Act, type BoughtLabel, createEasyPost, type Intent } from "../../../providers/providers.ts";
import { easypostActor, type LabelDeps } from "./deps.ts";
import { fileQueue } from "./file.ts";
import { askLater, reviewLater } from "./follow-up.ts";
import { tellShippers } from "./queue-purchase.ts";
import { type Label, labelOfAct, updateLabel } from "./store.ts";

export const buyLabelAct = "label.buy";

const Payload = Type.Object({
  shipmentId: Type.String(),
  rateId: Type.String(),
  carrier: Type.String(),
  service: Type.String(),
  amountCents: Type.Integer(),
});

function payloadOf({ payload }: Intent): Static<typeof Payload> {
  if (!Value.Check(Payload, payload)) throw new Error("the intent of a label can’t be read");
  return payload;
}

/** A bought label. `trackerId` and `labelUrl` are null if a person recorded the label after finding it at EasyPost. */
type Bought = Omit<BoughtLabel, "trackerId" | "labelUrl"> & { trackerId: string | null; labelUrl: string | null };

/**
 * The request that buys the label of an existing shipment at EasyPost. A shipment can have only one label, so a look-up
 * of the shipment shows whether the label was bought.
 */
export const buyLabel = (deps: LabelDeps): Act<Bought> => ({
  name: buyLabelAct,
  provider: "easypost",
  // Null, because buying the label does not close the task for staff: they still print the label and ship the parcel.
  byHand: null,
  lookAfterMs: minuteMs,
  async wanted(tx, intent) {
    const label = await labelOfAct(tx, intent.orderId, intent.attempt);
    const order = await readOrderHead(tx, intent.orderId);
    if (label?.state === "buying" && order?.status === "ShippingPending") return true;
    if (label) await updateLabel(tx, label.id, sql`state = 'withdrawn'`);
    return false;
  },
  perform(intent, call) {
    const { shipmentId, rateId } = payloadOf(intent);
    return createEasyPost(call).buyLabel(shipmentId, rateId);
  },
  async lookUp(intent, call) {
    const found = await createEasyPost(call).findShipment(payloadOf(intent).shipmentId);
    if (found.kind !== "done") return { kind: "unclear", why: found.why };
    const { label } = found.result;
    return label ? { kind: "done", result: label } : { kind: "not_done" };
  },
  resultOf({ tracking }, intent) {
    if (tracking === null || !/^[A-Za-z0-9 -]{6,40}$/.test(tracking)) throw invalid("The tracking number is required.");
    const { rateId: _, ...rate } = payloadOf(intent);
    return { ...rate, trackingNumber: tracking.replace(/[ -]/g, ""), trackerId: null, labelUrl: null };
  },
  async settled(tx, intent, end) {
    const label = await labelOfAct(tx, intent.orderId, intent.attempt);
    if (!label || end.kind === "unclear") return;
    if (end.kind === "done") return keepBought(deps, tx, label, end.result);
    await updateLabel(tx, label.id, sql`state = 'not_bought', why = ${end.why}`);
    await tellShippers(tx, label.orderId, `No label was bought: ${end.why}`);
  },
});

async function keepBought({ clock }: LabelDeps, tx: Tx, { id, orderId, number }: Label, bought: Bought): Promise<void> {
  const at = clock();
  const { shipmentId, carrier, service, amountCents, trackingNumber, trackerId, labelUrl } = bought;
  await updateLabel(
    tx,
    id,
    sql`state = 'bought', bought_at = ${at}, shipment_id = ${shipmentId}, carrier = ${carrier}, service = ${service},
      cents = ${amountCents}, tracking_number = ${trackingNumber}, tracker_id = ${trackerId}, label_url = ${labelUrl}`,
  );
  const words = `${carrier} ${service}, ${dollars(amountCents)}, ${trackingNumber}`;
  await tellShippers(tx, orderId, `The label is bought (${words}): print it and hand the parcel over.`);
  const detail = { label: number, shipment: shipmentId, carrier, service, cents: amountCents, trackingNumber };
  await tx.query(auditLine({ at, action: "label.bought", actor: easypostActor, orderId, detail }));
  if (labelUrl !== null) await enqueue(tx, fileQueue, { labelId: id });
  // A label that staff recorded has no tracker yet, so EasyPost is polled at once.
  await askLater(tx, id, at, trackerId === null ? 0 : undefined);
  // The order's status may have changed while the label was bought, so its labels are reviewed.
  await reviewLater(tx, orderId);
}

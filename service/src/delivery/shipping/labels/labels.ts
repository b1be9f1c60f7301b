import type { Jobs } from "../../../kernel/platform/jobs/jobs.ts";
import { lastShipment, type Taker } from "../../../orders/fulfilment/fulfilment.ts";
import type { SearchMethod } from "../../../orders/search/search.ts";
import { eventsAbout, type Providers, trackingOfEvent } from "../../../providers/providers.ts";
import type { ReceiptSource, Receipts } from "../../receipts/receipts.ts";
import { buyLabel } from "./buy.ts";
import type { LabelDeps } from "./deps.ts";
import { fileJobs } from "./file.ts";
import { followEvent, pickupJobs } from "./follow.ts";
import { prepareJobs } from "./prepare.ts";
import { labelTaker } from "./queue-purchase.ts";
import { refundLabel } from "./refund.ts";
import { findLabel, labelsTrackedBy } from "./store.ts";
import { labelJobs } from "./work.ts";

/** Finds orders by the tracking number of a label, even before the parcel is handed to the carrier. */
export const labelSearch: SearchMethod = ({ kind, text }) => (kind === "words" ? labelsTrackedBy(text) : null);

/**
 * Registers the acts, event handler and jobs of labels.
 * @returns the provider that buys labels for orders
 */
export function openLabels(jobs: Jobs, deps: LabelDeps, receipts: Receipts): Taker {
  const { providers } = deps;
  providers.defineAct(buyLabel(deps));
  providers.defineAct(refundLabel(deps));
  providers.onEvent("easypost", followEvent(deps));
  receipts.register("delivery_receipt", deliveryReceipt(providers));
  prepareJobs(jobs, deps);
  fileJobs(jobs, deps);
  pickupJobs(jobs, deps);
  labelJobs(jobs, deps);
  return labelTaker(deps);
}

/**
 * The content of a delivery receipt: the carrier's report, as EasyPost's signed events contain it, or as EasyPost
 * answered a poll.
 */
export const deliveryReceipt =
  (providers: Pick<Providers, "rawEvents">): ReceiptSource =>
  async (db, _orderId, labelId) => {
    const label = await findLabel(db, labelId);
    const trackingNumber = label?.trackingNumber ?? null;
    if (!label?.seen.includes("delivered") || trackingNumber === null) return null;
    // Reads all stored events, because the last one may not be processed yet.
    const ids = label.trackerId === null ? [] : await eventsAbout(db, "easypost", label.trackerId);
    const isSigned = (await providers.rawEvents(db, ids)).some(
      ({ body }) => trackingOfEvent(JSON.parse(body.toString()))?.status === "delivered",
    );
    const shipment = await lastShipment(db, label.orderId, trackingNumber);
    const rows: [string, string][] = [
      ["Carrier", `${label.carrier} ${label.service}`],
      ["Tracking number", trackingNumber],
    ];
    if (shipment) rows.push(["Handed to the carrier", shipment.shippedAt.toISOString()]);
    if (shipment?.deliveredAt) rows.push(["Recorded as delivered", shipment.deliveredAt.toISOString()]);
    if (label.signedBy !== null) rows.push(["Signed for by", label.signedBy]);
    rows.push(["EasyPost shipment", label.shipmentId ?? ""]);
    return {
      title: "Delivery receipt",
      sentence: isSigned
        ? `${label.carrier} reported that this parcel was delivered. EasyPost forwarded the report in the attached events, which EasyPost signed.`
        : `${label.carrier} reported that this parcel was delivered. EasyPost gave this report when this service asked. No event of EasyPost contains it.`,
      rows,
      events: ids,
    };
  };

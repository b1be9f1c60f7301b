import type { OrderHistory } from "../../../fulfilment/fulfilment.ts";
import { codeText, facts } from "../../ui/components.ts";
import { time } from "../../ui/format.ts";
import { type Html, html } from "../../ui/render.ts";

const at = (text: string | null): Html | null => (text === null ? null : time(new Date(text)));

/** What was shipped and faxed, and how to follow it. */
export const trackingPart = ({ shipments, faxes }: Pick<OrderHistory, "shipments" | "faxes">): Html =>
  html`${shipments.map(({ carrier, trackingNumber, shippedAt, deliveredAt }) =>
    facts([
      ["Carrier", carrier],
      ["Tracking number", codeText(trackingNumber, "tracking number")],
      ["Shipped", at(shippedAt)],
      ["Delivered", at(deliveredAt)],
    ]),
  )}${faxes.map(({ faxTo, sentAt, deliveredAt }) =>
    facts([
      ["Faxed to", faxTo],
      ["Sent", at(sentAt)],
      ["Received", at(deliveredAt)],
    ]),
  )}`;

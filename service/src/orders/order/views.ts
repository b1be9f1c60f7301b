import type { Static } from "typebox";
import type { Environment } from "../../kernel/identity/identity.ts";
import type { DocumentNotice } from "../../kernel/pdf/unseen/notice.ts";
import type { BoughtServices, OrderLine } from "../pricing/pricing.ts";
import type { CreatedOrder, OrderDetail, OrderSummary } from "./answer-schemas.ts";
import { noticeMessage } from "./document-texts.ts";
import type { Payer } from "./form/form.ts";
import { type SenderTexts, senderTextsOf } from "./form/sender-texts.ts";
import { serviceFlags } from "./services.ts";
import type { TemplateUse } from "./template-use.ts";
import type { EnvelopeStatus, OrderStatus } from "./transitions/statuses.ts";

export type OrderRow = BoughtServices &
  SenderTexts & {
    code: string;
    status: OrderStatus;
    envelopeStatus: EnvelopeStatus | null;
    customerEmail: string;
    faxTo: string | null;
    lines: OrderLine[];
    subtotalCents: number;
    discountCents: number;
    totalCents: number;
    createdAt: Date;
    /** The encrypted notices about parts of the document that people may overlook; null for none, and once deleted. */
    documentNotices: Buffer | null;
    /** The reason why a person prices the order; null when nobody does, or no reason is stored. */
    manualQuoteReason: string | null;
    /** The template version from which the order was placed; null without a template. */
    template: TemplateUse | null;
    payBy: Payer;
  };

/** An order with the additional columns that its public page shows. */
export type PublicOrderRow = OrderRow & {
  partnerId: string;
  environment: Environment;
  customerName: string | null;
  docSlug: string | null;
  /** The encrypted name of the document; null without one, and after the document's deletion. */
  documentName: Buffer | null;
  statusBeforeHold: OrderStatus | null;
  /**
   * True if the client became the payer after the firm's last failed payment attempt, or without any failed attempt.
   */
  isFailureOfFirm: boolean;
  /** The carrier of the latest shipment; null without a shipment. */
  carrier: string | null;
  trackingNumber: string | null;
  /** The time when the retention plan deleted documents of the order, maybe not all of them; null for none. */
  documentsDeletedAt: Date | null;
};

/** The state of an order's notarization. */
export type Notarization = {
  state: "not_due" | "waiting" | "claimed" | "completed" | "failed" | "identity_locked" | "ended";
  method: string | null;
  jurisdiction: string | null;
  appointmentUtc: string | null;
  session: "scheduled" | "queued" | "called" | "waiting_room" | "live" | "held" | "signed" | "ended" | null;
};

/** The latest charge of the firm's own card or bank account for an order. */
export type OrderCharge = {
  chargeId: string;
  state: "asked" | "processing" | "succeeded" | "failed" | "refused";
  amountCents: number;
  askedAt: string;
  reason: string | null;
};

const common = (order: OrderRow) => ({
  orderCode: order.code,
  orderUrl: `/orders/${order.code}`,
  status: order.status,
  ...senderTextsOf(order),
  faxToNumber: order.faxTo,
  subtotalCents: order.subtotalCents,
  discountCents: order.discountCents,
  totalCents: order.totalCents,
  lines: order.lines,
  ...(order.payBy === "firm" && { payBy: order.payBy }),
  ...(order.manualQuoteReason === null ? {} : { manualQuoteReason: order.manualQuoteReason }),
  ...(order.template && { template: order.template }),
});

/** The response to a new order (contract, "Order response (create)"). */
export const createdView = (
  order: OrderRow,
  notices: readonly DocumentNotice[],
  requestId: string,
  checkoutUrl: string | null,
): Static<typeof CreatedOrder> => ({
  requestId,
  ...common(order),
  checkoutUrl,
  // The response is stored unencrypted for repeated requests, so its notices don't quote the document.
  ...noticesMember(notices.map((notice) => ({ ...notice, text: null }))),
});

/**
 * The details of one order (contract, "Order detail (fetch)"). `notarization` and `charge` are absent when null: an
 * order without notarization, or without a charge to the firm.
 */
export const detailView = (
  order: OrderRow,
  notices: readonly DocumentNotice[],
  { notarization, charge }: { notarization: Notarization | null; charge: OrderCharge | null },
  requestId: string,
): Static<typeof OrderDetail> => ({
  requestId,
  ...common(order),
  services: serviceFlags(order),
  envelopeStatus: order.envelopeStatus,
  customerEmail: order.customerEmail,
  createdAt: order.createdAt.toISOString(),
  ...noticesMember(notices),
  ...(notarization && { notarization }),
  ...(charge && { charge }),
});

/** Omits the member when there are no notices, so that such responses equal those of earlier releases. */
const noticesMember = (notices: readonly DocumentNotice[]) =>
  notices.length === 0
    ? {}
    : { documentNotices: notices.map((notice) => ({ ...notice, message: noticeMessage(notice) })) };

export type OrderSummaryRow = BoughtServices &
  Pick<OrderRow, "code" | "status" | "totalCents" | "externalReference" | "customerEmail" | "createdAt">;

/** An order as an item of a list (contract, "Order summary (list item)"). */
export const summaryView = (order: OrderSummaryRow): Static<typeof OrderSummary> => ({
  orderCode: order.code,
  status: order.status,
  services: serviceFlags(order),
  totalCents: order.totalCents,
  externalReference: order.externalReference,
  customerEmail: order.customerEmail,
  createdAt: order.createdAt.toISOString(),
});

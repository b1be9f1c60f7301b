import type { Static } from "typebox";
import type { Environment } from "../identity/identity.ts";
import type { DocumentNotice } from "../pdf/unseen/notice.ts";
import type { BoughtServices, OrderLine } from "../pricing/pricing.ts";
import { noticeMessage } from "./notices.ts";
import type { CreatedOrder, OrderDetail, OrderSummary } from "./schemas.ts";
import { serviceFlags } from "./services.ts";

/** An order as the database holds it and the API shows it. */
export type OrderRow = BoughtServices & {
  code: string;
  status: string;
  envelopeStatus: string | null;
  externalReference: string | null;
  customerEmail: string;
  faxTo: string | null;
  lines: OrderLine[];
  subtotalCents: number;
  discountCents: number;
  totalCents: number;
  createdAt: Date;
  /** What its document has that people may not see, encrypted. */
  documentNotices: Buffer | null;
};

/** What an order's page needs to know besides. */
export type PublicOrderRow = OrderRow & {
  partnerId: string;
  environment: Environment;
  customerName: string | null;
  docSlug: string | null;
  /** What its document is called, encrypted. */
  documentName: Buffer | null;
  statusBeforeHold: string | null;
  /** Of the latest shipment; null before there is one. */
  carrier: string | null;
  trackingNumber: string | null;
  /** When the retention plan deleted its documents; null when it did not. */
  documentsDeletedAt: Date | null;
};

const common = (order: OrderRow) => ({
  orderCode: order.code,
  orderUrl: `/orders/${order.code}`,
  status: order.status,
  externalReference: order.externalReference,
  faxToNumber: order.faxTo,
  subtotalCents: order.subtotalCents,
  discountCents: order.discountCents,
  totalCents: order.totalCents,
  lines: order.lines,
});

/** Contract, "Order response (create)". */
export const createdView = (
  order: OrderRow,
  notices: readonly DocumentNotice[],
  requestId: string,
  checkoutUrl: string | null,
): Static<typeof CreatedOrder> => ({
  requestId,
  ...common(order),
  checkoutUrl,
  // Answers are kept for repeated requests, and not encrypted: what is quoted of the document stays out.
  ...noticesMember(notices.map((notice) => ({ ...notice, text: null }))),
});

/** Contract, "Order detail (fetch)". */
export const detailView = (
  order: OrderRow,
  notices: readonly DocumentNotice[],
  requestId: string,
): Static<typeof OrderDetail> => ({
  requestId,
  ...common(order),
  services: serviceFlags(order),
  envelopeStatus: order.envelopeStatus,
  customerEmail: order.customerEmail,
  createdAt: order.createdAt.toISOString(),
  ...noticesMember(notices),
});

/** A member of answers that have something to tell: all other answers stay what they were. */
const noticesMember = (notices: readonly DocumentNotice[]) =>
  notices.length === 0
    ? {}
    : { documentNotices: notices.map((notice) => ({ ...notice, message: noticeMessage(notice) })) };

export type OrderSummaryRow = BoughtServices &
  Pick<OrderRow, "code" | "status" | "totalCents" | "externalReference" | "customerEmail" | "createdAt">;

/** Contract, "Order summary (list item)". */
export const summaryView = (order: OrderSummaryRow): Static<typeof OrderSummary> => ({
  orderCode: order.code,
  status: order.status,
  services: serviceFlags(order),
  totalCents: order.totalCents,
  externalReference: order.externalReference,
  customerEmail: order.customerEmail,
  createdAt: order.createdAt.toISOString(),
});

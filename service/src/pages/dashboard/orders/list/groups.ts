import { type OrderStatus, orderStatuses } from "../../../../orders/order/order.ts";

/** The groups of statuses by which the list of the firm's orders can be filtered. */
export const groups = {
  attention: {
    label: "Needs attention",
    statuses: [
      "PaymentFailed",
      "EsignDeclined",
      "EsignExpired",
      "NotarizationFailed",
      "IdentityLocked",
      "OnHold",
      "ShippingFailed",
      "FaxFailed",
    ],
  },
  payment: { label: "To pay", statuses: ["Created", "ManualQuoteRequired", "QuoteReady", "AwaitingPayment"] },
  signing: { label: "Out for signature", statuses: ["EsignPending"] },
  working: {
    label: "In progress",
    statuses: [
      "Paid",
      "EsignComplete",
      "NotarizationPending",
      "NotarizationComplete",
      "ShippingPending",
      "Shipped",
      "Delivered",
      "FaxPending",
      "FaxSent",
      "FaxDelivered",
    ],
  },
  done: { label: "Complete", statuses: ["Completed"] },
  closed: { label: "Canceled or refunded", statuses: ["Cancelled", "RefundPending", "Refunded"] },
} as const satisfies Record<string, { label: string; statuses: readonly OrderStatus[] }>;

/** The group that also lists orders of other statuses, if their payment has had no answer for too long. */
export const overdueGroup = "attention";

export type Group = keyof typeof groups;

const isGroup = (name: string): name is Group => Object.hasOwn(groups, name);

/**
 * The statuses that a filter selects: all statuses of the group `asked`, or the single status `asked`. Null for any
 * other text.
 */
export function statusesOf(asked: string): readonly OrderStatus[] | null {
  if (isGroup(asked)) return groups[asked].statuses;
  const status = orderStatuses.find((each) => each === asked);
  return status ? [status] : null;
}

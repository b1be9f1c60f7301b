import type { OrderStatus, PublicOrderRow } from "../../../orders/order/order.ts";
import type { SignerState } from "../../../signing/envelopes/envelopes.ts";
import type { Tone } from "../components.ts";
import { en, type Words } from "../words/en/en.ts";
import { isSimulated } from "./signer-words.ts";

/**
 * A status in plain words: `label` for the badge, `headline` for the page's heading, and `next` for what happens now.
 */
export type StatusWords = Words["orders"]["statuses"][OrderStatus] & { tone: Tone; label: string };

const tones: Readonly<Record<OrderStatus, Tone>> = {
  Created: "waiting",
  QuoteReady: "waiting",
  AwaitingPayment: "waiting",
  Paid: "progress",
  EsignPending: "progress",
  EsignComplete: "progress",
  NotarizationPending: "progress",
  NotarizationComplete: "progress",
  ShippingPending: "progress",
  Shipped: "progress",
  Delivered: "progress",
  FaxPending: "progress",
  FaxSent: "progress",
  FaxDelivered: "progress",
  Completed: "done",
  PaymentFailed: "attention",
  EsignDeclined: "attention",
  EsignExpired: "attention",
  NotarizationFailed: "attention",
  IdentityLocked: "attention",
  ManualQuoteRequired: "waiting",
  OnHold: "attention",
  ShippingFailed: "attention",
  RefundPending: "waiting",
  Refunded: "stopped",
  Cancelled: "stopped",
  FaxFailed: "attention",
};

const isOrderStatus = (status: string): status is OrderStatus => Object.hasOwn(tones, status);

/**
 * The words of a status. An unknown status comes from a newer release. It is shown by its name, and never as complete.
 * @param signers the order's signers, if the words may say that the sandbox signed, or that a signer wants paper
 * @param isActSimulated true if the sandbox completed the notarization
 */
export function statusWords(
  status: string,
  { orders, test }: Pick<Words, "orders" | "test"> = en,
  signers: readonly Pick<SignerState, "isSimulated" | "wantsPaper">[] = [],
  isActSimulated = false,
): StatusWords {
  if (!isOrderStatus(status)) return { tone: "waiting", label: status, ...orders.otherStatus(status) };
  const words = { tone: tones[status], label: orders.statusLabels[status], ...orders.statuses[status] };
  const { headline, summary } = orders.simulated;
  if (isActSimulated && status === "NotarizationComplete")
    return { ...words, headline: orders.simulated.notarization, summary: test.text };
  if (status === "EsignDeclined" && signers.some(({ wantsPaper }) => wantsPaper))
    return { ...words, label: orders.paperWish.label, headline: orders.paperWish.headline };
  return isSimulated(signers) && status === "EsignComplete" ? { ...words, headline, summary } : words;
}

/**
 * The status whose words a client reads. If a firm's payment failed, the client has to pay instead, but has not tried
 * to. So the client reads the words for a new order with a price.
 */
export const clientStatus = (order: Pick<PublicOrderRow, "status" | "isFailureOfFirm">): OrderStatus =>
  order.status === "PaymentFailed" && order.isFailureOfFirm ? "QuoteReady" : order.status;

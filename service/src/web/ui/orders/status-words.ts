import type { OrderStatus } from "../../../orders/orders.ts";
import type { Tone } from "../components.ts";

/** A status in plain words: `label` for the badge, `headline` as the page's heading, `next` as what happens now. */
export type StatusWords = { tone: Tone; label: string; headline: string; summary: string; next: readonly string[] };

const askFirm = "Questions? The firm that placed the order can see everything that is on this page.";
const allPaused = "Nothing is lost: the documents and what was done so far are kept.";

const words: Readonly<Record<OrderStatus, StatusWords>> = {
  Created: {
    tone: "waiting",
    label: "Received",
    headline: "We have your order",
    summary: "The document has arrived and the price is being worked out.",
    next: ["The quote appears on this page, usually within moments."],
  },
  QuoteReady: {
    tone: "waiting",
    label: "Ready to pay",
    headline: "Your quote is ready",
    summary: "The document has arrived and everything is priced. Work starts when the payment has cleared.",
    next: ["Pay through the link you were sent with the order.", "We start at once when the payment has cleared."],
  },
  AwaitingPayment: {
    tone: "waiting",
    label: "Awaiting payment",
    headline: "Waiting for the payment",
    summary: "The payment has not cleared yet. Some banks take a few working days.",
    next: [
      "If you have paid, there is nothing to do: this page changes when the money arrives.",
      "If the checkout was closed or expired, open the payment link again. Nothing was charged then.",
    ],
  },
  Paid: {
    tone: "progress",
    label: "Paid",
    headline: "Paid in full, thank you",
    summary: "The payment has cleared and work on the document is starting.",
    next: ["The first step below starts by itself."],
  },
  EsignPending: {
    tone: "progress",
    label: "Out for signature",
    headline: "The document is out for signature",
    summary: "Every signer has been asked to sign online.",
    next: [
      "Signers: open the signing link sent to you, read the document, and sign.",
      "The next step starts when all have signed.",
    ],
  },
  EsignComplete: {
    tone: "progress",
    label: "Signed",
    headline: "Everyone has signed",
    summary: "All signatures are in and the signed document is sealed against changes.",
    next: ["The next step starts by itself."],
  },
  NotarizationPending: {
    tone: "progress",
    label: "With the notary",
    headline: "The document is with the notary",
    summary: "An online notary checks the signer’s identity and notarizes the document.",
    next: [
      "Signer: keep the appointment, with a government photo ID at hand.",
      "The next step starts when the notarized document is stored.",
    ],
  },
  NotarizationComplete: {
    tone: "progress",
    label: "Notarized",
    headline: "The document is notarized",
    summary: "The notary has sealed the document and it is stored.",
    next: ["The next step starts by itself."],
  },
  ShippingPending: {
    tone: "progress",
    label: "Preparing shipment",
    headline: "The shipment is being prepared",
    summary: "The finished document is on its way to the carrier.",
    next: ["This page changes when the carrier has it."],
  },
  Shipped: {
    tone: "progress",
    label: "Shipped",
    headline: "The document is on its way",
    summary: "The carrier has the document.",
    next: ["This page changes when the carrier reports the delivery."],
  },
  Delivered: {
    tone: "progress",
    label: "Delivered",
    headline: "The document has been delivered",
    summary: "The carrier has reported the delivery.",
    next: ["What is left, if anything, is listed below and needs nothing from you."],
  },
  FaxPending: {
    tone: "progress",
    label: "Preparing fax",
    headline: "The fax is being sent",
    summary: "The finished document is queued for the fax line.",
    next: ["This page changes when the receiving machine has confirmed every page."],
  },
  FaxSent: {
    tone: "progress",
    label: "Fax sent",
    headline: "The fax has been sent",
    summary: "The receiving machine has not confirmed it yet.",
    next: ["This page changes when the receiving machine has confirmed every page."],
  },
  FaxDelivered: {
    tone: "progress",
    label: "Fax delivered",
    headline: "The fax has arrived",
    summary: "The receiving machine has confirmed every page.",
    next: ["What is left, if anything, is listed below and needs nothing from you."],
  },
  Completed: {
    tone: "done",
    label: "Complete",
    headline: "All done",
    summary: "Everything that was ordered is finished.",
    next: ["There is nothing left to do. Keep this page’s address if you want to come back to it."],
  },
  PaymentFailed: {
    tone: "attention",
    label: "Payment failed",
    headline: "The payment did not go through",
    summary:
      "The bank or card issuer declined it, and the order is not paid. This happens, and it is easily put right.",
    next: ["Open the payment link again and try once more, or use another card or account.", askFirm],
  },
  EsignDeclined: {
    tone: "attention",
    label: "Signing declined",
    headline: "A signer declined to sign",
    summary: "Signing has stopped because one signer said no. Nothing further is done with the document for now.",
    next: [
      "Speak with the signer about what should change.",
      "When that is settled, the firm that placed the order asks us to send the document out for signature again.",
    ],
  },
  EsignExpired: {
    tone: "attention",
    label: "Signing expired",
    headline: "The time to sign ran out",
    summary: "Not every signer signed in time, so the signing links no longer work.",
    next: ["Ask the firm that placed the order for new signing links. It takes one message to us.", allPaused],
  },
  NotarizationFailed: {
    tone: "attention",
    label: "Not notarized",
    headline: "The notarization could not be completed",
    summary: "The notary could not finish the session. Often it is the connection, the ID or a missing person.",
    next: ["We are in touch with the firm that placed the order about a new session.", allPaused],
  },
  IdentityLocked: {
    tone: "attention",
    label: "Identity not confirmed",
    headline: "The signer’s identity could not be confirmed",
    summary: "The identity check was tried as often as the rules allow. It protects the signer from impostors.",
    next: [
      "A person looks at it. The firm that placed the order can ask us to reopen the check.",
      "Have a valid government photo ID at hand for the next try.",
    ],
  },
  ManualQuoteRequired: {
    tone: "waiting",
    label: "Being priced",
    headline: "A person will price this order",
    summary:
      "Part of it could not be priced automatically, most often the postage. What is known so far is in the quote.",
    next: ["A person completes the quote, and it appears on this page.", "There is nothing to pay until then."],
  },
  OnHold: {
    tone: "attention",
    label: "On hold",
    headline: "This order is on hold",
    summary: "A person is looking at a question about it, and work is paused until that is answered.",
    next: ["There is nothing to do unless you are asked. Work resumes where it paused.", askFirm],
  },
  ShippingFailed: {
    tone: "attention",
    label: "Shipment failed",
    headline: "The shipment did not arrive",
    summary: "The carrier could not take or deliver it. The finished document itself is safe.",
    next: ["We try again, after checking the address with the firm that placed the order.", askFirm],
  },
  RefundPending: {
    tone: "waiting",
    label: "Refund on its way",
    headline: "Your refund is on its way",
    summary: "We have sent the refund to the payment processor. Work on this order has stopped.",
    next: ["Banks usually take 5 to 10 working days to show it."],
  },
  Refunded: {
    tone: "stopped",
    label: "Refunded",
    headline: "This order was refunded",
    summary: "The payment went back to where it came from, and the order is closed.",
    next: ["There is nothing left to do. For a new start, a new order can be placed."],
  },
  Cancelled: {
    tone: "stopped",
    label: "Cancelled",
    headline: "This order was cancelled",
    summary: "It was cancelled before it was paid. Nothing was charged.",
    next: ["There is nothing left to do. For a new start, a new order can be placed."],
  },
  FaxFailed: {
    tone: "attention",
    label: "Fax failed",
    headline: "The fax did not go through",
    summary:
      "The receiving line did not take it: it may be busy, out of paper or not a fax line. The document itself is safe.",
    next: ["We try again, after checking the number with the firm that placed the order.", askFirm],
  },
};

/** The words of a status; one that is newer than this page is shown by its name, and never as complete. */
export function statusWords(status: string): StatusWords {
  if (Object.hasOwn(words, status)) return words[status as OrderStatus];
  return {
    tone: "waiting",
    label: status,
    headline: "This order is in progress",
    summary: `Its status is ${status}.`,
    next: ["There is nothing to do unless you are asked.", askFirm],
  };
}

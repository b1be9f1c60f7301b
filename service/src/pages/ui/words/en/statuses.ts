import type { OrderStatus } from "../../../../orders/order/order.ts";

const askFirm = "Questions? Ask the firm that placed the order. They can see everything on this page.";
const allPaused = "Nothing is lost: the documents and the work so far are kept.";

export const statuses = {
  Created: {
    headline: "We have your order",
    summary: "We have the document and are working out the price.",
    next: ["Your quote appears on this page, usually within moments."],
  },
  QuoteReady: {
    headline: "Your quote is ready",
    summary: "We have the document, and everything is priced. Work starts once the payment clears.",
    next: ["Check what was ordered in the quote, and pay its total.", "We start as soon as the payment clears."],
  },
  AwaitingPayment: {
    headline: "Waiting for payment",
    summary: "The payment has not cleared yet. Some banks take a few business days.",
    next: [
      "If you have paid, there is nothing else to do. This page changes when the money arrives.",
      "If you closed the checkout or it expired, nothing was charged. You can open it again.",
    ],
  },
  Paid: {
    headline: "Paid in full, thank you",
    summary: "The payment has cleared, and we are starting work on the document.",
    next: ["The first step below starts automatically."],
  },
  EsignPending: {
    headline: "The document is out for signature",
    summary: "Signers are asked to sign online when it is their turn.",
    next: ["Each signer reads the document, and signs it.", "The next step starts once everyone has signed."],
  },
  EsignComplete: {
    headline: "The signed document is sealed",
    summary: "Signing is done. The document is sealed, so any change to it would show.",
    next: ["The next step starts automatically."],
  },
  NotarizationPending: {
    headline: "The document is with the notary",
    summary: "A notary checks the signer’s identity and notarizes the document.",
    next: [
      "Signer: if there is an appointment, keep it, and have a government-issued photo ID ready.",
      "The next step starts once we have the notarized document.",
    ],
  },
  NotarizationComplete: {
    headline: "The document is notarized",
    summary: "The notary has sealed the document, and we have stored it.",
    next: ["The next step starts automatically."],
  },
  ShippingPending: {
    headline: "Your shipment is being prepared",
    summary: "We are getting the finished document to the carrier.",
    next: ["This page changes when the carrier has it."],
  },
  Shipped: {
    headline: "The document is on its way",
    summary: "The carrier has the document.",
    next: ["This page changes when the delivery is on record."],
  },
  Delivered: {
    headline: "Recorded as delivered",
    summary: "The delivery is on record.",
    next: ["Any remaining steps are listed below. You don’t need to do anything."],
  },
  FaxPending: {
    headline: "The fax is being sent",
    summary: "The finished document is queued for the fax line.",
    next: ["This page changes when the result of the fax is on record."],
  },
  FaxSent: {
    headline: "The fax has been sent",
    summary: "Its result is not on record yet.",
    next: ["This page changes when the result of the fax is on record."],
  },
  FaxDelivered: {
    headline: "Recorded as faxed",
    summary: "The fax is on record as delivered.",
    next: ["Any remaining steps are listed below. You don’t need to do anything."],
  },
  Completed: {
    headline: "All done",
    summary: "Everything that was ordered is finished.",
    next: [
      "There is nothing left to do.",
      "We email the link to the documents. You can come back to this page at any time.",
    ],
  },
  PaymentFailed: {
    headline: "The payment did not go through",
    summary: "The order is not paid yet. This happens, and it is easy to fix.",
    next: ["Try to pay again, or use another card or account.", askFirm],
  },
  EsignDeclined: {
    headline: "The signing has stopped",
    summary:
      "A signer did not sign online, so the signing has stopped for everybody. We are not doing anything else with the document for now.",
    next: [
      "Talk with the signer about what they need.",
      "Once that is settled, the firm that placed the order can ask us to send the document out for signature again, or have it signed on paper.",
    ],
  },
  EsignExpired: {
    headline: "The time to sign ran out",
    summary: "Not everyone signed in time, so signing is closed.",
    next: ["Ask the firm that placed the order to have the document sent out for signature again.", allPaused],
  },
  NotarizationFailed: {
    headline: "The notarization could not be completed",
    summary:
      "The notary could not finish the session. Common reasons are a poor connection, a problem with the ID, or someone who was missing.",
    next: ["The firm that placed the order can ask for a new session.", allPaused],
  },
  IdentityLocked: {
    headline: "The signer’s identity could not be confirmed",
    summary: "The identity check has been tried as many times as the rules allow. It protects signers from impostors.",
    next: [
      "We are reviewing it. The firm that placed the order can ask us to reopen the check.",
      "Have a valid government-issued photo ID ready for the next try.",
    ],
  },
  ManualQuoteRequired: {
    headline: "We are pricing this order",
    summary: "Part of it, usually the postage, could not be priced automatically. The quote shows what we know so far.",
    next: [
      "Someone on our team completes the quote, and it appears on this page.",
      "There is nothing to pay until then.",
    ],
  },
  OnHold: {
    headline: "This order is on hold",
    summary: "We are looking into a question about it, and work is paused until it is answered.",
    next: ["You don’t need to do anything unless we ask. Work picks up where it paused.", askFirm],
  },
  ShippingFailed: {
    headline: "The shipment did not arrive",
    summary: "The carrier could not accept or deliver it. The finished document itself is safe.",
    next: ["We will check the address with the firm that placed the order and try again.", askFirm],
  },
  RefundPending: {
    headline: "The payment is being refunded",
    summary: "We are returning it through the payment processor. Work on this order has stopped.",
    next: ["Banks usually take 5 to 10 working days to show it."],
  },
  Refunded: {
    headline: "This order was refunded",
    summary: "The payment went back to where it came from, and the order is closed.",
    next: ["There is nothing left to do. To start over, a new order can be placed."],
  },
  Cancelled: {
    headline: "This order was canceled",
    summary: "It was canceled, and there is nothing to pay.",
    next: [
      "If a payment was already on its way, it is sent back.",
      "There is nothing left to do. To start over, a new order can be placed.",
    ],
  },
  FaxFailed: {
    headline: "The fax did not go through",
    summary:
      "The receiving line did not accept it: it may be busy, out of paper, or not a fax line. The document itself is safe.",
    next: ["The firm that placed the order can correct the number and have it faxed again.", askFirm],
  },
} satisfies Record<OrderStatus, object>;

/** Words for an unknown status. */
export const otherStatus = (status: string) => ({
  headline: "This order is in progress",
  summary: `Its status is ${status}.`,
  next: ["You don’t need to do anything unless we ask.", askFirm],
});

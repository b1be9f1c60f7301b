import { dollars } from "../dollars.ts";
import type { MailMoment } from "../order/order.ts";

export type MailFacts = {
  /** The firm that placed the order. */
  firm: string;
  totalCents: number;
  /** The amount to pay in addition to the total; null for none. */
  supplementCents: number | null;
  /** The amount to pay again, because a bank took it back; null for none. */
  lossCents: number | null;
  /** The amount of the client's payments that were refunded as a whole, in US cents; null if there are none. */
  refundedCents: number | null;
  /** The amount of the partial or failed refund, or of the returned payment, that the mail is about; else null. */
  partCents: number | null;
  /**
   * The part of the refunded amount that the payer's bank had already taken back. The refund doesn't send this part.
   */
  lostCents: number;
  /**
   * Everything that the client paid for the order; null if the client paid nothing. Payments by the firm are left out.
   */
  paidCents: number | null;
  carrier: string | null;
  trackingNumber: string | null;
  /** True if a carrier reported the parcel's delivery, and not a person. */
  carrierReports: boolean;
  faxTo: string | null;
  /** True if the provider of faxes reported the fax's delivery, and not a person. */
  machineReports: boolean;
  /** True if the document was signed elsewhere, and an operator handed it in. */
  takenIn: boolean;
  /** False for a test order that only the sandbox can pay. Always true for a live order. */
  acceptsPayment: boolean;
  /** True if the sandbox completed the signing, so that nobody's signature is in the document. */
  isSimulated: boolean;
};

/** Where the button in a mail leads: to the order's page, its payment, or its documents. */
export type MailGoal = "page" | "payment" | "documents";

export type MailWords = {
  subject: string;
  lines: string[];
  goal: MailGoal;
  facts?: readonly (readonly [string, string | null])[];
};

const parcel = ({ carrier, trackingNumber }: MailFacts) =>
  [
    ["Carrier", carrier],
    ["Tracking number", trackingNumber],
  ] as const;

const faxNumber = ({ faxTo }: MailFacts): string =>
  faxTo === null ? "" : ` to the number that ends in ${faxTo.slice(-4)}`;

export const lateNote = "If a payment was already on its way, it is sent back when it arrives.";

const amountOf = (cents: number | null): Pick<MailWords, "facts" | "goal"> => ({
  facts: [["Amount", cents === null ? null : dollars(cents)]],
  goal: "page",
});

export type Refund = Pick<MailFacts, "refundedCents" | "lostCents">;

/** The amount that a refund sends to the payer; null when `refundedCents` is null. */
export const movedOf = ({ refundedCents, lostCents }: Refund): number | null =>
  refundedCents === null ? null : Math.max(0, refundedCents - lostCents);

export const tryAgain = (acceptsPayment: boolean): string =>
  acceptsPayment
    ? "You can try again, or use another card or account."
    : "It is a test: only the firm can simulate the payment again. You do not need to do anything.";

const unsigned = "Nobody’s signature is in the document.";

/** The words of each mail. docs/mails.md has the same table, so change both. */
export const mailWords: Readonly<Record<MailMoment, (facts: MailFacts) => MailWords>> = {
  quote_ready: ({ firm, totalCents }) => ({
    subject: "Your quote is ready",
    lines:
      totalCents === 0
        ? [
            `An order for your document from ${firm} is ready. There is nothing to pay for it.`,
            "Look at what was ordered, and begin it on its page. Work starts then.",
          ]
        : [
            `An order for your document from ${firm} is ready to be paid.`,
            "Look at what was ordered, and pay online. Work starts as soon as the payment clears.",
          ],
    facts: [["Amount", totalCents === 0 ? null : dollars(totalCents)]],
    goal: totalCents === 0 ? "page" : "payment",
  }),
  payment_received: ({ firm, totalCents }) => ({
    subject: totalCents === 0 ? "Your order has begun" : "Payment received",
    lines: [
      totalCents === 0
        ? `There is nothing to pay for the document from ${firm}.`
        : `Your payment of ${dollars(totalCents)} for the document from ${firm} has cleared. Thank you.`,
      "Work on your order has begun.",
    ],
    goal: "page",
  }),
  payment_failed: ({ firm, totalCents, acceptsPayment }) => ({
    subject: "Payment failed",
    lines: [
      `Your payment of ${dollars(totalCents)} for the document from ${firm} did not go through, so the order is not paid.`,
      tryAgain(acceptsPayment),
    ],
    goal: acceptsPayment ? "payment" : "page",
  }),
  supplement_due: ({ firm, supplementCents }) => ({
    subject: "An additional amount is due",
    lines: [
      `The parcel with the document from ${firm} goes to a corrected address. Postage to it costs more than the order’s total covers.`,
      "The parcel waits until the difference is paid. Nothing else changes.",
    ],
    facts: [["Amount", supplementCents === null ? null : dollars(supplementCents)]],
    goal: "payment",
  }),
  pay_again: ({ firm, lossCents }) => ({
    subject: "Please pay again",
    lines: [
      `Your bank took back your payment for the document from ${firm}. The amount is still due, and you can pay it again now.`,
      "If you asked your bank to take it back because something was wrong, answer this email before you pay.",
    ],
    facts: [["Amount", lossCents === null ? null : dollars(lossCents)]],
    goal: "payment",
  }),
  signed: ({ firm, takenIn, isSimulated }) => ({
    subject: isSimulated ? "Signing simulated" : "Signed and sealed",
    lines: [
      takenIn
        ? `The document from ${firm} was signed elsewhere, and taken in by an operator.`
        : isSimulated
          ? `The sandbox completed the signing of the document from ${firm}. ${unsigned}`
          : `Everybody has signed the document from ${firm}.`,
      "It is sealed: any later change to it would show. Keep your copy: it can be checked without us.",
    ],
    goal: "documents",
  }),
  shipped: (facts) => ({
    subject: "On its way",
    lines: [`The document from ${facts.firm} was handed to ${facts.carrier ?? "the carrier"}.`],
    facts: parcel(facts),
    goal: "page",
  }),
  ready_for_pickup: (facts) => ({
    subject: "Ready for pickup",
    lines: [
      `${facts.carrier ?? "The carrier"} keeps the document from ${facts.firm} at a place near you. It is sent back if nobody picks it up.`,
    ],
    facts: parcel(facts),
    goal: "page",
  }),
  delivered: (facts) => ({
    subject: "Delivered",
    lines: [
      facts.carrierReports
        ? `${facts.carrier ?? "The carrier"} reports that the document from ${facts.firm} was delivered.`
        : `We recorded that the document from ${facts.firm} was delivered.`,
    ],
    facts: parcel(facts),
    goal: "page",
  }),
  fax_delivered: (facts) => ({
    subject: "Fax delivered",
    lines: [
      facts.machineReports
        ? `The document from ${facts.firm} was faxed${faxNumber(facts)}, and the receiving machine confirmed every page.`
        : `We recorded that the document from ${facts.firm} was faxed${faxNumber(facts)}.`,
    ],
    goal: "page",
  }),
  fax_failed: (facts) => ({
    subject: "Fax not delivered",
    lines: [
      `The fax of the document from ${facts.firm}${faxNumber(facts)} did not go through. The document itself is safe.`,
      "The firm can correct the number and have it faxed again. You do not need to do anything.",
    ],
    goal: "page",
  }),
  on_hold: ({ firm }) => ({
    subject: "Your order is on hold",
    lines: [
      `Work on the document from ${firm} is paused while a question about it is answered. Nothing is lost.`,
      "You do not need to do anything unless you are asked. Work picks up where it paused.",
    ],
    goal: "page",
  }),
  completed: ({ firm, isSimulated }) => ({
    subject: "Your order is complete",
    lines: [
      `Everything that was ordered for the document from ${firm} is done.`,
      ...(isSimulated ? [`The sandbox simulated it. ${unsigned}`] : []),
      "Keep your copies: they can be checked without us.",
    ],
    goal: "documents",
  }),
  cancelled: ({ firm }) => ({
    subject: "Your order was canceled",
    lines: [
      `The order for the document from ${firm} was canceled before it was paid. There is nothing to pay.`,
      lateNote,
    ],
    goal: "page",
  }),
  paid_late: ({ firm, paidCents, refundedCents }) => ({
    subject: "Your payment is being returned",
    lines: [
      `Your payment for the document from ${firm} arrived after the order was canceled.`,
      paidCents !== null && refundedCents === paidCents
        ? "It was sent back. Banks usually take 5 to 10 working days to show it."
        : "It is being sent back. You do not need to do anything.",
    ],
    ...amountOf(paidCents),
  }),
  refunded_part: ({ firm, partCents }) => ({
    subject: "Part of your payment was refunded",
    lines: [
      `A part of your payment for the document from ${firm} was refunded. Nothing else about the order changes.`,
      "Banks usually take 5 to 10 working days to show it. You do not need to do anything.",
    ],
    ...amountOf(partCents),
  }),
  payment_returned: ({ firm, partCents }) => ({
    subject: "A payment was sent back",
    lines: [
      `One of the payments for the document from ${firm} was sent back to you. Nothing else about the order changes.`,
      "Banks usually take 5 to 10 working days to show it. You do not need to do anything.",
    ],
    ...amountOf(partCents),
  }),
  refund_failed: ({ firm, partCents }) => ({
    subject: "Your refund came back",
    lines: [
      `The refund of your payment for the document from ${firm} failed, and the money came back to us.`,
      "We will pay it to you in another way, and ask you where to send it. We need neither your card number nor a password for that.",
    ],
    ...amountOf(partCents),
  }),
  refunded: ({ firm, ...amounts }) => {
    const { refundedCents, lostCents } = amounts;
    const movedCents = movedOf(amounts);
    const isMoved = movedCents === null || movedCents > 0;
    return {
      subject: isMoved ? "Payment refunded" : "Your order is closed",
      lines: [
        isMoved
          ? `Your payment for the document from ${firm} was refunded, and the order is closed.`
          : `The order for the document from ${firm} is closed, and you owe nothing for it.`,
        ...(lostCents > 0 ? [`Your bank already took ${dollars(lostCents)} back. We send none of that again.`] : []),
        ...(isMoved ? ["Banks usually take 5 to 10 working days to show it."] : []),
      ],
      facts: [["Amount", refundedCents === null || movedCents === null || !isMoved ? null : dollars(movedCents)]],
      goal: "page",
    };
  },
};

import type { ProofForm } from "../../../../evidence/transparency-log/transparency-log.ts";
import { type OrderStatus, statusLabels } from "../../../../orders/order/order.ts";
import type { OrderDocument, SignerState } from "../../../../signing/envelopes/envelopes.ts";
import { otherStatus, statuses } from "./statuses.ts";

/** The statuses that get a note in an order's progress. The other statuses say only that a step is done. */
type NotedStatus = Exclude<OrderStatus, "Created" | "Paid" | "EsignComplete" | "NotarizationComplete" | "Completed">;

export const orders = {
  statusLabels,
  statuses,
  otherStatus,
  steps: {
    labels: {
      placed: "Order placed",
      payment: "Payment",
      sign: "Signing",
      notarize: "Online notarization",
      ship: "Shipping",
      fax: "Fax",
      finished: "Finished",
    },
    faxTo: (number: string) => `Fax to ${number}`,
    /** Shown at a payment that the client's bank took back. */
    lost: "The bank took it back",
    notes: {
      QuoteReady: "Ready to pay",
      AwaitingPayment: "Not yet cleared",
      EsignPending: "Out for signature",
      NotarizationPending: "With the notary",
      ShippingPending: "Being prepared",
      Shipped: "On its way",
      Delivered: "Delivered",
      FaxPending: "Being sent",
      FaxSent: "Sent, not yet confirmed",
      FaxDelivered: "Delivered",
      PaymentFailed: "Did not go through",
      EsignDeclined: "Stopped",
      EsignExpired: "Expired",
      NotarizationFailed: "Not completed",
      IdentityLocked: "Identity not confirmed",
      ManualQuoteRequired: "Being priced",
      OnHold: "Paused",
      ShippingFailed: "Did not arrive",
      RefundPending: "Stopped",
      Refunded: "Stopped",
      Cancelled: "Stopped",
      FaxFailed: "Did not go through",
    } satisfies Record<NotedStatus, string>,
  },
  /** Words for a signing that a signer ended in order to sign on paper. */
  wantsPaper: "Wants to sign on paper",
  paperWish: { label: "A signer wants paper", headline: "A signer wants to sign on paper" },
  signedElsewhere: "The document has no signature made here: it was signed elsewhere and taken in",
  takenIn: "Finished elsewhere, taken in by an operator",
  /** For a test order whose signing the sandbox completed. */
  simulated: {
    signer: "No signature in the document: the sandbox completed this test",
    document: "Completed in the sandbox: nobody’s signature is in it",
    notarization: "Notarization simulated (test)",
    headline: "Signing was simulated",
    summary: "The sandbox completed this test: nobody’s signature is in the document.",
  },
  isEarlier: "An earlier version: the notarized document is the one that counts",
  signerStates: {
    pending: "Not asked yet",
    sent: "Asked to sign",
    viewed: "Opened",
    signed: "Signed",
    declined: "Declined",
    locked: "Locked: too many codes",
  } satisfies Record<SignerState["status"], string>,
  documentTitles: {
    original: "The document as it came",
    original_replaced: "Replaced document",
    sealed: "Signed and sealed",
    notarized: "Notarized",
    custody_certificate: "Certificate of the signing",
    fax_report: "The fax machine’s report",
    delivery_receipt: "Receipt of the delivery",
    mail_receipt: "Receipt of the mailing",
    fax_certificate: "Certificate of the fax",
  } satisfies Record<OrderDocument["kind"], string>,
  deleted: "deleted",
  proofs: { "tlog-proof": "Public log proof", ots: "OpenTimestamps proof" } satisfies Record<ProofForm, string>,
  hashOf: (document: string) => `hash: ${document}`,
  unnamed: (shortCode: string) => `Order ${shortCode}`,
  lineLabel: ({ label }: { type: string; label: string }) => label,
};

/** Words for the page on which a client fills in a form. */
export const fill = {
  test: {
    title: "A test form",
    text: "Nothing in it is real: type anything to try it out.",
  },
  lead: (firm: string) => `${firm} asks you to fill in this form. Your answers become part of a document.`,
  until: (at: string) =>
    `Your answers are saved as you type. You can stop, and continue with the same link until ${at}.`,
  step: (at: number, of: number) => `Step ${at} of ${of}`,
  next: "Save and go on",
  back: "Back",
  review: "Save and check your answers",
  reviewTitle: "Check your answers",
  reviewLead: "They will be printed into the document. Nothing is sent before you finish.",
  preview: "See the document with your answers",
  finish: "Finish and use this document",
  change: "Change",
  none: "No answer",
  yes: "Yes",
  choose: "Choose",
  optional: "optional",
  forget: "Delete my answers",
  forgetHint: "The form is then empty again.",
  check: "Please check the form",
  stale: "These answers were changed in another window. Check what you typed here, and save it again.",
  atMost: (max: number) => `At most ${max} characters.`,
  faults: {
    long: (max: number) => `must have at most ${max} characters`,
    room: "is too long for its place in the document",
    characters: "has characters that cannot be printed",
    option: "must be one of the choices",
    missing: "is needed",
  },
  done: {
    title: "Thank you",
    text: "Your answers are in the document, and the firm can continue with it. You can close this page.",
  },
  download: "Download the document",
  goOn: "Go on",
  over: {
    title: "This form is closed",
    text: "It was canceled, or nobody finished it in time. Ask the firm for a new link.",
  },
  saving: "Saving…",
  saved: "Saved.",
  refused: "Saved, except an answer that is not accepted. The button below shows why.",
  unsaved: "Not saved. Check your connection; your answers are still here.",
};

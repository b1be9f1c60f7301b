import { type OrderStatus, statusLabels } from "../../../../orders/order/order.ts";
import type { OrderDocument, SignerState } from "../../../../signing/envelopes/envelopes.ts";
import { otherStatus, statuses } from "./statuses.ts";

/** Statuses that say more of their step than that it is done. */
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
      EsignDeclined: "Declined",
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
  signedElsewhere: "Did not sign here: a document signed elsewhere was taken in",
  takenIn: "Finished elsewhere, taken in by an operator",
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
    sealed: "Signed and sealed",
    notarized: "Notarized",
    custody_certificate: "Certificate of the signing",
    fax_report: "The fax machine’s report",
    delivery_receipt: "Receipt of the delivery",
    mail_receipt: "Receipt of the mailing",
    fax_certificate: "Certificate of the fax",
  } satisfies Record<OrderDocument["kind"], string>,
  deleted: "deleted",
  hashOf: (document: string) => `hash: ${document}`,
  unnamed: (shortCode: string) => `Order ${shortCode}`,
  lineLabel: ({ label }: { type: string; label: string }) => label,
};

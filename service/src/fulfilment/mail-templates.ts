import type { MailMoment } from "../orders/orders.ts";
import type { Mail } from "../platform/mail/mail.ts";
import { isPlainName } from "../platform/mail/plain-name.ts";
import { mailFrom } from "../platform/mail/template.ts";

/** What a mail says of an order. */
export type MailOrder = {
  code: string;
  customerEmail: string;
  customerName: string | null;
  totalCents: number;
  partnerName: string;
  /** Of the firm; null where it has set none. */
  replyTo: string | null;
  carrier: string | null;
  trackingNumber: string | null;
};

type Words = { subject: string; lines: string[] };

const dollars = (cents: number): string => `$${(cents / 100).toFixed(2)}`;

const words: Readonly<Record<MailMoment, (order: MailOrder) => Words>> = {
  payment_received: ({ totalCents, partnerName }) => ({
    subject: "We received your payment",
    lines: [
      `Your payment of ${dollars(totalCents)} for the document from ${partnerName} has cleared.`,
      "We have begun with your order.",
    ],
  }),
  signed: ({ partnerName }) => ({
    subject: "Your document is signed and sealed",
    lines: [
      `Everybody has signed the document from ${partnerName}.`,
      "It is sealed: any later change to it would show. Keep your copy: it can be checked without us.",
    ],
  }),
  shipped: ({ carrier, trackingNumber, partnerName }) => ({
    subject: "Your document is on its way",
    lines: [
      `The document from ${partnerName} was handed to ${carrier ?? "the carrier"}.`,
      ...(trackingNumber ? [`Tracking number: ${trackingNumber}`] : []),
    ],
  }),
  ready_for_pickup: ({ carrier, trackingNumber, partnerName }) => ({
    subject: "Your document waits to be picked up",
    lines: [
      `${carrier ?? "The carrier"} keeps the document from ${partnerName} at a place near you. It is sent back if nobody picks it up.`,
      ...(trackingNumber ? [`Tracking number: ${trackingNumber}`] : []),
    ],
  }),
};

const greetingOf = (customerName: string | null): string =>
  customerName !== null && isPlainName(customerName) ? `Hello ${customerName},` : "Hello,";

/** Where a mail leads: to the order's page, or to the one that has its documents. */
export type MailLinks = { page: string; documents: string };

/** The mail of a moment. */
export function mailOf(moment: MailMoment, order: MailOrder, links: MailLinks): Mail {
  return {
    id: `order:${order.code}:${moment}:${order.trackingNumber ?? ""}`,
    to: order.customerEmail,
    replyTo: order.replyTo,
    ...mailFrom({
      ...words[moment](order),
      greeting: greetingOf(order.customerName),
      ...(moment === "signed"
        ? {
            link: { label: "Download your documents", url: links.documents },
            caution: "Anyone who has this link can download the documents, so share it with care.",
          }
        : {
            link: { label: "See your order", url: links.page },
            caution: "Anyone who has this link can see the order, so share it with care.",
          }),
    }),
  };
}

import { html, raw } from "hono/html";
import type { MailMoment } from "../orders/orders.ts";
import type { Mail } from "../platform/mail.ts";

/** What a mail says of an order. */
export type MailOrder = {
  code: string;
  customerEmail: string;
  customerName: string | null;
  totalCents: number;
  partnerName: string;
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
      "It is sealed: any later change to it would show.",
    ],
  }),
  shipped: ({ carrier, trackingNumber, partnerName }) => ({
    subject: "Your document is on its way",
    lines: [
      `The document from ${partnerName} was handed to ${carrier ?? "the carrier"}.`,
      ...(trackingNumber ? [`Tracking number: ${trackingNumber}`] : []),
    ],
  }),
};

/** The mail of a moment, as plain text and as HTML with everything escaped. */
export function mailOf(moment: MailMoment, order: MailOrder, baseUrl: string): Mail {
  const { subject, lines } = words[moment](order);
  const greeting = order.customerName ? `Hello ${order.customerName},` : "Hello,";
  const link = `${baseUrl}/orders/${order.code}`;
  const caution = "Whoever has this link can see the order, so share it with care.";
  const paragraphs = lines.map((line) => html`<p>${line}</p>`);
  return {
    id: `order:${order.code}:${moment}:${order.trackingNumber ?? ""}`,
    to: order.customerEmail,
    subject,
    text: [greeting, "", ...lines, "", `See your order: ${link}`, caution, "", "SignSealShip", ""].join("\n"),
    html: String(
      html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${subject}</title></head>
<body style="font-family: sans-serif; line-height: 1.5; color: #1c2430; max-width: 36em">
<p>${greeting}</p>
${raw(paragraphs.join("\n"))}
<p><a href="${link}">See your order</a></p>
<p style="color: #5a6472">${caution}</p>
<p>SignSealShip</p>
</body></html>
`,
    ),
  };
}

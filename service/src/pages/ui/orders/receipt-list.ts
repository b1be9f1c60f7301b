import type { BillingDocument } from "../../../orders/billing/billing.ts";
import { defaultZone, outsideWays } from "../../../orders/payments/payments.ts";
import { dayIn, money } from "../format.ts";
import { type Html, html } from "../render.ts";
import { en, type Words } from "../words/en/en.ts";

const wordOf = {
  receipt: "receipt",
  credit_note: "creditNote",
  credit_reversal: "creditReversal",
  loss: "loss",
  loss_reversal: "lossReversal",
} as const;

/**
 * Receipts and credit notes of one order or of a closing's orders, each with a download link. The dates are those
 * printed on them, in the time zone of the buyer or the issuer. The client's page omits how money was returned to the
 * payer.
 * @param path the common prefix of the download URLs
 */
export const receiptList = (path: string, receipts: readonly BillingDocument[], words: Words | null = null): Html => {
  const { orderPage, language } = words ?? en;
  return html`<ul class="order-documents">${receipts.map(
    ({ number, kind, amountCents, currency, issuedAt, issuer, buyer, outside }) =>
      html`<li><a href="${path}/${number}" download>${orderPage[wordOf[kind]]} ${number}</a>, ${currency === "usd" ? money(amountCents) : `${amountCents} ${currency.toUpperCase()}`}, ${dayIn(issuedAt, buyer.zone ?? issuer?.zone ?? defaultZone, language)}${words === null && outside !== null && `, ${kind === "credit_reversal" ? "correction: not paid" : "paid"} back ${outsideWays[outside]}`}</li>`,
  )}</ul>`;
};

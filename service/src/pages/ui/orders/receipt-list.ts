import type { BillingDocument } from "../../../orders/billing/billing.ts";
import { defaultZone, outsideWays } from "../../../orders/payments/payments.ts";
import { card } from "../components.ts";
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
 * The card with receipts; false without any.
 * @param lists the receipts of each order; null for an order whose receipts can't be read because a record was altered
 * @param more follows the receipts
 */
export function receiptsCard(
  path: string,
  lists: readonly (readonly BillingDocument[] | null)[],
  words: Words | null = null,
  more: Html | false = false,
): Html | false {
  const { orderPage } = words ?? en;
  const receipts = [...new Map(lists.flatMap((list) => list ?? []).map((each) => [each.number, each])).values()];
  const isAltered = lists.includes(null);
  if (receipts.length === 0 && !isAltered) return false;
  return card(
    "receipts",
    orderPage.receipts,
    html`${isAltered && html`<p>${orderPage.receiptsAltered}</p>`}${receipts.length > 0 && receiptList(path, receipts, words)}${more}`,
  );
}

/**
 * Receipts and credit notes of one order or of a closing's orders, each with a download link. The dates are those
 * printed on them, in the time zone of the buyer or the issuer. The client's page omits how money was returned to the
 * payer.
 * @param path the common prefix of the download URLs
 */
const receiptList = (path: string, receipts: readonly BillingDocument[], words: Words | null): Html => {
  const { orderPage, language } = words ?? en;
  return html`<ul class="order-documents">${receipts.map(
    ({ number, kind, amountCents, currency, issuedAt, issuer, buyer, outside }) => {
      const link = html`<a href="${path}/${number}" download>${orderPage[wordOf[kind]]} ${number}</a>`;
      const amount = currency === "usd" ? money(amountCents) : `${amountCents} ${currency.toUpperCase()}`;
      const issued = dayIn(issuedAt, buyer.zone ?? issuer?.zone ?? defaultZone, language);
      const paid = kind === "credit_reversal" ? "correction: not paid" : "paid";
      const paidBack = words === null && outside !== null && `, ${paid} back ${outsideWays[outside]}`;
      return html`<li>${link}, ${amount}, ${issued}${paidBack}</li>`;
    },
  )}</ul>`;
};

import type { FastifyRequest } from "fastify";
import { tierOf } from "../../../firms/partners/partners.ts";
import { principalOf } from "../../../kernel/http/authentication.ts";
import { actorOf, type Principal } from "../../../kernel/identity/identity.ts";
import { type OrderDeps, type Payer, readWhole } from "../../../orders/order/order.ts";
import { activeMethod, expectedRefusal } from "../../../orders/payments/payments.ts";
import { moneyTable } from "../../ui/components.ts";
import { money } from "../../ui/format.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { type Html, html } from "../../ui/render.ts";
import { listed } from "../orders/field-words.ts";
import { afterPlacing } from "../orders/new/after-placing.ts";
import { isPostageGuessed, postageNote } from "../orders/new/quote.ts";
import { isPriceFirst, shownChargeFields } from "../orders/new/shown-charge.ts";
import { documentsIn, orderOf } from "./fields.ts";
import { isPrevented } from "./file.ts";

/**
 * The displayed price of a closing, and the text of the button that places it. `button` is null for the button's usual
 * text.
 */
export type ClosingQuote = { shown: Html; button: string | null };

/**
 * The price of the closing for the form's present values, document by document. Carriers are asked for their prices
 * only when the closing is placed.
 */
export async function quoteOf(orders: OrderDeps, request: FastifyRequest, values: FormValues): Promise<ClosingQuote> {
  const { pricing, notaries } = orders.offer;
  const principal = principalOf(request);
  const { environment } = principal;
  const tier = tierOf(principal.tier);
  const lines: { label: string; amountCents: number }[] = [];
  let [signs, hasGap, isOpen] = [false, false, false];
  const postage = { isPriced: true, isGuessed: false, asksCarriers: false };
  const documents = documentsIn(values);
  const prevented = documents.filter(isPrevented);
  for (const document of documents) {
    if (prevented.includes(document)) continue;
    const fields = orderOf(values, document);
    fields.delete("fill_token");
    // The price does not depend on the placed fields.
    fields.delete("fields");
    const { refusals, form } = readWhole(fields, true, pricing);
    isOpen ||= !form;
    if (!form) continue;
    const { services, docSlug, shipMethod, shipTo, shipFrom } = form;
    const wanted = {
      tier,
      services,
      docSlug,
      pages: Math.max(document.pages, 1),
      shipMethod,
      shipTo,
      shipFrom,
      askCarriers: null,
    };
    const { outcome, quote } = await pricing.price(wanted);
    signs ||= services.sign;
    const sale = { environment, docSlug, signerState: form.signerState, acceptsSignature: true };
    hasGap ||= services.notarize && (await notaries.gapOf(orders.db, sale)) !== null;
    postage.isPriced &&= outcome === "quoted";
    postage.isGuessed ||= isPostageGuessed(services, refusals);
    const asksCarriers = environment === "live" && shipMethod === "label";
    postage.asksCarriers ||= asksCarriers;
    isOpen ||= services.ship && asksCarriers;
    lines.push({ label: `${document.n}. ${document.name || document.fileName}`, amountCents: quote.totalCents });
  }
  const unpriced =
    prevented.length > 0 &&
    html`<p class="field-error">Without a price, because they can’t have the chosen services: ${listed(prevented.map(({ n, name, fileName }) => `${n}. ${name || fileName}`))}.</p>`;
  if (lines.length === 0) {
    const empty = html`<p class="quiet">The price appears here once there is a document with its services.</p>`;
    return { shown: html`${unpriced}${empty}`, button: null };
  }
  const totalCents = lines.reduce((sum, { amountCents }) => sum + amountCents, 0);
  const quote = { lines, subtotalCents: totalCents, discountCents: 0, totalCents };
  const isPriced = postage.isPriced && !hasGap && !isPriceFirst(values);
  const isFinal = isPriced && prevented.length === 0 && !isOpen && !postage.isGuessed;
  const { text, button, charged } = await afterClosing(orders, principal, {
    payBy: values["pay_by"] === "firm" ? "firm" : "client",
    amounts: lines.map(({ amountCents }) => amountCents),
    isPriced,
    signs,
    sum: { amount: money(totalCents), isFinal },
  });
  // The form contains the displayed sum and payment method, so that no other sum or method is charged.
  const hidden = shownChargeFields({ cents: totalCents, isFinal, method: charged });
  const shown = html`${unpriced}${moneyTable("Price, in US dollars", quote, isFinal ? "Total" : "Total so far")}${postageNote(postage, "closing")}${text}${hidden}${button !== null && html`<span hidden data-place="${button}"></span>`}`;
  return { shown, button };
}

type PricedClosing = {
  payBy: Payer;
  amounts: readonly number[];
  isPriced: boolean;
  signs: boolean;
  sum: { amount: string; isFinal: boolean };
};

/**
 * The text about the next step after the closing is placed, the button's text, and the payment method that would be
 * charged.
 */
async function afterClosing(orders: OrderDeps, principal: Principal, { amounts, ...closing }: PricedClosing) {
  const method = closing.payBy === "firm" ? await activeMethod(orders.db, principal) : undefined;
  const spending = { spender: actorOf(principal), amounts };
  const refusal = method ? await expectedRefusal(orders.db, orders, principal, spending) : null;
  const hasCheckout = orders.offer.acceptsPayment(principal.environment);
  return afterPlacing({ subject: "closing", method, refusal, hasCheckout, ...closing });
}

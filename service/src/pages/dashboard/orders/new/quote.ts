import type { FastifyInstance } from "fastify";
import { tierOf } from "../../../../firms/partners/partners.ts";
import { principalOf } from "../../../../kernel/http/authentication.ts";
import type { RateLimits } from "../../../../kernel/http/rate-limits.ts";
import { actorOf } from "../../../../kernel/identity/identity.ts";
import { type OrderDeps, readWhole } from "../../../../orders/order/order.ts";
import { activeMethod, expectedRefusal } from "../../../../orders/payments/payments.ts";
import { moneyTable } from "../../../ui/components.ts";
import { money } from "../../../ui/format.ts";
import type { FormValues } from "../../../ui/forms/form-body.ts";
import { pageRoute } from "../../../ui/page/route.ts";
import { type Html, html, render } from "../../../ui/render.ts";
import { afterPlacing } from "./after-placing.ts";
import { isPriceFirst, shownChargeFields } from "./shown-charge.ts";
import { withSigners } from "./signer-rows.ts";

export const quotePath = "/dashboard/orders/new/quote";

const maxPages = 10_000;

type QuoteDeps = { limits: RateLimits; orders: Pick<OrderDeps, "db" | "offer" | "clock" | "rowMac"> };

/**
 * Adds the route from which the form's script requests the price of the current input. Carriers are queried only when
 * the order is placed.
 */
export function quoteRoute(forms: FastifyInstance, { limits, orders }: QuoteDeps): void {
  const { db, offer } = orders;
  pageRoute(
    forms,
    { limits },
    {
      method: "POST",
      url: quotePath,
      handle: async ({ request, form: values }) => {
        const { fill_token: _, ...typed } = values;
        const { refusals, form } = readWhole(withSigners(new Map(Object.entries(typed))), true, offer.pricing);
        if (!form) return render(html`<p class="quiet">The price appears here once the services are chosen.</p>`);
        const { services, docSlug, shipMethod, shipTo, shipFrom } = form;
        const tier = tierOf(principalOf(request).tier);
        const wanted = {
          tier,
          services,
          docSlug,
          pages: pagesIn(values),
          shipMethod,
          shipTo,
          shipFrom,
          askCarriers: null,
        };
        const { outcome, quote } = await offer.pricing.price(wanted);
        const isCounted = (values["pages"] || values["document_pages"] || "") !== "";
        const principal = principalOf(request);
        const { environment } = principal;
        const postage = {
          isPriced: outcome === "quoted",
          isGuessed: isPostageGuessed(services, refusals),
          asksCarriers: environment === "live" && shipMethod === "label",
          lacksPages: services.ship && !isCounted,
        };
        const isSum = postage.isPriced && !postage.isGuessed && !(services.ship && postage.asksCarriers);
        const sale = { environment, docSlug, signerState: form.signerState, acceptsSignature: true };
        const gap = services.notarize ? await offer.notaries.gapOf(db, sale) : null;
        const unsold = offer.notaries.refuses
          ? "Such orders are not taken."
          : "A person prices it after the order is placed.";
        const notes = html`${postageNote(postage, "order")}${gap !== null && html`<p class="quiet">${gap} ${unsold}</p>`}`;
        const isPriced = postage.isPriced && gap === null && !isPriceFirst(values);
        // Pages affect only the postage. So the price of an order with shipping is not final while the number of pages
        // is unknown.
        const isFinal = isSum && isPriced && !postage.lacksPages;
        const method = form.payBy === "firm" ? await activeMethod(db, principal) : undefined;
        const spending = { spender: actorOf(principal), amounts: [quote.totalCents] };
        const { text, button, charged } = afterPlacing({
          subject: "order",
          payBy: form.payBy,
          method,
          refusal: method ? await expectedRefusal(db, orders, principal, spending) : null,
          isPriced,
          sum: { amount: money(quote.totalCents), isFinal },
          signs: services.sign,
          hasCheckout: offer.acceptsPayment(environment),
        });
        const total = isFinal && isCounted ? "Total" : "Total so far";
        // The form contains the displayed sum and payment method, so that no other sum or method is charged.
        const shown = shownChargeFields({ cents: quote.totalCents, isFinal, method: charged });
        return render(
          html`${moneyTable("Price, in US dollars", quote, total)}${notes}${text}${button !== null && onButtons(button)}${shown}`,
        );
      },
    },
  );
}

/** A hidden element with the labels that our script writes on the buttons. They name the charge. */
const onButtons = (label: string): Html =>
  html`<span hidden data-place="${label}" data-another="${label}, and start another for this client"></span>`;

function pagesIn(values: FormValues): number {
  const pages = Number(values["pages"] || values["document_pages"] || 1);
  return Number.isInteger(pages) && pages >= 1 ? Math.min(pages, maxPages) : 1;
}

/**
 * True if the postage was computed for a typical address, because a postal address in the form is incomplete or
 * invalid.
 */
export const isPostageGuessed = ({ ship }: { ship: boolean }, refusals: readonly string[]): boolean =>
  ship && refusals.some((each) => /^(?:ship|from)_/.test(each));

type Postage = { isPriced: boolean; isGuessed: boolean; asksCarriers: boolean; lacksPages?: boolean };

/**
 * Sentences on how the price of the postage can still change; empty for none.
 * @param asksCarriers true if carriers are queried when the order or the closing is placed
 * @param lacksPages true if the number of pages is unknown, so that one page was assumed
 */
export function postageNote(
  { isPriced, isGuessed, asksCarriers, lacksPages = false }: Postage,
  subject: "order" | "closing",
): Html | "" {
  const lines = [
    ...(isPriced ? [] : [`The postage is priced by us after the ${subject} is placed.`]),
    ...(isPriced && isGuessed ? ["Postage is for New York until the address is complete."] : []),
    ...(isPriced && lacksPages ? ["Postage is for one page until the document’s pages are counted."] : []),
    ...(isPriced && asksCarriers
      ? [`Postage can change when the ${subject} is placed: the carriers are asked then.`]
      : []),
  ];
  return lines.length === 0 ? "" : html`<p class="quiet">${lines.join(" ")}</p>`;
}

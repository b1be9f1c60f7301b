import type { FastifyInstance } from "fastify";
import { tierOf } from "../../../../firms/partners/partners.ts";
import { principalOf } from "../../../../kernel/http/authentication.ts";
import type { RateLimits } from "../../../../kernel/http/rate-limits.ts";
import { actorOf } from "../../../../kernel/identity/identity.ts";
import { type OrderDeps, type Payer, readWhole } from "../../../../orders/order/order.ts";
import {
  activeMethod,
  expectedRefusal,
  type LimitRefusal,
  methodName,
  type PaymentMethod,
} from "../../../../orders/payments/payments.ts";
import { moneyTable } from "../../../ui/components.ts";
import { money } from "../../../ui/format.ts";
import { hiddenFields } from "../../../ui/forms/button-form.ts";
import type { FormValues } from "../../../ui/forms/form-body.ts";
import { pageRoute } from "../../../ui/page/route.ts";
import { type Html, html, render } from "../../../ui/render.ts";
import { withSigners } from "./signer-rows.ts";

export const quotePath = "/dashboard/orders/new/quote";

const mostPages = 10_000;

type QuoteDeps = { limits: RateLimits; orders: Pick<OrderDeps, "db" | "offer" | "clock" | "rowMac"> };

/**
 * Adds the address that tells our own script the price of the order for the current form. Carriers are asked only when
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
        const principal = principalOf(request);
        const { environment } = principal;
        const postage = {
          isPriced: outcome === "quoted",
          isGuessed: isPostageGuessed(services, refusals),
          asksCarriers: environment === "live" && shipMethod === "label",
        };
        const isSum = postage.isPriced && !postage.isGuessed && !(services.ship && postage.asksCarriers);
        const sale = { environment, docSlug, signerState: form.signerState, takesSignature: true };
        const gap = services.notarize ? await offer.notaries.gapOf(db, sale) : null;
        const unsold = offer.notaries.refuses
          ? "Such orders are not taken."
          : "A person prices it after the order is placed.";
        const notes = html`${postageNote(postage, "order")}${gap !== null && html`<p class="quiet">${gap} ${unsold}</p>`}`;
        const isCounted = (values["pages"] || values["document_pages"] || "") !== "";
        // The number of pages changes only the postage.
        const isFinal = isSum && gap === null && (isCounted || !services.ship);
        const method = form.payBy === "firm" ? await activeMethod(db, principal) : undefined;
        const spending = { spender: actorOf(principal), amounts: [quote.totalCents] };
        const after = afterPlacing({
          payBy: form.payBy,
          method,
          refusal: method ? await expectedRefusal(db, orders, principal, spending) : null,
          isPriced: postage.isPriced && gap === null,
          sum: isFinal ? money(quote.totalCents) : null,
          signs: services.sign,
          hasCheckout: offer.checkoutUrlOf !== null,
        });
        const total = isFinal && isCounted ? "Total" : "Total so far";
        // The form is sent with the sum that it shows, so that another one is never charged.
        const shown = isFinal && hiddenFields({ total_cents: String(quote.totalCents) });
        return render(html`${moneyTable("Price, in US dollars", quote, total)}${notes}${after}${shown}`);
      },
    },
  );
}

type After = {
  payBy: Payer;
  method: PaymentMethod | undefined;
  /** Why the member may not spend the price with the method; null if the member may. */
  refusal: LimitRefusal | null;
  isPriced: boolean;
  /** The price; null while it can still change when the order is placed. */
  sum: string | null;
  signs: boolean;
  hasCheckout: boolean;
};

/** Says what follows when the order is placed. Our script writes what happens to a method on file on the buttons, too. */
function afterPlacing({ payBy, method, refusal, isPriced, sum, signs, hasCheckout }: After): Html {
  const next = signs
    ? "the document goes out for signature: each signer gets the link to sign by email"
    : "the work on the document begins";
  const say = (text: string) => html`<p><strong>After you place it:</strong> ${text}</p>`;
  if (!isPriced && !method) return say(`We tell you the price first. Once it is paid, ${next}.`);
  const price = sum ?? "the price";
  if (payBy === "client") {
    const asked = hasCheckout ? `The client gets an email with the link to pay ${price}. ` : "";
    return say(`${asked}Once the client has paid, ${next}.`);
  }
  if (!method) return say(`Nobody is charged yet. Once you have paid on the order’s page, ${next}.`);
  const name = methodName(method);
  // The price of an order that a person prices is not final, so it says nothing about limits of amounts.
  if (refusal !== null && (isPriced || refusal.reason === "no_limit")) {
    const checkout = hasCheckout ? ", or anybody of your firm can open its checkout there" : "";
    const charged = html`${say(`${notCharged(refusal, sum)} An owner can charge ${name} on the order’s page${checkout}. Once it is paid, ${next}.`)}`;
    return isCertain(refusal, sum) ? html`${charged}${onButtons("Place without a charge")}` : charged;
  }
  if (!isPriced)
    return say(
      `We price it first. ${name} is charged as soon as the price is set, within the limits that owners set. Once the payment is confirmed, ${next}.`,
    );
  const charge = sum === null ? `charge ${name}` : `charge ${sum} to ${name}`;
  return html`${say(`${name} is charged ${price} at once, within the limits that owners set. Once the payment is confirmed, ${next}.`)}
${onButtons(`Place and ${charge}`)}`;
}

const onButtons = (label: string): Html =>
  html`<span hidden data-place="${label}" data-another="${label}, and start another for this client"></span>`;

/** Whether the refusal does not depend on a price that can still change. */
const isCertain = ({ reason }: LimitRefusal, sum: string | null): boolean =>
  sum !== null || reason === "no_limit" || reason === "left";

/** Says that the member’s limits don’t allow the charge, and names the limit. */
function notCharged({ reason, leftCents }: LimitRefusal, sum: string | null): string {
  if (reason === "no_limit" || reason === "left")
    return "Nobody is charged: an owner has not allowed you to spend for your firm.";
  const limit =
    reason === "above_order_limit"
      ? `your limit for one order, ${money(leftCents)}`
      : `what is left of your limit for this month, ${money(leftCents)}`;
  return sum === null
    ? `Nobody is charged if the price stays above ${limit}.`
    : `Nobody is charged: ${sum} is above ${limit}.`;
}

function pagesIn(values: FormValues): number {
  const pages = Number(values["pages"] || values["document_pages"] || 1);
  return Number.isInteger(pages) && pages >= 1 ? Math.min(pages, mostPages) : 1;
}

/** Whether the postage is for a usual address because the form's own address is not complete. */
export const isPostageGuessed = ({ ship }: { ship: boolean }, refusals: readonly string[]): boolean =>
  ship && refusals.some((each) => /^(?:ship|from)_/.test(each));

/**
 * Tells what the shown postage depends on; empty if nothing.
 * @param asksCarriers whether carriers are asked for their prices when the order or the closing is placed
 */
export function postageNote(
  { isPriced, isGuessed, asksCarriers }: { isPriced: boolean; isGuessed: boolean; asksCarriers: boolean },
  subject: "order" | "closing",
): Html | "" {
  const lines = [
    ...(isPriced ? [] : [`The postage is priced by us after the ${subject} is placed.`]),
    ...(isPriced && isGuessed ? ["Postage is for New York until the address is complete."] : []),
    ...(isPriced && asksCarriers
      ? [`Postage can change when the ${subject} is placed: the carriers are asked then.`]
      : []),
  ];
  return lines.length === 0 ? "" : html`<p class="quiet">${lines.join(" ")}</p>`;
}

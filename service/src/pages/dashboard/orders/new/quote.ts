import type { FastifyInstance } from "fastify";
import { tierOf } from "../../../../firms/partners/partners.ts";
import { principalOf } from "../../../../kernel/http/authentication.ts";
import type { RateLimits } from "../../../../kernel/http/rate-limits.ts";
import { type OrderDeps, type Payer, readWhole } from "../../../../orders/order/order.ts";
import { activeMethod, methodName, type PaymentMethod } from "../../../../orders/payments/payments.ts";
import { moneyTable } from "../../../ui/components.ts";
import { money } from "../../../ui/format.ts";
import type { FormValues } from "../../../ui/forms/form-body.ts";
import { pageRoute } from "../../../ui/page/route.ts";
import { type Html, html, render } from "../../../ui/render.ts";
import { withSigners } from "./signer-rows.ts";

export const quotePath = "/dashboard/orders/new/quote";

const mostPages = 10_000;

type QuoteDeps = { limits: RateLimits; orders: Pick<OrderDeps, "db" | "offer"> };

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
        const isWhole = isSum && gap === null && (values["pages"] || values["document_pages"] || "") !== "";
        const after = afterPlacing({
          payBy: form.payBy,
          method: form.payBy === "firm" ? await activeMethod(db, principal) : undefined,
          isPriced: postage.isPriced && gap === null,
          sum: isSum ? money(quote.totalCents) : null,
          signs: services.sign,
          hasCheckout: offer.checkoutUrlOf !== null,
        });
        return render(
          html`${moneyTable("Price, in US dollars", quote, isWhole ? "Total" : "Total so far")}${notes}${after}`,
        );
      },
    },
  );
}

type After = {
  payBy: Payer;
  method: PaymentMethod | undefined;
  isPriced: boolean;
  /** The price; null while it can still change when the order is placed. */
  sum: string | null;
  signs: boolean;
  hasCheckout: boolean;
};

/** Says what follows when the order is placed. Where that is a charge, our script writes it on the buttons, too. */
function afterPlacing({ payBy, method, isPriced, sum, signs, hasCheckout }: After): Html {
  const next = signs
    ? "the document goes out for signature: each signer gets the link to sign by email"
    : "the work on the document begins";
  const say = (text: string) => html`<p><strong>After you place it:</strong> ${text}</p>`;
  if (!isPriced) return say(`We tell you the price first. Once it is paid, ${next}.`);
  const price = sum ?? "the price";
  if (payBy === "client") {
    const asked = hasCheckout ? `The client gets an email with the link to pay ${price}. ` : "";
    return say(`${asked}Once the client has paid, ${next}.`);
  }
  if (!method) return say(`Nobody is charged yet. Once you have paid on the order’s page, ${next}.`);
  const name = methodName(method);
  const charge = sum === null ? `charge ${name}` : `charge ${sum} to ${name}`;
  return html`${say(`${name} is charged ${price} at once, within the limits that owners set. Once the payment is confirmed, ${next}.`)}
<span hidden data-place="Place and ${charge}" data-another="Place and ${charge}, and start another for this client"></span>`;
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

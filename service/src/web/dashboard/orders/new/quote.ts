import type { FastifyInstance } from "fastify";
import { principalOf } from "../../../../http/authentication.ts";
import type { RateLimits } from "../../../../http/rate-limits.ts";
import { readWhole } from "../../../../orders/orders.ts";
import { tierOf } from "../../../../partners/partners.ts";
import type { VersionedPricing } from "../../../../pricing/pricing.ts";
import { moneyTable } from "../../../ui/components.ts";
import type { FormValues } from "../../../ui/forms/form-body.ts";
import { pageRoute } from "../../../ui/page/route.ts";
import { type Html, html, render } from "../../../ui/render.ts";
import { withSigners } from "./signer-rows.ts";

export const quotePath = "/dashboard/orders/new/quote";

const mostPages = 10_000;

/** What the order would cost as the form stands; for our own script. Carriers are not asked before it is placed. */
export function quoteRoute(forms: FastifyInstance, deps: { limits: RateLimits; pricing: VersionedPricing }): void {
  pageRoute(forms, deps, {
    method: "POST",
    url: quotePath,
    handle: async ({ request, form: values }) => {
      const { fill_token: _, ...typed } = values;
      const { refusals, form } = readWhole(withSigners(new Map(Object.entries(typed))), true, deps.pricing);
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
      const { outcome, quote } = await deps.pricing.price(wanted);
      const guessed = services.ship && refusals.some((each) => /^(?:ship|from)_/.test(each));
      return render(html`${moneyTable("Price, in US dollars", quote, "Total so far")}${note(outcome, guessed)}`);
    },
  });
}

function pagesIn(values: FormValues): number {
  const pages = Number(values["pages"] || values["document_pages"] || 1);
  return Number.isInteger(pages) && pages >= 1 ? Math.min(pages, mostPages) : 1;
}

function note(outcome: string, guessed: boolean): Html | "" {
  if (outcome !== "quoted") return html`<p class="quiet">The postage is priced by us after the order is placed.</p>`;
  return guessed ? html`<p class="quiet">Postage is for New York until the address is complete.</p>` : "";
}

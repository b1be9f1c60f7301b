import type { FastifyInstance } from "fastify";
import { tierOf } from "../../firms/partners/partners.ts";
import { principalOf } from "../../kernel/http/authentication.ts";
import { estimate, type Pricing } from "../../orders/pricing/pricing.ts";
import { card, moneyTable, pageHead } from "../ui/components.ts";
import { checkbox, errorSummary, field, select } from "../ui/forms/fields.ts";
import type { FormValues } from "../ui/forms/form-body.ts";
import { pageRoute } from "../ui/page/route.ts";
import { pricesBody } from "../ui/prices.ts";
import { type Html, html } from "../ui/render.ts";
import { shipMethods, states } from "./orders/new/form-parts.ts";
import { labels } from "./orders/words.ts";
import { type DashboardFrame, dashboardPage } from "./page-shell.ts";

const path = "/dashboard/prices";

type Tier = ReturnType<typeof tierOf>;

/** Adds the firm's prices, with an estimate for a document before it is uploaded. */
export function pricesPage(
  app: FastifyInstance,
  { frame, pricing }: { frame: DashboardFrame; pricing: Pricing },
): void {
  pageRoute(app, frame, {
    url: path,
    handle: async ({ request, query }) => {
      const tier = tierOf(principalOf(request).tier);
      const { errors, result } = query["pages"] === undefined ? nothing : await shownEstimate(pricing, tier, query);
      const body = html`${pageHead("Prices", "In US dollars.")}${errorSummary(errors)}
${card("estimate", "What will my document cost?", html`${estimateForm(pricing, query)}${result}`)}
${pricesBody(pricing.priceBook.content, tier)}`;
      const page = await dashboardPage(frame, request, { title: "Prices", section: "prices", body });
      return errors.length > 0 ? { page, status: 400 } : page;
    },
  });
}

type Shown = { errors: readonly string[]; result: Html | false };
const nothing: Shown = { errors: [], result: false };

const names = {
  pages: "Pages",
  docSlug: "Document type",
  shipMethod: "Delivery method",
  shipPostal: "Recipient’s ZIP code",
  shipState: "Recipient’s state",
  documentOf: ({ title }: { title: string }) => `“${title}”`,
};

async function shownEstimate(pricing: Pricing, tier: Tier, typed: FormValues): Promise<Shown> {
  const { pages = "", postal = "", state = "", type = "", method = "label" } = typed;
  const services = { sign: true, notarize: isOn(typed, "notary"), ship: isOn(typed, "ship"), fax: isOn(typed, "fax") };
  const question = { pages, docSlug: type, services, shipMethod: method, shipPostal: postal, shipState: state };
  const found = await estimate(pricing, tier, question, names);
  if ("errors" in found) return { errors: found.errors, result: false };
  const { isWhole, quote } = found;
  return {
    errors: [],
    result: html`${moneyTable("Estimate, in US dollars", quote, isWhole ? "Total" : "Total so far")}
<p class="quiet">${isWhole ? "An order of this kind costs this. A carrier’s own rate can change its postage." : "The postage is priced by us after the order is placed."}</p>`,
  };
}

const isOn = (typed: FormValues, name: string): boolean => typed[name] === "on";

function estimateForm({ catalog }: Pricing, typed: FormValues): Html {
  const box = (name: string, label: string) => checkbox({ form: "estimate", name, label, checked: isOn(typed, name) });
  return html`<form class="form" method="get" action="${path}">
${select({ form: "estimate", name: "type", label: "Document type", value: typed["type"], options: [{ value: "", label: "Other document" }, ...catalog.map(({ slug, title }) => ({ value: slug, label: title }))] })}
${field({ form: "estimate", name: "pages", label: "Pages", required: true, maxLength: 5, inputMode: "numeric", value: typed["pages"] ?? "1" })}
${box("notary", "Online notarization")}${box("fax", "Fax")}${box("ship", "Shipping")}
${select({ form: "estimate", name: "method", label: labels.ship_method, value: typed["method"], options: shipMethods })}
${field({ form: "estimate", name: "postal", label: labels.ship_postal, maxLength: 10, value: typed["postal"], hint: "For shipping." })}
${select({ form: "estimate", name: "state", label: labels.ship_state, value: typed["state"], options: states, hint: "For shipping." })}
<div class="form-actions"><button type="submit" class="quiet-button">Show the price</button></div>
</form>`;
}

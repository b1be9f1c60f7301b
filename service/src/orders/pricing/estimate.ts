import type { Tier } from "../../firms/partners/partners.ts";
import type { Pricing } from "./create-pricing.ts";
import type { BoughtServices, Quote } from "./quote.ts";
import { isUsState } from "./us-states.ts";

const mostPages = 10_000;
const digits = /^\d{1,5}$/;

/** What somebody typed to learn a price before a document exists. Empty texts count as not typed. */
type EstimateQuestion = {
  pages: string;
  docSlug: string;
  services: BoughtServices;
  shipMethod: string;
  shipPostal: string;
  shipState: string;
};

/** `isWhole`: the quote is complete. Otherwise a person prices the postage after the order was placed. */
type Estimate = { errors: readonly string[] } | { isWhole: boolean; quote: Quote };

/**
 * The price of a document that is not uploaded yet. Carriers are not asked, so an order's postage can differ.
 * @param names the names of the fields, for the errors
 */
export async function estimate(
  pricing: Pricing,
  tier: Tier,
  { pages, docSlug, services, shipMethod: method, shipPostal, shipState: state }: EstimateQuestion,
  names: Readonly<Record<"pages" | "docSlug" | "shipMethod" | "shipPostal" | "shipState", string>>,
): Promise<Estimate> {
  const postal = shipPostal.trim();
  const count = digits.test(pages.trim()) ? Number(pages) : 0;
  const errors = [
    ...(count >= 1 && count <= mostPages ? [] : [`${names.pages} must be a number from 1 to ${mostPages}.`]),
    ...(docSlug === "" || pricing.catalogRow(docSlug) ? [] : [`${names.docSlug} must be one of the list.`]),
    ...(method === "label" || method === "print_mail" ? [] : [`${names.shipMethod} must be one of the list.`]),
    ...(services.ship && !/^\d{5}$/.test(postal) ? [`${names.shipPostal} must have 5 digits.`] : []),
    ...(services.ship && !isUsState(state) ? [`${names.shipState} must be one of the list.`] : []),
  ];
  if (errors.length > 0) return { errors };
  const to = { name: "", line1: "", line2: null, city: "", state, postal };
  const { outcome, quote } = await pricing.price({
    ...{ tier, services, docSlug: docSlug === "" ? null : docSlug, pages: count, shipFrom: null, askCarriers: null },
    ...{ shipMethod: method === "print_mail" ? "print_mail" : "label", shipTo: services.ship ? to : null },
  });
  return { isWhole: outcome === "quoted", quote };
}

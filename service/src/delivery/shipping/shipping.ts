import type { Fetch } from "../../kernel/platform/bounds/bounded-request.ts";
import type { Jobs } from "../../kernel/platform/jobs/jobs.ts";
import type { Workers } from "../../kernel/platform/workers/task.ts";
import type { Resources } from "../../kernel/resources.ts";
import type { Taker } from "../../orders/fulfilment/fulfilment.ts";
import { recallQueue } from "../../orders/order/order.ts";
import type { Pricing } from "../../orders/pricing/pricing.ts";
import type { SearchMethod } from "../../orders/search/search.ts";
import type { Providers } from "../../providers/providers.ts";
import type { Receipts } from "../receipts/receipts.ts";
import { labelSearch, openLabels } from "./labels/labels.ts";
import { labelRows } from "./labels/store.ts";
import type { LetterDeps } from "./letters/deps.ts";
import { letterSearch, openLetters, recallOrder } from "./letters/letters.ts";
import { letterRows } from "./letters/store.ts";

export { buyShownLabel, openLabelFile, type ShownLabel, shownLabels } from "./labels/desk.ts";
export { labelRates } from "./labels/quote.ts";
export { sweepLabels } from "./labels/store.ts";
export { type LetterOnRecord, lettersOnRecord, requireNoLetter } from "./letters/letters.ts";
export { openParcels } from "./readdress.ts";

export const protectedTables = [labelRows, letterRows];

export const searchMethods: readonly SearchMethod[] = [labelSearch, letterSearch];

type ShippingParts = {
  workers: Workers;
  pricing: Pick<Pricing, "priceBook" | "parcelOf">;
  providers: Providers;
  receipts: Receipts;
  /** Downloads files from hosts other than the providers' APIs, such as a label's file. */
  fetch: Fetch;
};

/**
 * Registers the acts, event handlers and jobs of labels and letters.
 * @returns the providers that do the shipping tasks of orders instead of people
 */
export function openShipping(jobs: Jobs, resources: Resources, parts: ShippingParts): Taker[] {
  const { config, db, clock, log, blobs, rowMac } = resources;
  const { workers, pricing, providers, receipts, fetch } = parts;
  const store = { db, clock, log, blobs, rowMac };
  const planning = { workers, mailClass: config.lob?.mailClass ?? null, business: pricing.priceBook.content.business };
  const letterDeps: LetterDeps = { ...store, providers, planning };
  const letters = openLetters(jobs, letterDeps, receipts);
  jobs.work<{ orderId: number }>(recallQueue, ({ orderId }) => recallOrder(letterDeps, orderId));
  const settings = config.easypost && { ...config.easypost, asksPayers: config.stripe !== null };
  const labels = openLabels(jobs, { ...store, pricing, providers, easypost: { settings, fetch } }, receipts);
  return [labels, letters].filter((taker) => taker !== null);
}

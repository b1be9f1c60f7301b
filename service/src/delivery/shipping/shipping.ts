import type { Jobs } from "../../kernel/platform/jobs/jobs.ts";
import type { Taker } from "../../orders/fulfilment/fulfilment.ts";
import { recallQueue } from "../../orders/order/order.ts";
import type { ShippingDeps } from "./deps.ts";
import { openLabels } from "./labels/labels.ts";
import { labelRows } from "./labels/store.ts";
import { openLetters, recallOrder } from "./letters/letters.ts";
import { letterRows } from "./letters/store.ts";

export type { ShippingDeps } from "./deps.ts";
export { buyShownLabel, openLabelFile, type ShownLabel, shownLabels } from "./labels/desk.ts";
export { labelRates } from "./labels/quote.ts";
export { sweepLabels } from "./labels/store.ts";
export { type LetterOnRecord, lettersOnRecord, requireNoLetter } from "./letters/letters.ts";

export const protectedTables = [labelRows, letterRows];

/** Registers the acts, event handlers and jobs of labels and letters. @returns the providers that claim orders */
export function openShipping(jobs: Jobs, deps: ShippingDeps): Taker[] {
  const { business } = deps.pricing.priceBook.content;
  const letterDeps = { ...deps, mailClass: deps.lob?.mailClass ?? null, business };
  const letters = openLetters(jobs, letterDeps);
  jobs.work<{ orderId: number }>(recallQueue, ({ orderId }) => recallOrder(letterDeps, orderId));
  return [openLabels(jobs, deps), letters].filter((taker) => taker !== null);
}

import type { Taker } from "../fulfilment/fulfilment.ts";
import { recallQueue } from "../orders/orders.ts";
import type { Jobs } from "../platform/jobs/jobs.ts";
import type { ShippingDeps } from "./deps.ts";
import { openLabels } from "./labels/labels.ts";
import { openLetters, recallOrder } from "./letters/letters.ts";

export type { ShippingDeps } from "./deps.ts";
export { buyShownLabel, openLabelFile, type ShownLabel, shownLabels } from "./labels/desk.ts";
export { labelRates } from "./labels/quote.ts";
export { sweepLabels } from "./labels/sweep.ts";
export { type LetterOnRecord, lettersOnRecord, requireNoLetter } from "./letters/letters.ts";

/** Sets the acts, the handlers of events and the jobs of labels and letters. @returns who takes orders on */
export function openShipping(jobs: Jobs, deps: ShippingDeps): Taker[] {
  const { business } = deps.pricing.priceBook.content;
  const letterDeps = { ...deps, mailClass: deps.lob?.mailClass ?? null, business };
  const letters = openLetters(jobs, letterDeps);
  jobs.work<{ orderId: number }>(recallQueue, ({ orderId }) => recallOrder(letterDeps, orderId));
  return [openLabels(jobs, deps), letters].filter((taker) => taker !== null);
}

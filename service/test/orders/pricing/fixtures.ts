import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createPricing, loadPricingFiles } from "../../../src/orders/pricing/pricing.ts";

const data = join(import.meta.dirname, "../../../data");

export const shippedPaths = {
  priceBook: join(data, "price-book.yaml"),
  catalog: join(data, "catalog.yaml"),
  states: join(data, "notarization-states.yaml"),
  zip3: join(data, "zip3.yaml"),
};
export const shippedText = (name: string) => readFileSync(join(data, name), "utf8");

export const prices = loadPricingFiles(shippedPaths);
export const book = prices.priceBook.content;
export const pricing = createPricing(prices);

/** The number of the first line that contains the text, counted from 1. */
export function lineWith(source: string, text: string): number {
  const index = source.split("\n").findIndex((line) => line.includes(text));
  if (index < 0) throw new Error(`no line contains ${text}`);
  return index + 1;
}

export const address = (state: string, postal: string) => ({
  name: "Dana Ruiz",
  line1: "5 Elm Street",
  line2: null,
  city: "Anywhere",
  state,
  postal,
});

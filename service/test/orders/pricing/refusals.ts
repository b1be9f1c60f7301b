import assert from "node:assert/strict";
import { test } from "node:test";
import { parseCatalog } from "../../../src/orders/pricing/catalog.ts";
import { DataFileError } from "../../../src/orders/pricing/data-file.ts";
import { parsePriceBook } from "../../../src/orders/pricing/price-book.ts";
import { parseNotarizationStates } from "../../../src/orders/pricing/us-states.ts";
import { parseZip3Areas } from "../../../src/orders/pricing/zip3.ts";
import { book, lineWith, shippedText } from "./fixtures.ts";

export const bookText = shippedText("price-book.yaml");
export const catalogText = shippedText("catalog.yaml");
export const statesText = shippedText("notarization-states.yaml");
export const zip3Text = shippedText("zip3.yaml");

export type Parse = (text: string) => unknown;
export const asBook: Parse = (text) => parsePriceBook(text, "/etc/sss/price-book.yaml");
export const asCatalog: Parse = (text) => parseCatalog(text, "/etc/sss/catalog.yaml", book);
export const asStates: Parse = (text) => parseNotarizationStates(text, "/etc/sss/notarization-states.yaml");
export const asZip3: Parse = (text) => parseZip3Areas(text, "/etc/sss/zip3.yaml");

/** The parser's error for a text. */
export function refusal(parse: Parse, text: string): DataFileError {
  try {
    parse(text);
  } catch (error) {
    assert.ok(error instanceof DataFileError, String(error));
    assert.doesNotMatch(error.message, /\n/);
    return error;
  }
  return assert.fail("accepted");
}

/** Replaces one piece of a data file of the service. Expects an error at the line that then contains `at`. */
export function refuses(parse: Parse, source: string, from: string, to: string, at: string, message: string) {
  test(`${JSON.stringify(to)}: ${message}`, () => {
    assert.ok(source.includes(from), from);
    const text = source.replace(from, () => to);
    const error = refusal(parse, text);
    assert.equal(error.line, lineWith(text, at), error.message);
    assert.equal(error.message, `${error.file.split("/").at(-1)}:${error.line}: ${message}`);
  });
}

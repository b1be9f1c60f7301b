import type { PdfFile } from "../file.ts";
import type { Span } from "../lexer.ts";
import { spendLexed } from "../limits.ts";
import { resolve } from "../objects.ts";
import { textOf } from "../strings.ts";
import { asName, asRef, type Dict, elements, entry, isArray, isDict, isString, readDict } from "../values.ts";
import { type DocumentNotice, quoted, UnseenContent } from "./notice.ts";

const maxNotices = 20;

/**
 * Returns a notice for each of the document's layers that is off (ISO 32000-2, section 8.11), up to `maxNotices`. A
 * layer's usage can switch it on or off for viewing or printing, but not all readers apply the usage. So both states
 * are considered: with the usage and without it.
 * @throws UnseenContent for a layer that may differ between screens and paper
 */
export function hiddenLayers(file: PdfFile, catalog: Dict): DocumentNotice[] {
  const properties = dictOf(file, entry(catalog, "OCProperties"));
  if (!properties) return [];
  const start = dictOf(file, entry(properties, "D"));
  const [on, off] = ["ON", "OFF"].map((key) => numbersOf(file, start && entry(start, key)));
  const base = asName(resolve(file, start && entry(start, "BaseState"))) ?? "ON";
  const notices: DocumentNotice[] = [];
  for (const group of listOf(file, entry(properties, "OCGs"))) {
    const dict = dictOf(file, group);
    if (!dict) continue;
    const number = asRef(group)?.num ?? -1;
    const name = nameOf(file, dict);
    const isOn = base === "OFF" ? Boolean(on?.has(number)) && !off?.has(number) : !off?.has(number);
    const usage = dictOf(file, entry(dict, "Usage"));
    const screen = states(isOn, stateOf(file, usage, "View", "ViewState"));
    const print = states(isOn, stateOf(file, usage, "Print", "PrintState"));
    if (screen.size !== 1 || print.size !== 1 || screen.has(true) !== print.has(true))
      throw new UnseenContent(`${name === "" ? "a layer" : `the layer "${name}"`} can differ on screens and in print`);
    if (screen.has(false) && notices.length < maxNotices)
      notices.push({ code: "hidden_layer", page: null, text: name });
  }
  return notices;
}

/** The states that a layer may have on screens, or in print: its normal state, and the state that its usage names. */
const states = (isOn: boolean, usage: string | undefined): Set<boolean> =>
  new Set(usage === undefined ? [isOn] : [isOn, usage !== "OFF"]);

function stateOf(file: PdfFile, usage: Dict | undefined, event: string, key: string): string | undefined {
  const dict = usage && dictOf(file, entry(usage, event));
  return dict && asName(resolve(file, entry(dict, key)));
}

function nameOf(file: PdfFile, group: Dict): string {
  const name = resolve(file, entry(group, "Name"));
  return name && isString(name) && !file.encryption ? quoted(textOf(name)) : "";
}

function dictOf(file: PdfFile, value: Span | undefined): Dict | undefined {
  const found = resolve(file, value);
  return found && isDict(found) ? readDict(found.bytes, found.start) : undefined;
}

function listOf(file: PdfFile, value: Span | undefined): Span[] {
  const array = resolve(file, value);
  if (!array || !isArray(array)) return [];
  spendLexed(file.budget, array.end - array.start);
  return [...elements(array)];
}

const numbersOf = (file: PdfFile, value: Span | undefined): Set<number> =>
  new Set(listOf(file, value).map((element) => asRef(element)?.num ?? -1));

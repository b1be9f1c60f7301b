import { beginsText, textStreams } from "../../../../../kernel/pdf/text-cost.ts";

/**
 * Whether the text of a document may hold `{{`. Finds out in a millisecond or less, mostly, what would take a whole reader to know; errs
 * towards true.
 */
export function mayHoldTags(bytes: Buffer): boolean {
  if (bytes.includes("/Encrypt") || bytes.includes("/braceleft")) return true;
  for (const data of textStreams(bytes))
    if (typeof data === "string" || showsBraces(data.toString("latin1"))) return true;
  return false;
}

const showsText = /[)\]>]\s*(?:T[jJ]|['"])/;

/** Two braces one after the other in strings of a content stream, whatever stands between them to move the second. */
const literalBraces = /\{[\s\0()\d.\-\\[\]TJjDdm*<>]{0,60}\{/;
const hexBraces = /7b[\s<>\d.-]{0,60}?(?:00)?7b/i;
const escapedBraces = /\\173/;

function showsBraces(text: string): boolean {
  if (text.includes("/braceleft")) return true;
  if (/begin(?:bf|cid)/.test(text)) return mapsBrace(text);
  if (!beginsText.test(text) || !showsText.test(text)) return false;
  return literalBraces.test(text) || hexBraces.test(text) || escapedBraces.test(text);
}

const brace = 0x7b;

/** Whether a ToUnicode map gives another code than its own to `{`. */
function mapsBrace(cmap: string): boolean {
  if (/<\s*007b\s*>/i.test(cmap)) return true;
  for (const [, low = "", high = "", to = ""] of cmap.matchAll(/<([0-9a-f]+)>\s*<([0-9a-f]+)>\s*<([0-9a-f]{4})>/gi)) {
    const [first, last, text] = [low, high, to].map((digits) => Number.parseInt(digits, 16));
    if (first === undefined || last === undefined || text === undefined || first === text) continue;
    if (text <= brace && brace <= text + last - first) return true;
  }
  return false;
}

import type { PageContent } from "./content.ts";
import { executionWords, kindOfLabel, measures, reservedParts } from "./patterns.ts";
import type { Run } from "./runs.ts";

/**
 * Returns a function that says whether people sign the document at a given height of the page. They do below words such
 * as "in witness whereof", below the page's last sentence, and next to a date.
 */
export function executionAbove(words: readonly Run[]): (y: number, isCaption?: boolean) => boolean {
  const first = Math.min(...words.filter(({ text }) => executionWords.test(text)).map(({ y }) => y));
  const sentences = words.filter(({ text }) => text.split(/\s+/).length >= measures.wordsOfSentence);
  const last = Math.max(...sentences.map(({ y }) => y));
  // If a party's line is next to a line for a date, it is for a signature.
  const dates = words.filter(({ text }) => kindOfLabel(text) === "date").map(({ y }) => y);
  return (y, isCaption = false) =>
    y >= first - 4 ||
    (sentences.length > (isCaption ? 0 : 1) && y > last) ||
    dates.some((date) => Math.abs(date - y) < 4);
}

export type Part = { readonly top: number; readonly bottom: number };

/**
 * The parts of a page that a notary, a judge or an office fills in: from the words that begin such a part to the words
 * that end it.
 */
export function partsOfOthers({ height }: PageContent, words: readonly Run[]): Part[] {
  const sorted = [...words].sort((a, b) => a.y - b.y);
  const found: Part[] = [];
  for (const { text, y } of sorted) {
    if (found.some(({ bottom }) => y < bottom)) continue;
    const part = reservedParts.find(
      ({ opens, needs, unless }) =>
        opens.test(text) &&
        (!needs || sorted.some((run) => run.y > y && needs.test(run.text))) &&
        !(unless && sorted.some((run) => run.y > y + 20 && unless.test(run.text))),
    );
    if (!part) continue;
    const close = sorted.find((run) => run.y > y + 4 && part.closes?.test(run.text));
    const end = Math.min(height, y + (part.height ?? height));
    found.push({ top: y - 14, bottom: close ? Math.min(close.y + 20, end) : end });
  }
  return found;
}

import type { Task } from "../../../kernel/platform/workers/task.ts";
import type { Address } from "../../../orders/pricing/pricing.ts";

/** The facts about a document's pages. */
export type PagesRead = {
  count: number;
  /**
   * The first page that is not an upright US letter page: its number, and its size in points. Null when all pages fit.
   */
  odd: { page: number; width: number; height: number } | null;
  isEncrypted: boolean;
  /** The reason why the pages can't be read. */
  refused: string | null;
};

export const readPages: Task<null, PagesRead> = {
  name: "read the sizes of pages",
  module: import.meta.resolve("./pages-task.ts"),
  limitMs: 10_000,
};

/** The most sheets of paper in a letter, the address sheet included. */
const maxSheets = 60;
const addressSheets = 1;
// Lob's limits for the lines of a US address, in characters.
const maxNameLength = 40;
const maxLineLength = 64;

/** The settings for printing a document that fits. */
export type PrintPlan = { pages: number; doubleSided: boolean };

/**
 * Decides whether Lob can print and mail the document. It can if the document is not encrypted, its pages have letter
 * size, and the sheets are within the limit. Both addresses must be in the US and short enough.
 * @returns the print plan; or, in plain words, why people must print the document
 */
export function planLetter(read: PagesRead, to: Address, from: Address): PrintPlan | { misfit: string } {
  const { count, odd, isEncrypted, refused } = read;
  if (refused !== null) return { misfit: `The document’s pages can’t be measured (${refused}).` };
  if (isEncrypted) return { misfit: "The document is encrypted, and Lob prints no encrypted files." };
  if (odd) {
    const [width, height] = [inches(odd.width), inches(odd.height)];
    return { misfit: `Page ${odd.page} is ${width} x ${height} inches; Lob prints 8.5 x 11 only.` };
  }
  const max = maxSheets - addressSheets;
  if (count > max * 2) return { misfit: `The document has ${count} pages; a letter of Lob has room for ${max * 2}.` };
  const misfit = addressMisfit("recipient", to) ?? addressMisfit("sender", from);
  // Prints one page per sheet, as county recorders prefer, unless that exceeds the limit of sheets.
  return misfit === null ? { pages: count, doubleSided: count > max } : { misfit };
}

const inches = (points: number): string => String(Math.round((points / 72) * 100) / 100);

function addressMisfit(owner: string, { name, line1, line2, state, postal }: Address): string | null {
  if (!/^[A-Z]{2}$/.test(state) || !/^\d{5}(-\d{4})?$/.test(postal))
    return `The ${owner}’s address is not in the United States.`;
  if (name.length > maxNameLength)
    return `The ${owner}’s name is longer than the ${maxNameLength} characters that Lob prints.`;
  if (line1.length > maxLineLength || (line2 ?? "").length > maxLineLength)
    return `A line of the ${owner}’s address is longer than the ${maxLineLength} characters that Lob prints.`;
  return null;
}

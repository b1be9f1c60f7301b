import { openWithinBounds } from "../../kernel/pdf/pdf-js.ts";
import { readContent } from "../../kernel/pdf/proposals/content.ts";
import { type Proposal, propose } from "../../kernel/pdf/proposals/propose.ts";
import { timeLimit } from "../../kernel/platform/stopwatch.ts";

/** A proposal with the number and the size of its page. */
export type OnPage = Proposal & { readonly page: number; readonly size: { width: number; height: number } };

export type Search = {
  readonly pages: number;
  /**
   * `read`: all pages were searched. `partly`: a limit ended the search early, a page could not be read, or the
   * document has too much text. With too much text, `pages` is 0. `picture`: the pages have no words and no fields.
   */
  readonly state: "read" | "partly" | "picture";
  readonly found: readonly OnPage[];
};

/** The search ends when it reaches any of these limits. */
export type SearchLimits = { readonly pages: number; readonly milliseconds: number; readonly found: number };

/** Searches a document page by page. @returns null for a document that pdf.js can't open */
export async function run(bytes: Buffer, limits: SearchLimits): Promise<Search | null> {
  const opened = await openWithinBounds(bytes);
  if (!opened) return { pages: 0, state: "partly", found: [] };
  const { opening, OPS } = opened;
  try {
    const document = await opening.promise.catch(() => null);
    if (!document) return null;
    const isLate = timeLimit(limits.milliseconds);
    const found: OnPage[] = [];
    let hasWords = false;
    // Becomes false when a limit ends the search, or when pdf.js can't read a page. Such a page is skipped.
    let isWhole = true;
    let number = 1;
    for (; number <= document.numPages; number++) {
      if (number > limits.pages || found.length > limits.found || isLate()) break;
      const content = await document
        .getPage(number)
        .then((page) => readContent(page, OPS).finally(() => page.cleanup()))
        .catch(() => null);
      if (!content) {
        isWhole = false;
        continue;
      }
      if (content.runs.length > 0 || content.own.length > 0) hasWords = true;
      const size = { width: content.width, height: content.height };
      for (const proposal of propose(content)) found.push({ ...proposal, page: number, size });
    }
    if (number <= document.numPages || found.length > limits.found) isWhole = false;
    const state = !isWhole ? "partly" : hasWords ? "read" : "picture";
    return { pages: document.numPages, state, found: found.slice(0, limits.found) };
  } finally {
    await opening.destroy();
  }
}

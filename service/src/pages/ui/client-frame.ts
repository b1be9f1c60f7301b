import type { PageOptions } from "./layout.ts";
import { html } from "./render.ts";
import type { Words } from "./words/en/en.ts";
import { frames } from "./words/frames.ts";

/**
 * What is around a page for clients: its language, and the way to the other one. What is for developers and members is not theirs.
 * @param query of the page, beside the language
 */
export const clientFrame = (
  { language, nav, other }: Words,
  query = "",
): Pick<PageOptions, "credential" | "headerNav" | "language"> => ({
  credential: true,
  language: frames[language],
  headerNav: html`<nav aria-label="${nav.label}"><a href="/verify">${nav.verify}</a><a href="?${query}lang=${other.language}" lang="${other.language}" hreflang="${other.language}">${other.name}</a></nav>`,
});

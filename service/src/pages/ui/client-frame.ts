import { languageTags } from "../../kernel/platform/languages.ts";
import { languageMenu } from "./components.ts";
import type { PageOptions } from "./layout.ts";
import { html } from "./render.ts";
import type { Words } from "./words/en/en.ts";
import { frames } from "./words/frames.ts";

/**
 * The layout of a page for clients: its language, and links to the other languages. It contains no links for developers
 * and members.
 * @param query the query of the page's URL, without the language
 */
export const clientFrame = (
  { language, nav }: Words,
  query = "",
): Pick<PageOptions, "credential" | "headerNav" | "language"> => ({
  credential: true,
  language: frames[language],
  headerNav: html`<nav aria-label="${nav.label}"><a href="/verify">${nav.verify}</a>${languageMenu(
    { language, label: nav.language },
    (other, name) =>
      html`<a href="?${query}lang=${other}" lang="${languageTags[other]}" hreflang="${languageTags[other]}">${name}</a>`,
  )}</nav>`,
});

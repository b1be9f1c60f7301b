import { notice } from "../../ui/components.ts";
import { type Html, html } from "../../ui/render.ts";
import type { PageState } from "../frame.ts";

/** The id of the notices, to which the Sign button's `aria-describedby` refers. */
export const noticesId = "document-notices";

/**
 * Warnings that the signer should read before signing, such as about hidden text, attached files, or parts that PDF
 * readers show differently.
 */
export function noticesPart({
  view: { notices },
  words: { notices: words },
}: Pick<PageState, "view" | "words">): Html | "" {
  if (notices.length === 0) return "";
  const items = notices.map(({ code, page, text }) => {
    const where = page === null ? "" : ` (${words.page(page)})`;
    const quote = text === null || text === "" ? "" : html`: <q dir="auto">${text}</q>`;
    return html`<li>${words.of[code]}${where}${quote}</li>`;
  });
  return html`<div id="${noticesId}">${notice("attention", words.title, html`${words.lead}`)}<ul class="document-notices">${items}</ul></div>`;
}

import { notice } from "../../ui/components.ts";
import { type Html, html } from "../../ui/render.ts";
import type { Shown } from "../frame.ts";

/** The id of what the button that signs is described by. */
export const noticesId = "document-notices";

/** What the document has that its signer may not see as it is sealed: above the document, with the words that it quotes. */
export function noticesPart({
  view: { notices },
  words: { notices: words },
}: Pick<Shown, "view" | "words">): Html | "" {
  if (notices.length === 0) return "";
  const items = notices.map(({ code, page, text }) => {
    const where = page === null ? "" : ` (${words.page(page)})`;
    const quote = text === null || text === "" ? "" : html`: <q dir="auto">${text}</q>`;
    return html`<li>${words.of[code]}${where}${quote}</li>`;
  });
  return html`<div id="${noticesId}">${notice("attention", words.title, html`${words.lead}`)}<ul class="document-notices">${items}</ul></div>`;
}

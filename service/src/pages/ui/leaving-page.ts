import type { Assets } from "./assets/assets.ts";
import { clientFrame } from "./client-frame.ts";
import { layout } from "./layout.ts";
import type { PageAnswer } from "./page/route.ts";
import { html } from "./render.ts";
import { type Reader, readerOf } from "./words/reader.ts";

/**
 * After a form was sent, this page takes the browser to a page of the payment processor. A redirect can't do that,
 * because our content security policy limits forms, including their redirects, to our own site.
 * @param reader null for a member, who gets no link to a page for clients
 */
export function leavingPage(assets: Pick<Assets, "url">, reader: Reader | null, url: string): PageAnswer {
  const { words } = reader ?? readerOf(undefined, {});
  const { title, text, link } = words.payment.leaving;
  const body = html`<div class="message"><h1>${title}</h1><p>${text}</p><p><a class="button" href="${url}" rel="noreferrer">${link}</a></p></div>`;
  const frame = reader === null ? {} : clientFrame(words);
  const headers = { Refresh: `0; url=${url}`, "Referrer-Policy": "no-referrer" };
  return { page: layout(assets, { ...frame, title, body }), headers };
}

import type { FastifyInstance } from "fastify";
import type { RateLimits } from "../../kernel/http/rate-limits.ts";
import type { Assets } from "../ui/assets/assets.ts";
import { clientFrame } from "../ui/client-frame.ts";
import { inLanguage } from "../ui/error-page.ts";
import { layout } from "../ui/layout.ts";
import { credentialHeaders } from "../ui/page/headers.ts";
import { type PageAnswer, type PageRoute, pageRoute } from "../ui/page/route.ts";
import { html } from "../ui/render.ts";
import { languageCookie, linkFor, type Reader, readerOf } from "../ui/words/reader.ts";

/** The request that is passed to the handler of a client page. */
export type Call<Url extends string> = Parameters<PageRoute<Url>["handle"]>[0];

/** Adds a page for clients, in the reader's language. */
export function clientRoute<Url extends string>(
  app: FastifyInstance,
  deps: { limits: Pick<RateLimits, "limit"> },
  url: Url,
  handle: (call: Call<Url>, reader: Reader) => Promise<PageAnswer>,
  method: "GET" | "POST" = "GET",
): void {
  pageRoute(app, deps, {
    method,
    url,
    policy: "page",
    compressed: true,
    headers: credentialHeaders,
    handle: async (call) => {
      const reader = readerOf(call.query["lang"], call.request.headers);
      const answer = await handle(call, reader);
      const page = typeof answer === "string" ? { page: answer } : answer;
      if (!("page" in page)) return page;
      const languageHeader = reader.asked !== null && { "Set-Cookie": languageCookie(reader.asked) };
      return { ...page, headers: { ...page.headers, ...inLanguage(reader), ...languageHeader } };
    },
  });
}

/** A page with a message and a link back. If `back` is null, the page has no link. */
export function messagePage(
  assets: Pick<Assets, "url">,
  back: { path: string; label: string } | null,
  reader: Reader,
  { title, text }: { title: string; text: string },
): string {
  const link = back && html`<p><a href="${linkFor(reader, back.path)}">${back.label}</a></p>`;
  const body = html`<div class="message"><h1>${title}</h1><p>${text}</p>${link}</div>`;
  return layout(assets, { ...clientFrame(reader.words), title, body });
}

/** The link from a message back to an order. */
export const backToOrder = (code: string, { words }: Reader) => ({
  path: `/orders/${code}`,
  label: words.payment.back,
});

import type { FastifyInstance } from "fastify";
import type { RateLimits } from "../../http/rate-limits.ts";
import { inLanguage } from "../ui/error-page.ts";
import { credentialHeaders } from "../ui/page/headers.ts";
import { type PageAnswer, type PageRoute, pageRoute } from "../ui/page/route.ts";
import { type Reader, readerOf } from "../ui/words/reader.ts";

type Call<Url extends string> = Parameters<PageRoute<Url>["handle"]>[0];

/** Adds a page for clients, in the language of its reader. */
export function clientRoute<Url extends string>(
  app: FastifyInstance,
  deps: { limits: Pick<RateLimits, "limit"> },
  url: Url,
  handle: (call: Call<Url>, reader: Reader) => Promise<PageAnswer>,
): void {
  pageRoute(app, deps, {
    url,
    policy: "page",
    compressed: true,
    headers: credentialHeaders,
    handle: async (call) => {
      const reader = readerOf(call.query["lang"], call.request.headers["accept-language"]);
      const answer = await handle(call, reader);
      const page = typeof answer === "string" ? { page: answer } : answer;
      if (!("page" in page)) return page;
      return { ...page, headers: { ...page.headers, ...inLanguage(reader) } };
    },
  });
}

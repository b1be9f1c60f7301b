import type { onRequestAsyncHookHandler } from "fastify";
import { prefersPage } from "../accept.ts";
import { uncached } from "../verdicts.ts";

/** Headers of a response whose form depends on the Accept header, so that caches don't mix the forms up. */
export const negotiated = { ...uncached, Vary: "Accept" };

/**
 * Redirects browsers from a public verification in the API to its page, because people forward such links. Programs get
 * the JSON.
 * @param pages the URL of the pages, without the code
 */
export const pageForBrowsers =
  (pages: string): onRequestAsyncHookHandler =>
  async ({ headers, params }, reply) => {
    if (!prefersPage(headers.accept)) return;
    const [code] = Object.values(params as Record<string, string>);
    return reply.headers(negotiated).redirect(`${pages}${encodeURIComponent(code ?? "")}`, 303);
  };

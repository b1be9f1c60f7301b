import type { onRequestAsyncHookHandler } from "fastify";
import { prefersPage } from "../accept.ts";
import { uncached } from "../verdicts.ts";

/**
 * Headers of a response that depends on the Accept header. `Vary` tells caches to store a separate response for each
 * Accept header.
 */
export const negotiated = { ...uncached, Vary: "Accept" };

/**
 * Hook for the API's public verification routes, whose URLs people forward to each other. It redirects a browser to the
 * page that shows the result; a program gets the JSON.
 * @param pages the start of the pages' URLs; the verify code follows it
 */
export const pageForBrowsers =
  (pages: string): onRequestAsyncHookHandler =>
  async ({ headers, params }, reply) => {
    if (!prefersPage(headers.accept)) return;
    const [code] = Object.values(params as Record<string, string>);
    return reply.headers(negotiated).redirect(`${pages}${encodeURIComponent(code ?? "")}`, 303);
  };

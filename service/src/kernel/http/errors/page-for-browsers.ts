import type { onRequestAsyncHookHandler } from "fastify";
import { prefersPage } from "../accept.ts";
import { uncached } from "../verdicts.ts";

/** Headers of a response whose form depends on the Accept header, so that a cache keeps the forms apart. */
export const negotiated = { ...uncached, Vary: "Accept" };

/**
 * Redirects a browser from the API's address of a public verification to the page that shows it, because people forward
 * such links. A program gets the JSON.
 * @param pages the URL of the pages, without the code
 */
export const pageForBrowsers =
  (pages: string): onRequestAsyncHookHandler =>
  async ({ headers, params }, reply) => {
    if (!prefersPage(headers.accept)) return;
    const [code] = Object.values(params as Record<string, string>);
    return reply.headers(negotiated).redirect(`${pages}${encodeURIComponent(code ?? "")}`, 303);
  };

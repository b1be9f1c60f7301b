import type { onRequestAsyncHookHandler } from "fastify";
import { prefersPage } from "../accept.ts";
import { uncached } from "../verdicts.ts";

/** The headers of an answer that a browser gets another way. */
export const negotiated = { ...uncached, Vary: "Accept" };

/**
 * Leads browsers from a public verification of the API to its page: links to it are forwarded to people. Programs are answered.
 * @param pages where the pages are, up to the code
 */
export const pageForBrowsers =
  (pages: string): onRequestAsyncHookHandler =>
  async ({ headers, params }, reply) => {
    if (!prefersPage(headers.accept)) return;
    const [code] = Object.values(params as Record<string, string>);
    return reply.headers(negotiated).redirect(`${pages}${encodeURIComponent(code ?? "")}`, 303);
  };

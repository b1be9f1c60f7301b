import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { RateLimits } from "../http/rate-limits.ts";
import { pageHeaders } from "../http/security-headers.ts";
import { wireError } from "../http/wire-errors.ts";
import { findOrder, isPayable } from "../orders/orders.ts";
import type { Sql } from "../platform/database.ts";
import { ServiceError } from "../platform/errors.ts";
import { type Assets, assetRoutes, loadAssets } from "./assets.ts";
import { homePage } from "./home-page.ts";
import { messagePage, notFoundPage } from "./not-found-page.ts";
import { orderFragment, orderPage } from "./order-page.ts";
import { credentialHeaders, htmlType } from "./page-headers.ts";
import { type PaymentPageDeps, paymentPages } from "./payment-pages.ts";
import { roomRoutes } from "./room-routes.ts";
import { type EvidenceSources, verifyRoutes } from "./verify-routes.ts";

export { type EvidenceSources, loadAssets, notFoundPage };

export type PageDeps = {
  db: Sql;
  limits: RateLimits;
  baseUrl: string;
  evidence: EvidenceSources;
  checkoutUrl: PaymentPageDeps["checkoutUrl"];
  /** Whether order pages offer the checkout at all. */
  paymentsConfigured: boolean;
  assets?: Assets;
};

type CodeRoute = { Params: { code: string } };

/** Pages for people: the start page, orders, rooms, verification, and what they are made of. */
export async function pages(app: FastifyInstance, deps: PageDeps): Promise<void> {
  const { db, limits, baseUrl, evidence, checkoutUrl, paymentsConfigured, assets = loadAssets() } = deps;
  assetRoutes(app, assets);
  await app.register(async (people) => {
    people.setErrorHandler(errorPage(assets));
    people.addHook("onRequest", async (_request, reply) => void reply.headers(pageHeaders));
    const onRequest = limits.limit("page");
    const options = { onRequest, schema: { hide: true } };
    const home = homePage(assets);

    people.get("/", options, async (_request, reply) =>
      reply.type(htmlType).header("Cache-Control", "no-cache").send(home),
    );
    people.get<CodeRoute>("/orders/:code", options, async (request, reply) => {
      const page = orderPage(assets, await orderOf(request.params.code));
      return reply.type(htmlType).headers(credentialHeaders).send(page);
    });
    people.get<CodeRoute>("/orders/:code/status", options, async (request, reply) => {
      const fragment = orderFragment(await orderOf(request.params.code));
      return reply.type(htmlType).headers(credentialHeaders).send(fragment);
    });
    paymentPages(people, { db, assets, onRequest, checkoutUrl });
    roomRoutes(people, { db, assets, onRequest });
    verifyRoutes(people, { ...evidence, assets, baseUrl, onRequest });
  });

  async function orderOf(code: string) {
    const order = /^[0-9a-f]{40}$/.test(code) ? await findOrder(db, code) : undefined;
    if (!order) throw new ServiceError("not_found", "Order not found.");
    return { ...order, payable: paymentsConfigured && isPayable(order.status) };
  }
}

/** Refusals of a page are pages; anything else than a browser gets the API's errors. */
function errorPage(assets: Assets) {
  const notFound = notFoundPage(assets);
  const busy = messagePage(
    assets,
    "One moment, please",
    "Many requests came from your network. Wait a minute and load the page again.",
  );
  const broken = messagePage(
    assets,
    "Something went wrong",
    "It is our fault, not yours. Please load the page again in a moment.",
  );

  return (error: FastifyError | ServiceError, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    if (!acceptsPage(request)) return wireError(error as FastifyError, request, reply);
    const code = error instanceof ServiceError ? error.code : "internal";
    reply.type(htmlType).headers(credentialHeaders);
    if (code === "not_found") return reply.code(404).send(notFound);
    if (code === "rate_limited") return reply.code(429).send(busy);
    request.log.error({ requestId: request.id, err: error }, "page failed");
    return reply.code(500).send(broken);
  };
}

/** Whether an answer to this request should be a page: somebody looks, and not at the API. */
export const acceptsPage = (request: FastifyRequest): boolean =>
  (request.method === "GET" || request.method === "HEAD") &&
  !/^\/api(?:\/|$)/.test(request.url) &&
  (request.headers.accept ?? "").includes("text/html");

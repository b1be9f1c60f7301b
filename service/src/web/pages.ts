import type { FastifyInstance } from "fastify";
import type { RateLimits } from "../http/rate-limits.ts";
import { pageHeaders } from "../http/security-headers.ts";
import { findOrder, isPayable } from "../orders/orders.ts";
import type { Sql } from "../platform/database.ts";
import { ServiceError } from "../platform/errors.ts";
import { orderFragment, orderPage } from "./client/order-page.ts";
import { type PaymentPageDeps, paymentPages } from "./client/payment-pages.ts";
import { roomRoutes } from "./client/room-routes.ts";
import { type DashboardDeps, dashboard } from "./dashboard/dashboard.ts";
import { operatorPages } from "./operator/operator.ts";
import { assetRoutes } from "./ui/asset-routes.ts";
import { type Assets, buildAssets } from "./ui/assets.ts";
import { acceptsPage, errorPage } from "./ui/error-page.ts";
import { notFoundPage } from "./ui/not-found-page.ts";
import { credentialHeaders, htmlType } from "./ui/page-headers.ts";
import { type EvidenceSources, verifyRoutes } from "./verify/routes.ts";
import { homePage } from "./visitor/home-page.ts";
import { type RequestAccessDeps, requestAccessRoutes } from "./visitor/request-access-routes.ts";
import { type SignInRouteDeps, signInRoutes } from "./visitor/sign-in-routes.ts";

export { acceptsPage, buildAssets, type EvidenceSources, notFoundPage };

export type PageDeps = {
  db: Sql;
  limits: RateLimits;
  baseUrl: string;
  evidence: EvidenceSources;
  checkoutUrl: PaymentPageDeps["checkoutUrl"];
  /** Whether order pages offer the checkout at all. */
  paymentsConfigured: boolean;
  requestAccess: RequestAccessDeps["requestAccess"];
  recaptcha: RequestAccessDeps["recaptcha"];
  /** What members need who sign in; null where nobody can. */
  members: Omit<SignInRouteDeps & DashboardDeps, "assets"> | null;
  assets: Assets;
};

type CodeRoute = { Params: { code: string } };

/** Pages for people: the start page, orders, rooms, verification, and what they are made of. */
export async function pages(app: FastifyInstance, deps: PageDeps): Promise<void> {
  const { db, limits, baseUrl, evidence, checkoutUrl, paymentsConfigured, assets } = deps;
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
    await requestAccessRoutes(people, {
      ...deps,
      assets,
      ownOrigin: new URL(baseUrl).origin,
      onRequest,
      onPost: limits.limit("partner-request"),
    });
    verifyRoutes(people, { ...evidence, assets, baseUrl, onRequest });
    if (deps.members) {
      signInRoutes(people, { ...deps.members, assets });
      dashboard(people, { ...deps.members, assets });
      operatorPages(people, { ...deps.members, assets });
    }
  });

  async function orderOf(code: string) {
    const order = /^[0-9a-f]{40}$/.test(code) ? await findOrder(db, code) : undefined;
    if (!order) throw new ServiceError("not_found", "Order not found.");
    return { ...order, payable: paymentsConfigured && isPayable(order.status) };
  }
}

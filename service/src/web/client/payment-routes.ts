import type { FastifyInstance } from "fastify";
import type { RateLimits } from "../../http/rate-limits.ts";
import type { Sql } from "../../platform/database/database.ts";
import { ServiceError } from "../../platform/errors.ts";
import type { Assets } from "../ui/assets.ts";
import { layout } from "../ui/layout.ts";
import { credentialHeaders } from "../ui/page-headers.ts";
import { pageRoute } from "../ui/page-route.ts";
import { html } from "../ui/render.ts";
import { orderOf } from "./order-routes.ts";

export type PaymentPageDeps = {
  db: Sql;
  assets: Assets;
  limits: RateLimits;
  /** The hosted checkout of an order. @throws ServiceError when it cannot be paid */
  checkoutUrl: (orderCode: string) => Promise<string>;
};

const messages = [
  {
    name: "returned",
    title: "Thank you",
    text: "Your payment is being confirmed. Your order moves on once our payment processor tells us that the money has cleared, which usually takes less than a minute. You may close this page.",
  },
  {
    name: "cancelled",
    title: "Nothing was paid",
    text: "You left the payment page. Your order is unchanged, and you can pay for it later.",
  },
  {
    name: "unavailable",
    title: "Payment is not possible right now",
    text: "The payment page could not be opened, and nothing was paid. Please try again in a few minutes.",
  },
] as const;

/** The way to the processor's page, and what a payer sees who comes back: neither changes the order. */
export function paymentRoutes(app: FastifyInstance, deps: PaymentPageDeps): void {
  const { db, assets, checkoutUrl } = deps;
  const frame = { policy: "page", headers: credentialHeaders } as const;

  pageRoute(app, deps, {
    ...frame,
    url: "/orders/:code/checkout",
    handle: async ({ params: { code }, request }) => {
      await orderOf(db, code);
      try {
        return { redirect: await checkoutUrl(code) };
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        request.log.warn({ reason: error.message }, "no checkout for a payer");
        return { redirect: `/orders/${code}${error.code === "not_payable" ? "" : "/checkout/unavailable"}` };
      }
    },
  });

  for (const { name, title, text } of messages)
    pageRoute(app, deps, {
      ...frame,
      url: `/orders/:code/checkout/${name}`,
      handle: async ({ params: { code } }) => {
        await orderOf(db, code);
        const body = html`<div class="message"><h1>${title}</h1><p>${text}</p><p><a href="/orders/${code}">See the order</a></p></div>`;
        return layout(assets, { title, credential: true, body });
      },
    });
}

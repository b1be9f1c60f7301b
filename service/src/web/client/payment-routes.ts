import type { FastifyInstance } from "fastify";
import type { RateLimits } from "../../http/rate-limits.ts";
import type { Sql } from "../../platform/database/database.ts";
import { ServiceError } from "../../platform/errors.ts";
import type { Assets } from "../ui/assets/assets.ts";
import { clientFrame } from "../ui/client-frame.ts";
import { layout } from "../ui/layout.ts";
import { html } from "../ui/render.ts";
import { linkFor } from "../ui/words/reader.ts";
import { clientRoute } from "./client-route.ts";
import { orderOf } from "./order-routes.ts";

export type PaymentPageDeps = {
  db: Sql;
  assets: Assets;
  limits: RateLimits;
  /** The hosted checkout of an order. @throws ServiceError when it cannot be paid */
  checkoutUrl: (orderCode: string) => Promise<string>;
};

/** The way to the processor's page, and what a payer sees who comes back: neither changes the order. */
export function paymentRoutes(app: FastifyInstance, deps: PaymentPageDeps): void {
  const { db, assets, checkoutUrl } = deps;

  clientRoute(app, deps, "/orders/:code/checkout", async ({ params: { code }, request }, reader) => {
    await orderOf(db, code);
    try {
      return { redirect: await checkoutUrl(code) };
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      request.log.warn({ reason: error.message }, "no checkout for a payer");
      const back = error.code === "not_payable" ? "" : "/checkout/unavailable";
      return { redirect: linkFor(reader, `/orders/${code}${back}`) };
    }
  });

  for (const name of ["returned", "cancelled", "unavailable"] as const)
    clientRoute(app, deps, `/orders/:code/checkout/${name}`, async ({ params: { code } }, reader) => {
      await orderOf(db, code);
      const { payment } = reader.words;
      const { title, text } = payment[name];
      const order = linkFor(reader, `/orders/${code}`);
      const body = html`<div class="message"><h1>${title}</h1><p>${text}</p><p><a href="${order}">${payment.back}</a></p></div>`;
      return layout(assets, { ...clientFrame(reader.words), title, body });
    });
}

import type { FastifyInstance, onRequestAsyncHookHandler } from "fastify";
import { findOrder } from "../../orders/orders.ts";
import type { Sql } from "../../platform/database.ts";
import { ServiceError } from "../../platform/errors.ts";
import type { Assets } from "../ui/assets.ts";
import { layout } from "../ui/layout.ts";
import { credentialHeaders, htmlType } from "../ui/page-headers.ts";
import { html } from "../ui/render.ts";

export type PaymentPageDeps = {
  db: Sql;
  assets: Assets;
  onRequest: onRequestAsyncHookHandler;
  /** The hosted checkout of an order, for whoever holds its code. @throws ServiceError when it cannot be paid */
  checkoutUrl: (orderCode: string) => Promise<string>;
};

type CodeRoute = { Params: { code: string } };

/** The way to the processor's page, and what a payer sees who comes back: neither changes the order. */
export function paymentPages(people: FastifyInstance, { db, assets, onRequest, checkoutUrl }: PaymentPageDeps): void {
  const options = { onRequest, schema: { hide: true } };

  people.get<CodeRoute>("/orders/:code/checkout", options, async ({ params, log }, reply) => {
    await known(params.code);
    const url = await checkoutUrl(params.code).catch((error) => {
      if (!(error instanceof ServiceError)) throw error;
      log.warn({ reason: error.message }, "no checkout for a payer");
      return error.code === "not_payable" ? `/orders/${params.code}` : `/orders/${params.code}/checkout/unavailable`;
    });
    return reply.headers(credentialHeaders).redirect(url, 303);
  });

  const pages = [
    [
      "returned",
      "Thank you",
      "Your payment is being confirmed. The order goes on once our payment processor has told us that the money has cleared; most payments take less than a minute. You may close this page.",
    ],
    ["cancelled", "Nothing was paid", "You left the payment page. The order is as it was, and you can pay it later."],
    [
      "unavailable",
      "Payment is not possible now",
      "The payment page could not be opened, and nothing was paid. Please try again in a few minutes.",
    ],
  ] as const;
  for (const [name, title, text] of pages) {
    people.get<CodeRoute>(`/orders/:code/checkout/${name}`, options, async ({ params: { code } }, reply) => {
      await known(code);
      const body = html`<div class="message"><h1>${title}</h1><p>${text}</p><p><a href="/orders/${code}">See the order</a></p></div>`;
      return reply
        .type(htmlType)
        .headers(credentialHeaders)
        .send(layout(assets, { title, credential: true, body }));
    });
  }

  async function known(code: string): Promise<void> {
    if (!/^[0-9a-f]{40}$/.test(code) || !(await findOrder(db, code)))
      throw new ServiceError("not_found", "Order not found.");
  }
}

import type { FastifyInstance } from "fastify";
import type { RateLimits } from "../../http/rate-limits.ts";
import { findOrder, isPayable, type PublicOrderRow } from "../../orders/orders.ts";
import type { Sql } from "../../platform/database/database.ts";
import { ServiceError } from "../../platform/errors.ts";
import { isCode } from "../../platform/text.ts";
import type { RetentionPlan } from "../../retention/retention.ts";
import type { Assets } from "../ui/assets.ts";
import { credentialHeaders } from "../ui/page-headers.ts";
import { pageRoute } from "../ui/page-route.ts";
import { orderRetention } from "../ui/retention.ts";
import { type OrderView, orderFragment, orderPage, type ShownSigner } from "./order-page.ts";

export type OrderPageDeps = {
  db: Sql;
  assets: Assets;
  limits: RateLimits;
  /** Whether order pages offer the checkout at all. */
  paymentsConfigured: boolean;
  retention: RetentionPlan;
  signersOf: (orderCode: string) => Promise<readonly ShownSigner[]>;
};

/** `/orders/{code}`, and the part of it that refreshes. */
export function orderRoutes(app: FastifyInstance, deps: OrderPageDeps): void {
  const { db, assets, paymentsConfigured } = deps;
  const frame = { policy: "page", headers: credentialHeaders } as const;

  pageRoute(app, deps, {
    ...frame,
    url: "/orders/:code",
    handle: async ({ params }) => orderPage(assets, await view(params.code)),
  });
  pageRoute(app, deps, {
    ...frame,
    url: "/orders/:code/status",
    handle: async ({ params }) => orderFragment(await view(params.code)),
  });

  async function view(code: string): Promise<OrderView> {
    const order = await orderOf(db, code);
    const payable = paymentsConfigured && isPayable(order.status) && order.documentsDeletedAt === null;
    const signers = await deps.signersOf(order.code);
    return { ...order, payable, retention: orderRetention(deps.retention, order), signers };
  }
}

/** @throws ServiceError for a malformed code and one that no order has, alike */
export async function orderOf(db: Sql, code: string): Promise<PublicOrderRow> {
  const order = isCode(code) ? await findOrder(db, code) : undefined;
  if (!order) throw new ServiceError("not_found", "Order not found.");
  return order;
}

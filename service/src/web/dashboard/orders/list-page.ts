import type { FastifyInstance } from "fastify";
import { principalOf } from "../../../http/authentication.ts";
import type { RateLimits } from "../../../http/rate-limits.ts";
import { orderPage } from "../../../orders/orders.ts";
import type { Database } from "../../../platform/database/database.ts";
import type { Assets } from "../../ui/assets.ts";
import { type PageCall, pageRoute } from "../../ui/page-route.ts";
import { dashboardPage } from "../page-shell.ts";
import { type OrderListView, orderListBody } from "./list.ts";
import { refusalWords } from "./words.ts";

export type OrderListDeps = { db: Database; limits: RateLimits; assets: Assets };

/** The list of the firm's orders. */
export function orderListPage(app: FastifyInstance, deps: OrderListDeps): void {
  pageRoute(app, deps, {
    url: "/dashboard/orders",
    handle: async (call) => {
      const { status, reference, cursor } = queryOf(call);
      const filter = { status, external_reference: reference, cursor };
      return show(call, await orderPage(deps.db, principalOf(call.request), filter));
    },
    refused: (call, message) => show(call, { orders: [], nextCursor: null }, refusalWords(message).text),
  });

  function show(call: PageCall, page: OrderListView["page"], error?: string): string {
    const { environment } = principalOf(call.request);
    const body = orderListBody({ query: queryOf(call), page, environment, ...(error !== undefined && { error }) });
    return dashboardPage(deps, call.request, { title: "Orders", section: "orders", body });
  }
}

const queryOf = ({ query: { status = "", reference = "", cursor = "" } }: PageCall) => ({ status, reference, cursor });

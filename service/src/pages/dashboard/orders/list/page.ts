import type { FastifyInstance } from "fastify";
import { principalOf } from "../../../../http/authentication.ts";
import type { RateLimits } from "../../../../http/rate-limits.ts";
import {
  countFirmOrders,
  type FirmOrdersPage,
  type FirmOrdersQuery,
  firmOrders,
  ordersByTitle,
} from "../../../../order-search/order-search.ts";
import { orderStatuses, type TitleOf } from "../../../../orders/orders.ts";
import type { Database } from "../../../../platform/database/database.ts";
import type { Assets } from "../../../ui/assets/assets.ts";
import { type PageCall, pageRoute } from "../../../ui/page/route.ts";
import { dashboardPage } from "../../page-shell.ts";
import { refusalWords } from "../words.ts";
import { orderListBody } from "./body.ts";
import { ordersCsv } from "./csv.ts";
import { queryOf, wantedOf } from "./query.ts";

export type OrderListDeps = { db: Database; limits: RateLimits; assets: Assets; titleOf: TitleOf };

const pageSize = 25;
/** A file of more is asked for by days. */
const mostRows = 10_000;

/** The list of the firm's orders, as a page and as a file. */
export function orderListPage(app: FastifyInstance, deps: OrderListDeps): void {
  const { db, titleOf } = deps;

  pageRoute(app, deps, {
    url: "/dashboard/orders",
    handle: async (call) => show(call, await firmOrders(db, principalOf(call.request), await wantedIn(call), pageSize)),
    refused: (call, message) => show(call, nothing, refusalWords(message).text),
  });

  pageRoute(app, deps, {
    url: "/dashboard/orders.csv",
    handle: async (call) => {
      const owner = principalOf(call.request);
      const wanted = { ...(await wantedIn(call)), place: null, side: "after" as const };
      const { orders } = await firmOrders(db, owner, wanted, mostRows);
      const name = `orders-${owner.environment}.csv`;
      return { file: ordersCsv(orders, titleOf), type: "text/csv; charset=utf-8", name };
    },
    refused: (call, message) => show(call, nothing, refusalWords(message).text),
  });

  async function wantedIn({ query, request }: PageCall): Promise<FirmOrdersQuery> {
    const wanted = wantedOf(queryOf(query));
    if (wanted.text === null) return wanted;
    return { ...wanted, titled: await ordersByTitle(db, principalOf(request), wanted.text, titleOf) };
  }

  async function show(call: PageCall, page: FirmOrdersPage, error?: string): Promise<string> {
    const principal = principalOf(call.request);
    const counts = await countFirmOrders(db, principal, orderStatuses);
    const { environment } = principal;
    const body = orderListBody({ query: queryOf(call.query), page, counts, titleOf, environment, error });
    return dashboardPage(deps, call.request, { title: "Orders", section: "orders", body, wide: true });
  }
}

const nothing: FirmOrdersPage = { orders: [], before: null, after: null };

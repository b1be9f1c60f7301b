import type { FastifyInstance } from "fastify";
import type { Database } from "../../../kernel/platform/database/database.ts";
import { invalid } from "../../../kernel/platform/errors.ts";
import { isCode, isUuid } from "../../../kernel/platform/text.ts";
import { orderStatuses, statusGroups } from "../../../orders/order/order.ts";
import { listAllOrders, type OrdersFilter, searchOrders } from "../../../upkeep/console/console.ts";
import type { PageAnswer } from "../../ui/page/route.ts";
import { type ConsoleCall, type ConsoleFrame, consolePage, consoleRoute } from "../frame/console.ts";
import { foundBody, type OrdersQuery, ordersBody } from "./list-page.ts";

export type OrderListDeps = { frame: ConsoleFrame; db: Database };

const pageSize = 50;

const queryOf = ({ query: { status = "", partner = "", service = "", after = "" } }: ConsoleCall): OrdersQuery => ({
  status,
  partner: partner.trim().toLowerCase(),
  service,
  after,
});

/** @throws ServiceError naming the filter and its rule */
function filterOf({ status, partner, service, after }: OrdersQuery): Omit<OrdersFilter, "environment"> {
  const asked = [...statusGroups, ...orderStatuses].find((each) => each === status);
  if (status !== "" && asked === undefined) throw invalid("status must be a status of orders, or a group of them.");
  if (partner !== "" && !isUuid(partner)) throw invalid("partner must be the ID of a firm.");
  if (after !== "" && !isCode(after)) throw invalid("after is not one that this list has given.");
  const wanted = (["sign", "notarize", "ship", "fax"] as const).find((each) => each === service) ?? null;
  return { status: asked ?? null, partnerId: partner || null, service: wanted, after: after || null };
}

/** All firms' orders, and the search over them. */
export function orderListRoutes(scope: FastifyInstance, deps: OrderListDeps): void {
  const { db } = deps;

  consoleRoute(scope, deps.frame, {
    url: "/operator/orders",
    permission: "orders.read",
    async handle(call) {
      const { environment } = call.operator;
      const query = queryOf(call);
      const found = await listAllOrders(db, { ...filterOf(query), environment }, pageSize + 1);
      const orders = found.slice(0, pageSize);
      const next = found.length > pageSize ? (orders.at(-1)?.code ?? null) : null;
      return consolePage(deps.frame, call.request, {
        title: "Orders",
        section: "orders",
        body: ordersBody({ query, orders, next }),
      });
    },
    refused: (call, error) => {
      const body = ordersBody({ query: queryOf(call), orders: [], next: null, error });
      return consolePage(deps.frame, call.request, { title: "Orders", section: "orders", body });
    },
  });

  consoleRoute(scope, deps.frame, {
    url: "/operator/orders/search",
    permission: "orders.read",
    async handle(call): Promise<PageAnswer> {
      const typed = call.query["q"] ?? "";
      const orders = await searchOrders(db, call.operator.environment, typed);
      const [only, another] = orders;
      if (only && !another) return { redirect: `/operator/orders/${only.code}` };
      return found(call, typed, orders);
    },
    refused: (call, error) => found(call, call.query["q"] ?? "", [], error),
  });

  const found = ({ request }: ConsoleCall, typed: string, orders: Parameters<typeof foundBody>[1], error?: string) =>
    consolePage(deps.frame, request, { title: "Search", section: "orders", body: foundBody(typed, orders, error) });
}

import type { FastifyInstance } from "fastify";
import { partnerExists } from "../../../firms/partners/partners.ts";
import type { Database } from "../../../kernel/platform/database/database.ts";
import { invalid } from "../../../kernel/platform/errors.ts";
import { isCode, isUuid } from "../../../kernel/platform/text.ts";
import { orderStatuses, statusGroups, type TitleOf } from "../../../orders/order/order.ts";
import { findFirms, listAllOrders, type OrdersFilter, searchOrders } from "../../../upkeep/console/console.ts";
import type { PageAnswer } from "../../ui/page/route.ts";
import { type ConsoleCall, type ConsoleFrame, consolePage, consoleRoute } from "../frame/console.ts";
import { foundBody, type OrdersQuery, ordersBody } from "./list-page.ts";

export type OrderListDeps = { frame: ConsoleFrame; db: Database; titleOf: TitleOf };

const pageSize = 50;
const services = ["sign", "notarize", "ship", "fax"] as const;

const queryOf = ({ query: { status = "", partner = "", service = "", after = "" } }: ConsoleCall): OrdersQuery => ({
  status,
  partner: partner.trim().toLowerCase(),
  service,
  after,
});

/** @throws ServiceError naming the filter and its rule */
async function filterOf(
  db: Database,
  { status, partner, service, after }: OrdersQuery,
): Promise<Omit<OrdersFilter, "environment">> {
  const asked = [...statusGroups, ...orderStatuses].find((each) => each === status);
  if (status !== "" && asked === undefined) throw invalid("status must be a status of orders, or a group of them.");
  if (after !== "" && !isCode(after)) throw invalid("after must be one that this list has returned.");
  const wanted = services.find((each) => each === service);
  if (service !== "" && wanted === undefined) throw invalid(`service must be one of: ${services.join(", ")}.`);
  return { status: asked ?? null, partnerId: await firmOf(db, partner), service: wanted ?? null, after: after || null };
}

/**
 * The id of the firm that the filter names, by its id or by a part of its name. Null for an empty filter.
 *
 * @throws ServiceError when no firm matches, or when several firms match and the text is not the whole name of exactly
 * one of them
 */
async function firmOf(db: Database, typed: string): Promise<string | null> {
  if (typed === "") return null;
  if (isUuid(typed)) {
    if (!(await partnerExists(db, typed))) throw invalid("Firm: no firm has this id.");
    return typed;
  }
  const firms = await findFirms(db, typed, 3);
  const whole = firms.filter(({ name }) => name.toLowerCase() === typed);
  const [only, ...others] = whole.length > 0 ? whole : firms;
  if (!only) throw invalid("Firm: no firm’s name contains this.");
  if (others.length > 0) throw invalid("Firm: more than one firm’s name contains this. Type more of the name.");
  return only.partnerId;
}

/** Adds the list of all firms' orders, and the search in it. */
export function orderListRoutes(scope: FastifyInstance, deps: OrderListDeps): void {
  const { db, titleOf } = deps;

  consoleRoute(scope, deps.frame, {
    url: "/operator/orders",
    permission: "orders.read",
    async handle(call) {
      const { environment } = call.operator;
      const query = queryOf(call);
      const found = await listAllOrders(db, { ...(await filterOf(db, query)), environment }, pageSize + 1);
      const orders = found.slice(0, pageSize);
      const next = found.length > pageSize ? (orders.at(-1)?.code ?? null) : null;
      return consolePage(deps.frame, call.request, {
        title: "Orders",
        section: "orders",
        body: ordersBody({ query, orders, titleOf, next }),
      });
    },
    refused: (call, error) => {
      const body = ordersBody({ query: queryOf(call), orders: [], titleOf, next: null, error });
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

  const found = (
    { request }: ConsoleCall,
    typed: string,
    orders: Awaited<ReturnType<typeof searchOrders>>,
    error?: string,
  ) =>
    consolePage(deps.frame, request, {
      title: "Search",
      section: "orders",
      body: foundBody(typed, { orders, titleOf }, error),
    });
}

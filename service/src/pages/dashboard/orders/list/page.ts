import type { FastifyInstance } from "fastify";
import { principalOf } from "../../../../kernel/http/authentication.ts";
import type { RateLimits } from "../../../../kernel/http/rate-limits.ts";
import type { Clock } from "../../../../kernel/platform/clock.ts";
import type { Database } from "../../../../kernel/platform/database/database.ts";
import { ordersByNumber } from "../../../../orders/billing/billing.ts";
import { orderStatuses, serviceFlags, type TitleOf } from "../../../../orders/order/order.ts";
import { overdueOf, zoneOf } from "../../../../orders/payments/payments.ts";
import {
  countFirmOrders,
  countFirmOrdersOutside,
  type FirmOrder,
  type FirmOrdersPage,
  type FirmOrdersQuery,
  firmOrders,
  ordersByCodeStart,
  ordersByTitle,
} from "../../../../orders/search/search.ts";
import { searchMethods } from "../../../../upkeep/declarations.ts";
import type { Assets } from "../../../ui/assets/assets.ts";
import { statusWords } from "../../../ui/orders/status-words.ts";
import { type PageCall, pageRoute } from "../../../ui/page/route.ts";
import { dashboardPage } from "../../page-shell.ts";
import { refusalWords } from "../words.ts";
import { orderListBody } from "./body.ts";
import { groups, overdueGroup } from "./groups.ts";
import { queryOf, wantedOf } from "./query.ts";

export type OrderListDeps = { db: Database; clock: Clock; limits: RateLimits; assets: Assets; titleOf: TitleOf };

const pageSize = 25;
/** The most rows of a CSV file. A firm with more orders can filter by days. */
const maxRows = 10_000;

/** Adds the list of the firm's orders, as a page and as a CSV file. */
export function orderListPage(app: FastifyInstance, deps: OrderListDeps): void {
  const { db, titleOf } = deps;

  pageRoute(app, deps, {
    url: "/dashboard/orders",
    handle: async (call) => {
      const owner = principalOf(call.request);
      const { orderIds } = await overdueOf(deps, owner);
      const page = await firmOrders(db, owner, await wantedIn(call, orderIds), pageSize);
      return show(call, page, orderIds);
    },
    refused,
  });

  pageRoute(app, deps, {
    url: "/dashboard/orders.csv",
    handle: async (call) => {
      const owner = principalOf(call.request);
      const { orderIds } = await overdueOf(deps, owner);
      const wanted = { ...(await wantedIn(call, orderIds)), place: null, side: "after" as const };
      const { orders } = await firmOrders(db, owner, wanted, maxRows);
      const name = `orders-${owner.environment}.csv`;
      return {
        file: ordersCsv(orders, titleOf, await zoneOf(db, owner.partnerId)),
        type: "text/csv; charset=utf-8",
        name,
      };
    },
    refused,
  });

  async function refused(call: PageCall, message: string): Promise<string> {
    const { orderIds } = await overdueOf(deps, principalOf(call.request));
    return show(call, nothing, orderIds, refusalWords(message).text);
  }

  async function wantedIn({ query, request }: PageCall, overdueIds: readonly number[]): Promise<FirmOrdersQuery> {
    const owner = principalOf(request);
    const wanted = wantedOf(queryOf(query));
    if (query["status"] === overdueGroup) wanted.alsoIds = overdueIds;
    if (wanted.text === null) return wanted;
    const { text } = wanted;
    const found = [
      await ordersByTitle(db, owner, text, titleOf),
      await ordersByCodeStart(db, owner, text),
      await ordersByNumber(db, owner, text),
    ];
    return { ...wanted, found: found.flat(), methods: searchMethods };
  }

  async function show(
    call: PageCall,
    page: FirmOrdersPage,
    overdueIds: readonly number[],
    error?: string,
  ): Promise<string> {
    const principal = principalOf(call.request);
    const counts = await countFirmOrders(db, principal, orderStatuses);
    const overdue = await countFirmOrdersOutside(db, principal, overdueIds, groups[overdueGroup].statuses);
    const { environment } = principal;
    const query = queryOf(call.query);
    const body = orderListBody({ query, page, counts, overdue, titleOf, environment, error });
    return dashboardPage(deps, call.request, { title: "Orders", section: "orders", body, wide: true });
  }
}

const nothing: FirmOrdersPage = { orders: [], before: null, after: null };

const headIn = (zone: string): string[] => [
  "Order code",
  "Document",
  "Status",
  "Services",
  "Client",
  "Email",
  "File number",
  "Total (USD)",
  `Placed (${zone})`,
  `Last changed (${zone})`,
  "Payer",
];

/** The firm's orders as CSV, with times in a format that spreadsheets recognize. */
function ordersCsv(orders: readonly FirmOrder[], titleOf: TitleOf, zone: string): string {
  // Formats a time as YYYY-MM-DD HH:MM:SS, which is the Swedish format.
  const local = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "medium", timeZone: zone });
  return csv([
    headIn(zone),
    ...orders.map((order) => [
      order.code,
      titleOf(order) ?? "",
      statusWords(order.status).label,
      serviceFlags(order),
      order.customerName ?? "",
      order.customerEmail,
      order.externalReference ?? "",
      (order.totalCents / 100).toFixed(2),
      local.format(order.createdAt),
      local.format(order.updatedAt),
      order.payBy === "firm" ? "Your firm" : "The client",
    ]),
  ]);
}

/**
 * Matches a text that spreadsheets execute as a formula, because it begins with one of these characters. Some
 * spreadsheets also accept the full-width variants.
 */
const formula = /^[=+\-@\t\r\n＝＋－＠]/;

/**
 * Matches a number. `cell` puts no apostrophe before a negative number, because spreadsheets would then read the number
 * as text, and leave it out of sums.
 */
const number = /^-?\d+(\.\d+)?$/;

const cell = (value: string): string => {
  const text = formula.test(value) && !number.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** Rows as CSV (RFC 4180), in UTF-8 with a byte order mark; no cell is a formula. */
export const csv = (rows: readonly (readonly string[])[]): string =>
  `\uFEFF${rows.map((cells) => `${cells.map(cell).join(",")}\r\n`).join("")}`;

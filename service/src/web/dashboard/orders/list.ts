import type { orderPage } from "../../../orders/orders.ts";
import { emptyState, pageHead, statusBadge } from "../../ui/components.ts";
import { money, shortCode, shortTime } from "../../ui/format.ts";
import { errorSummary, field, select } from "../../ui/forms/fields.ts";
import { statusWords } from "../../ui/orders/status-words.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";
import { statusChoices } from "./words.ts";

type Orders = Awaited<ReturnType<typeof orderPage>>;

/** What the address asks for; empty texts ask for nothing. */
export type OrderQuery = { status: string; reference: string; cursor: string };

export type OrderListView = { query: OrderQuery; page: Orders; environment: "live" | "test"; error?: string };

const path = "/dashboard/orders";

/** The firm's orders, the way to find one, and the way to place one. */
export function orderListBody({ query, page, environment, error }: OrderListView): Html {
  const placeText = environment === "test" ? "Place a test order" : "Place an order";
  const place = html`<div class="form-actions"><a role="button" href="${path}/new">${placeText}</a></div>`;
  const filtered = query.status !== "" || query.reference !== "" || query.cursor !== "";
  const none = page.orders.length === 0;
  if (none && !filtered && !error)
    return html`${pageHead("Orders")}${emptyState("No orders yet", firstSteps[environment])}<div class="after-empty">${place}</div>`;
  return html`${pageHead("Orders", "", place)}
${errorSummary(error)}
${filterForm(query)}
${none ? nothingFound(error) : html`<div class="order-list">${table(page.orders)}</div>`}
${pager(query, page.nextCursor)}`;
}

const firstSteps = {
  test: "Start with a test order. Any PDF works, and nothing about the order is real.",
  live: "All live orders from your firm are listed here.",
} as const;

const filterForm = ({ status, reference }: OrderQuery): Html =>
  html`<form class="form filters" method="get" action="${path}" aria-label="Filter">
${select({ name: "status", label: "Status", required: "sometimes", value: status, options: statusChoices(status) })}
${field({ name: "reference", label: "Exact reference", required: "sometimes", type: "search", value: reference, maxLength: 120 })}
<div class="form-actions"><button type="submit" class="quiet-button">Apply</button>${(status !== "" || reference !== "") && html`<a href="${path}">Clear filters</a>`}</div>
</form>`;

const nothingFound = (error: string | undefined): Html =>
  error
    ? html`<p><a href="${path}">Show the newest orders</a></p>`
    : html`${emptyState("No matching orders", "None of your orders match these filters.")}<p class="after-empty"><a href="${path}">Show all orders</a></p>`;

const table = (orders: Orders["orders"]): Html =>
  records(
    "Orders, newest first",
    [
      { label: "Order" },
      { label: "Status" },
      { label: "Services" },
      { label: "Reference" },
      { label: "Client" },
      { label: "Total", number: true },
      { label: "Placed (UTC)" },
    ],
    orders.map(({ orderCode, status, services, externalReference, customerEmail, totalCents, createdAt }) => {
      const { tone, label } = statusWords(status);
      return [
        html`<a class="keep" href="${path}/${orderCode}">${shortCode(orderCode)}</a>`,
        statusBadge(tone, label),
        services === "" ? "None" : services,
        externalReference ?? "–",
        breakable(customerEmail),
        money(totalCents),
        shortTime(new Date(createdAt)),
      ];
    }),
  );

/** An address that breaks before its domain where it has to. */
const breakable = (email: string): Html => {
  const at = email.lastIndexOf("@");
  return html`${email.slice(0, at)}<wbr>${email.slice(at)}`;
};

function pager({ status, reference, cursor }: OrderQuery, nextCursor: string | null): Html | "" {
  if (cursor === "" && nextCursor === null) return "";
  const link = (to: string | null) => {
    const asked = Object.entries({ status, reference, cursor: to ?? "" }).filter(([, value]) => value !== "");
    const query = new URLSearchParams(asked).toString();
    return query === "" ? path : `${path}?${query}`;
  };
  return html`<nav class="pager" aria-label="Pages">${cursor !== "" && html`<a href="${link(null)}">Newest</a>`}${nextCursor !== null && html`<a rel="next" href="${link(nextCursor)}">Next page</a>`}</nav>`;
}

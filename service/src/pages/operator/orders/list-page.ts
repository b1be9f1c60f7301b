import { isUuid } from "../../../kernel/platform/text.ts";
import { orderStatuses, serviceFlags, statusGroups, type TitleOf } from "../../../orders/order/order.ts";
import type { ListedOrder } from "../../../upkeep/console/console.ts";
import { emptyState, pageHead, statusBadge } from "../../ui/components.ts";
import { money, shortCode, shortTime } from "../../ui/format.ts";
import { errorSummary, field, select } from "../../ui/forms/fields.ts";
import { statusWords } from "../../ui/orders/status-words.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";

const path = "/operator/orders";

/** The filters in the URL; an empty text filters nothing. */
export type OrdersQuery = { status: string; partner: string; service: string; after: string };

export type OrdersView = {
  query: OrdersQuery;
  orders: readonly ListedOrder[];
  titleOf: TitleOf;
  next: string | null;
  error?: string | undefined;
};

/** The orders of all firms in the operator's environment. */
export const ordersBody = ({ query, orders, titleOf, next, error }: OrdersView): Html => html`${pageHead("Orders")}
${errorSummary(error)}
${filterForm(query)}
${orders.length === 0 ? emptyState("No matching orders", "No order matches these filters.") : orderTable("Orders, newest first", { orders, titleOf })}
${pager(query, next)}`;

const groupChoices = statusGroups.map((group) => ({ value: group, label: `All ${group}` }));
const statusChoices = orderStatuses.map((status) => ({ value: status, label: statusWords(status).label }));
const serviceChoices = [
  { value: "", label: "Any" },
  { value: "sign", label: "Sign" },
  { value: "notarize", label: "Notarize" },
  { value: "ship", label: "Ship" },
  { value: "fax", label: "Fax" },
];

const filterForm = ({ status, partner, service }: OrdersQuery): Html =>
  html`<form class="form filters" method="get" action="${path}" aria-label="Filter">
${select({ name: "status", label: "Status", required: "sometimes", value: status, options: [{ value: "", label: "Any" }, ...groupChoices, ...statusChoices] })}
${select({ name: "service", label: "Service", required: "sometimes", value: service, options: serviceChoices })}
${isUuid(partner) && html`<input type="hidden" name="partner" value="${partner}">`}
${!isUuid(partner) && field({ name: "partner", label: "Firm", required: "sometimes", type: "search", value: isUuid(partner) ? "" : partner, maxLength: 200 })}
<div class="form-actions"><button type="submit" class="quiet-button">Apply</button>${status + partner + service !== "" && html`<a href="${path}">Clear filters</a>`}</div>
</form>`;

const orderTable = (caption: string, { orders, titleOf }: Pick<OrdersView, "orders" | "titleOf">): Html =>
  records(
    caption,
    [
      { label: "Order" },
      { label: "Status" },
      { label: "Firm" },
      { label: "Client" },
      { label: "Services" },
      { label: "Total", number: true },
      { label: "Placed", utc: true },
    ],
    orders.map((order) => {
      const { tone, label } = statusWords(order.status);
      const title = titleOf(order);
      const titleLine = title !== null && html`<br><span class="breakable">${title}</span>`;
      const reference =
        order.externalReference !== null && html`<br><span class="quiet breakable">${order.externalReference}</span>`;
      return [
        html`<a class="keep" href="${path}/${order.code}">${shortCode(order.code)}</a>${titleLine}${reference}`,
        statusBadge(tone, label),
        order.firmName,
        html`${order.customerName !== null && html`${order.customerName}<br>`}<span class="quiet breakable">${order.customerEmail}</span>`,
        serviceFlags(order) || "None",
        money(order.totalCents),
        shortTime(order.createdAt),
      ];
    }),
  );

function pager(query: OrdersQuery, next: string | null): Html | "" {
  if (query.after === "" && next === null) return "";
  const link = (after: string) => {
    const asked = Object.entries({ ...query, after }).filter(([, value]) => value !== "");
    return asked.length === 0 ? path : `${path}?${new URLSearchParams(asked)}`;
  };
  return html`<nav class="pager" aria-label="Pages">${query.after !== "" && html`<a href="${link("")}">Newest</a>`}${next !== null && html`<a rel="next" href="${link(next)}">Next page</a>`}</nav>`;
}

/** The results of a search for orders. */
export const foundBody = (
  typed: string,
  { orders, titleOf }: Pick<OrdersView, "orders" | "titleOf">,
  error?: string,
): Html => html`${pageHead("Search", typed === "" ? "" : html`For “${typed}”.`)}
${errorSummary(error)}
${
  !error &&
  (orders.length === 0
    ? emptyState(
        "Nothing found",
        "Codes, names, references, email addresses, tracking and fax numbers, hashes of documents, verification codes, and payment intents are searched.",
      )
    : orderTable("Orders that were found, newest first", { orders, titleOf }))
}`;

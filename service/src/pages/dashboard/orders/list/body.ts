import { serviceFlags, type TitleOf } from "../../../../orders/order/order.ts";
import { type FirmOrder, type FirmOrdersPage, maxCounted } from "../../../../orders/search/search.ts";
import { emptyState, pageHead, statusBadge } from "../../../ui/components.ts";
import { money, shortCode, shortTime } from "../../../ui/format.ts";
import { errorSummary, field, select } from "../../../ui/forms/fields.ts";
import { statusWords } from "../../../ui/orders/status-words.ts";
import { records } from "../../../ui/records.ts";
import { type Html, html } from "../../../ui/render.ts";
import { groups, overdueGroup } from "./groups.ts";
import { isFiltered, listUrl, type OrderQuery, sortLabels } from "./query.ts";

export type OrderListView = {
  query: OrderQuery;
  page: FirmOrdersPage;
  /** For each status, the number of the firm's orders, counted up to `maxCounted`. The filters do not change it. */
  counts: ReadonlyMap<string, number>;
  /**
   * The number of orders that the group `overdueGroup` contains only because their payment is overdue: the processor or
   * the bank has not answered for too long.
   */
  overdue: number;
  titleOf: TitleOf;
  environment: "live" | "test";
  error?: string | undefined;
};

const path = "/dashboard/orders";

/** The firm's orders, with search and filters, and a link to place an order. */
export function orderListBody(view: OrderListView): Html {
  const { query, page, counts, environment, error } = view;
  const placeText = environment === "test" ? "Place a test order" : "Place an order";
  const place = html`<div class="form-actions"><a class="button" href="${path}/new">${placeText}</a></div>`;
  const none = page.orders.length === 0;
  if (none && !isFiltered(query) && !error && [...counts.values()].every((count) => count === 0))
    return html`${pageHead("Orders")}${emptyState("No orders yet", firstSteps[environment])}<div class="after-empty">${place}</div>`;
  return html`${pageHead("Orders", "", place)}
${errorSummary(error)}
${searchForm(query)}
${groupNav(view)}
${none ? nothingFound(error) : html`<div class="order-list">${table(page.orders, view.titleOf)}</div>`}
<div class="list-foot">${pager(query, page)}<p class="quiet">${!none && html`<a href="${listUrl(query, {}, `${path}.csv`)}" download>Save this list as CSV</a>`}</p></div>`;
}

const firstSteps = {
  test: "Start with a test order. Any PDF works, and nothing about the order is real.",
  live: "All live orders from your firm are listed here.",
} as const;

const sortChoices = Object.entries(sortLabels).map(([value, label]) => ({
  value: value === "newest" ? "" : value,
  label,
}));

const payerChoices = [
  { value: "", label: "Anybody" },
  { value: "firm", label: "Your firm" },
  { value: "client", label: "The client" },
];

const searchForm = (query: OrderQuery): Html =>
  html`<search><form class="form filters order-search" method="get" action="${path}" aria-label="Find orders">
${query.status !== "" && html`<input type="hidden" name="status" value="${query.status}">`}
${field({
  name: "q",
  label: "Search",
  required: "sometimes",
  type: "search",
  value: query.q,
  maxLength: 254,
  hint: "Client, email, file number, order code, number of a receipt, document’s hash, tracking or fax number, signer’s email, or document’s name (in your latest 1,000 orders)",
})}
${field({ name: "from", label: "Placed from", required: "sometimes", type: "date", value: query.from })}
${field({ name: "to", label: "Placed until", required: "sometimes", type: "date", value: query.to })}
${select({ name: "payer", label: "Who pays", required: "sometimes", value: query.payer, options: payerChoices })}
${select({ name: "sort", label: "Sort by", required: "sometimes", value: query.sort, options: sortChoices })}
<div class="form-actions"><button type="submit" class="quiet-button">Search</button>${isFiltered(query) && html`<a href="${path}">Clear</a>`}</div>
</form></search>`;

export const countIn = (counts: OrderListView["counts"], statuses: readonly string[]): number =>
  statuses.reduce((sum, each) => sum + (counts.get(each) ?? 0), 0);

export const shownCount = (count: number): string => (count >= maxCounted ? `${maxCounted}+` : String(count));

/** One link for each group, with its number of orders. */
function groupNav({ query, counts, overdue }: OrderListView): Html {
  const tab = (status: string, label: string, count: number) =>
    html`<li><a href="${listUrl(query, { status })}"${query.status === status && html` aria-current="true"`}>${label} <span class="count">${shownCount(count)}</span></a></li>`;
  const named = Object.entries(groups).map(([name, { label, statuses }]) =>
    tab(name, label, countIn(counts, statuses) + (name === overdueGroup ? overdue : 0)),
  );
  const other = query.status !== "" && !Object.hasOwn(groups, query.status);
  return html`<nav class="tabs" aria-label="Groups of orders"><ul>${tab("", "All", countIn(counts, [...counts.keys()]))}${named}${other && tab(query.status, statusWords(query.status).label, counts.get(query.status) ?? 0)}</ul></nav>`;
}

const nothingFound = (error: string | undefined): Html =>
  error
    ? html`<p><a href="${path}">Show all orders</a></p>`
    : html`${emptyState("No matching orders", "None of your orders match this search.")}<p class="after-empty"><a href="${path}">Show all orders</a></p>`;

const table = (orders: readonly FirmOrder[], titleOf: TitleOf): Html =>
  records(
    "Your orders",
    [
      { label: "Order" },
      { label: "Client" },
      { label: "Status" },
      { label: "Services" },
      { label: "Total", number: true },
      { label: "Placed", utc: true },
    ],
    orders.map((order) => {
      const { tone, label } = statusWords(order.status);
      const code = shortCode(order.code);
      const reference = order.externalReference !== null && `${order.externalReference} · `;
      return [
        html`<a class="row-title" href="${path}/${order.code}">${titleOf(order) ?? `Order ${code}`}</a><br><span class="second-line">${reference}<span class="keep">${code}</span></span>`,
        html`${order.customerName ?? breakable(order.customerEmail)}${order.customerName !== null && html`<br><span class="second-line">${breakable(order.customerEmail)}</span>`}`,
        statusBadge(tone, label),
        serviceFlags(order) || "None",
        html`${money(order.totalCents)}<br><span class="second-line">${order.payBy === "firm" ? "Your firm pays" : "The client pays"}</span>`,
        html`<span class="keep">${shortTime(order.createdAt)}</span>`,
      ];
    }),
  );

/** An email address that wraps before its domain if it has to. */
const breakable = (email: string): Html => {
  const at = email.lastIndexOf("@");
  return html`${email.slice(0, at)}<wbr>${email.slice(at)}`;
};

function pager(query: OrderQuery, { before, after }: FirmOrdersPage): Html | "" {
  if (before === null && after === null) return "";
  const previous = before !== null && html`<a rel="prev" href="${listUrl(query, { before })}">Previous page</a>`;
  const next = after !== null && html`<a rel="next" href="${listUrl(query, { after })}">Next page</a>`;
  return html`<nav class="pager" aria-label="Pages">${previous}${next}</nav>`;
}

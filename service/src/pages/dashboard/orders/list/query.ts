import { dayMs } from "../../../../kernel/platform/clock.ts";
import { invalid } from "../../../../kernel/platform/errors.ts";
import { type Payer, payers } from "../../../../orders/order/order.ts";
import { dayOf, type FirmOrdersQuery, type OrderSort, searchText } from "../../../../orders/search/search.ts";
import type { FormValues } from "../../../ui/forms/form-body.ts";
import { statusesOf } from "./groups.ts";

/** The filters in the URL of the list. An empty text filters nothing. */
export type OrderQuery = {
  q: string;
  /** The filter: the name of a group of statuses, or one status. */
  status: string;
  payer: string;
  from: string;
  to: string;
  sort: string;
  before: string;
  after: string;
};

export const sortLabels: Readonly<Record<OrderSort, string>> = {
  newest: "Newest first",
  oldest: "Oldest first",
  changed: "Last changed first",
};

const isPayer = (text: string): text is Payer => payers.some((each) => each === text);
const isSort = (text: string): text is OrderSort => Object.hasOwn(sortLabels, text);

export const queryOf = ({
  q = "",
  status = "",
  payer = "",
  from = "",
  to = "",
  sort = "",
  before = "",
  after = "",
}: FormValues): OrderQuery => ({
  q: q.trim(),
  status,
  payer,
  from,
  to,
  sort: sort === "newest" ? "" : sort,
  before,
  after,
});

/** True if the URL sets any filter. */
export const isFiltered = ({ q, status, payer, from, to }: OrderQuery): boolean =>
  q + status + payer + from + to !== "";

/**
 * The query for the orders that the URL of the list selects.
 * @throws ServiceError naming the field and its rule
 */
export function wantedOf({ q, status, payer, from, to, sort, before, after }: OrderQuery): FirmOrdersQuery {
  const statuses = statusesOf(status);
  if (status !== "" && statuses === null) throw invalid("status must be a group of this list, or a status of orders.");
  if (payer !== "" && !isPayer(payer)) throw invalid(`payer must be one of: ${payers.join(", ")}.`);
  const order = sort || "newest";
  if (!isSort(order)) throw invalid(`sort must be one of: ${Object.keys(sortLabels).join(", ")}.`);
  const [first, last] = [dayOf("from", from), dayOf("to", to)];
  if (first && last && first > last) throw invalid("from must not be after to.");
  return {
    text: q === "" ? null : searchText(q),
    statuses,
    ...(payer !== "" && { payer }),
    from: first,
    until: last && new Date(last.getTime() + dayMs),
    sort: order,
    place: after || before || null,
    side: after === "" && before !== "" ? "before" : "after",
  };
}

const path = "/dashboard/orders";

/**
 * The URL of the list with some values changed. It leads to the first page, unless `changes` sets `before` or `after`.
 */
export function listUrl(query: OrderQuery, changes: Partial<OrderQuery> = {}, page = path): string {
  const asked = Object.entries({ ...query, before: "", after: "", ...changes }).filter(([, value]) => value !== "");
  return asked.length === 0 ? page : `${page}?${new URLSearchParams(asked)}`;
}

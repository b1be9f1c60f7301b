import type { Owner } from "../../kernel/identity/identity.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { nothing, type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { type Marked, marked } from "../../kernel/platform/database/state-mac.ts";
import { invalid } from "../../kernel/platform/errors.ts";
import { fromOrders, hasOrderCode, type OrderStatus, orderState, type Payer } from "../order/order.ts";
import type { BoughtServices } from "../pricing/pricing.ts";
import { foundStatement, type SearchMethod } from "./find-orders.ts";
import { type OrderSort, placeOf, sorts } from "./sorts.ts";

/** An order in its firm's list. */
export type FirmOrder = BoughtServices & {
  code: string;
  status: string;
  docSlug: string | null;
  /** The encrypted name of the document; null without one, and after the document's deletion. */
  documentName: Buffer | null;
  customerName: string | null;
  customerEmail: string;
  externalReference: string | null;
  totalCents: number;
  payBy: Payer;
  createdAt: Date;
  updatedAt: Date;
};

export type FirmOrdersQuery = {
  /** The text as `searchText` returned it; null for every order. */
  text: string | null;
  /** The ids of orders that `ordersByTitle` and `ordersByCodeStart` found for the text. */
  found?: readonly number[];
  /** The search methods that features above this one declare. */
  methods?: readonly SearchMethod[];
  /** The statuses to search for; null for all. */
  statuses: readonly OrderStatus[] | null;
  /** The ids of orders to include although `statuses` lacks their status. They must meet the other conditions. */
  alsoIds?: readonly number[];
  /** The payer of the orders to search for; absent for all. */
  payer?: Payer;
  /** Orders placed at or after `from`, and before `until`. */
  from: Date | null;
  until: Date | null;
  sort: OrderSort;
  /**
   * A position that this list returned earlier; null for the first page. `side`: whether the page comes after or before
   * that position.
   */
  place: string | null;
  side: "after" | "before";
};

export type FirmOrdersPage = { orders: FirmOrder[]; before: string | null; after: string | null };

const columns = sql`code AS "code@order", status, doc_slug AS "docSlug", document_name AS "documentName", customer_name AS "customerName",
  customer_email AS "customerEmail", external_reference AS "externalReference", sign, notarize, ship, fax,
  total_cents AS "totalCents", pay_by AS "payBy", created_at AS "createdAt", updated_at AS "updatedAt"`;

/** The statement for one page. Building it is separate from running it, so that tests can check its plan. */
export function firmOrdersStatement(owner: Owner, query: FirmOrdersQuery, limit: number): Statement {
  const { text, found = [], methods = [], statuses, alsoIds = [], payer, from, until, sort, place, side } = query;
  const { column, newestFirst } = sorts[sort];
  const downward = newestFirst === (side === "after");
  const [comparison, direction] = downward ? [sql`<`, sql`DESC`] : [sql`>`, sql`ASC`];
  const at = place === null ? null : placeOf(place);
  const wanted = sql`partner_id = ${owner.partnerId} AND environment = ${owner.environment}
    ${text === null ? nothing : sql`AND id IN (${foundStatement(owner, text, methods)} UNION SELECT unnest(${found}::bigint[]))`}
    ${payer === undefined ? nothing : sql`AND pay_by = ${payer}`}
    ${from === null ? nothing : sql`AND created_at >= ${from}`} ${until === null ? nothing : sql`AND created_at < ${until}`}
    ${
      at === null
        ? nothing
        : sql`AND (${column}, id) ${comparison} (${at.time}::timestamptz, (
            SELECT o.id ${fromOrders} WHERE ${hasOrderCode(at.code)} AND o.partner_id = ${owner.partnerId}))`
    }`;
  const ordered = sql`ORDER BY ${column} ${direction}, id ${direction} LIMIT ${limit}`;
  // With several statuses, the orders of each status are read from their own part of the index.
  if (statuses !== null && sort !== "changed" && alsoIds.length === 0)
    return sql`SELECT ${columns}, ${marked(orderState, sql`found`)} FROM (SELECT each.* FROM unnest(${statuses}::text[]) AS s (status), LATERAL (
      SELECT * ${fromOrders} WHERE o.status = s.status AND ${wanted} ${ordered}) AS each) AS found ${ordered}`;
  return sql`SELECT ${columns}, ${marked(orderState, sql`o`)} ${fromOrders}
    WHERE ${wanted} ${statuses === null ? nothing : sql`AND (status = ANY (${statuses}::text[]) OR id = ANY (${alsoIds}::bigint[]))`} ${ordered}`;
}

/**
 * A page of the owner's orders, with the positions where the previous and the next page start. A position is null if
 * the list ends there.
 * @throws ServiceError for a malformed position; whether this list returned it is not checked
 */
export async function firmOrders(
  db: Sql,
  owner: Owner,
  query: FirmOrdersQuery,
  limit: number,
): Promise<FirmOrdersPage> {
  const rows = await db.query<FirmOrder & Marked>(firmOrdersStatement(owner, query, limit + 1));
  const more = rows.length > limit;
  const orders = rows.slice(0, limit);
  const backward = query.side === "before";
  if (backward) orders.reverse();
  const place = (order: FirmOrder | undefined) => (order ? sorts[query.sort].placeAt(order) : null);
  const hasBefore = backward ? more : query.place !== null;
  const hasAfter = backward ? query.place !== null : more;
  return {
    // Orders whose MAC is invalid are left out. The positions still move past them.
    orders: orders.filter(({ isAuthentic }) => isAuthentic),
    before: hasBefore ? place(orders[0]) : null,
    after: hasAfter ? place(orders.at(-1)) : null,
  };
}

/** Counting stops at this number, because counting all orders could take too long. */
export const maxCounted = 1_000;

/** The number of the owner's orders in each status, at most 1,000 for each. */
export async function countFirmOrders(
  db: Sql,
  { partnerId, environment }: Owner,
  statuses: readonly OrderStatus[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await db.query<{ status: string; count: number }>(sql`
SELECT s.status, (SELECT count(*) FROM (
  SELECT 1 ${fromOrders}
  WHERE o.partner_id = ${partnerId} AND o.environment = ${environment} AND o.status = s.status LIMIT ${maxCounted}
) AS counted) AS count
FROM unnest(${statuses}::text[]) AS s (status)`);
  return new Map(rows.map(({ status, count }) => [status, Number(count)]));
}

/** The number of orders among `ids` that belong to the owner and whose status is not in `statuses`. */
export async function countFirmOrdersOutside(
  db: Sql,
  { partnerId, environment }: Owner,
  ids: readonly number[],
  statuses: readonly OrderStatus[],
): Promise<number> {
  const [found] = await db.query<{ count: number }>(sql`
    SELECT count(*)::int AS count ${fromOrders}
    WHERE o.partner_id = ${partnerId} AND o.environment = ${environment} AND o.id = ANY (${ids}::bigint[])
      AND o.status <> ALL (${statuses}::text[])`);
  return found?.count ?? 0;
}

/**
 * Reads a day such as `2026-03-04` as its start in UTC; null for an empty text.
 * @throws ServiceError naming the field for a text that is not a date
 */
export function dayOf(field: string, text: string): Date | null {
  if (text === "") return null;
  const at = new Date(`${text}T00:00:00Z`);
  const isDay =
    /^\d{4}-\d{2}-\d{2}$/.test(text) && at.toString() !== "Invalid Date" && at.toISOString().startsWith(text);
  if (!isDay) throw invalid(`${field} must be a day like 2026-03-04.`);
  return at;
}

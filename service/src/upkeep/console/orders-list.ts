import type { Environment } from "../identity/identity.ts";
import { type OrderStatus, orderState, orderStatuses, type StatusGroup, statusGroupOf } from "../orders/orders.ts";
import type { Sql } from "../platform/database/database.ts";
import { nothing, type Statement, sql } from "../platform/database/sql.ts";
import { type Marked, marked } from "../platform/database/state-mac.ts";
import type { BoughtServices } from "../pricing/pricing.ts";

/** An order as a line of a list, of whichever firm. */
export type ListedOrder = BoughtServices & {
  code: string;
  status: string;
  firmName: string;
  customerName: string | null;
  customerEmail: string;
  externalReference: string | null;
  totalCents: number;
  createdAt: Date;
};

export const listedColumns = sql`o.code, o.status, p.name AS "firmName", o.customer_name AS "customerName",
  o.customer_email AS "customerEmail", o.external_reference AS "externalReference", o.sign, o.notarize, o.ship, o.fax,
  o.total_cents AS "totalCents", o.created_at AS "createdAt", ${marked(orderState, sql`o`)}`;

/** Of an order that was changed outside the service no status is shown: an operator has to look into it. */
export const listed = (rows: readonly (ListedOrder & Marked)[]): ListedOrder[] =>
  rows.map(({ isAuthentic, ...order }) => (isAuthentic ? order : { ...order, status: alteredStatus }));

const alteredStatus = "Altered outside the service";

export type OrdersFilter = {
  environment: Environment;
  /** A status, or all of a group; null for every one. */
  status: OrderStatus | StatusGroup | null;
  partnerId: string | null;
  service: keyof BoughtServices | null;
  /** The code of the order that the page follows. */
  after: string | null;
};

const statusesOf = (asked: OrderStatus | StatusGroup): OrderStatus[] =>
  orderStatuses.filter((status) => status === asked || statusGroupOf(status) === asked);

/** Newest first. Each combination of filters has a text of its own, and so the plan of its own index. */
export function ordersStatement(filter: OrdersFilter, limit: number): Statement {
  const { environment, status, partnerId, service, after } = filter;
  const wanted = sql`environment = ${environment}
    ${partnerId === null ? nothing : sql`AND partner_id = ${partnerId}`}
    ${service === null ? nothing : sql`AND ${services[service]}`}
    ${after === null ? nothing : sql`AND (created_at, id) < (SELECT created_at, id FROM orders WHERE code = ${after})`}`;
  const newest = sql`ORDER BY created_at DESC, id DESC LIMIT ${limit}`;
  // Of several statuses each is walked along its own part of the index.
  const found =
    status === null
      ? sql`SELECT * FROM orders WHERE ${wanted} ${newest}`
      : sql`SELECT each.* FROM unnest(${statusesOf(status)}::text[]) AS s (status), LATERAL (
          SELECT * FROM orders WHERE orders.status = s.status AND ${wanted} ${newest}) AS each ${newest}`;
  return sql`SELECT ${listedColumns} FROM (${found}) o JOIN partners p ON p.id = o.partner_id
    ORDER BY o.created_at DESC, o.id DESC`;
}

const services: Readonly<Record<keyof BoughtServices, Statement>> = {
  sign: sql`sign`,
  notarize: sql`notarize`,
  ship: sql`ship`,
  fax: sql`fax`,
};

/** Orders of all firms, those that match. */
export const listAllOrders = async (db: Sql, filter: OrdersFilter, limit: number): Promise<ListedOrder[]> =>
  listed(await db.query<ListedOrder & Marked>(ordersStatement(filter, limit)));

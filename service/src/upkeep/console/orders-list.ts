import { joinFirm, type MarkedFirm, markedFirm, withFirmNames } from "../../firms/partners/partners.ts";
import type { Environment } from "../../kernel/identity/identity.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { nothing, type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { type Marked, marked } from "../../kernel/platform/database/state-mac.ts";
import {
  fromOrders,
  hasOrderCode,
  type OrderStatus,
  orderState,
  orderStatuses,
  type StatusGroup,
  statusGroupOf,
  type Titled,
} from "../../orders/order/order.ts";
import type { BoughtServices } from "../../orders/pricing/pricing.ts";

/** An order of any firm in a list. */
export type ListedOrder = BoughtServices &
  Titled & {
    status: string;
    firmName: string;
    customerName: string | null;
    customerEmail: string;
    externalReference: string | null;
    totalCents: number;
    createdAt: Date;
  };

export const listedColumns = sql`o.code AS "code@order", o.status, p.name AS "firmName", o.customer_name AS "customerName",
  o.customer_email AS "customerEmail", o.external_reference AS "externalReference", o.sign, o.notarize, o.ship, o.fax,
  o.document_name AS "documentName", o.doc_slug AS "docSlug",
  o.total_cents AS "totalCents", o.created_at AS "createdAt", ${marked(orderState, sql`o`)}, ${markedFirm}`;

/**
 * If the MAC of an order is invalid, replaces its status by a text that says so. An operator has to investigate such an
 * order.
 */
export const listed = (rows: readonly (ListedOrder & Marked & MarkedFirm)[]): ListedOrder[] =>
  withFirmNames<ListedOrder & Marked>(rows).map(({ isAuthentic, ...order }) =>
    isAuthentic ? order : { ...order, status: alteredStatus },
  );

const alteredStatus = "Altered outside the service";

export type OrdersFilter = {
  environment: Environment;
  /** The status, or group of statuses, of the listed orders; null for all. */
  status: OrderStatus | StatusGroup | null;
  partnerId: string | null;
  service: keyof BoughtServices | null;
  /** The code of the last order of the previous page. */
  after: string | null;
};

const statusesOf = (asked: OrderStatus | StatusGroup): OrderStatus[] =>
  orderStatuses.filter((status) => status === asked || statusGroupOf(status) === asked);

/**
 * The query for a list of orders, newest first. Each combination of filters is a separate prepared statement, so that
 * PostgreSQL plans each with its own index.
 */
export function ordersStatement(filter: OrdersFilter, limit: number): Statement {
  const { environment, status, partnerId, service, after } = filter;
  const wanted = sql`environment = ${environment}
    ${partnerId === null ? nothing : sql`AND partner_id = ${partnerId}`}
    ${service === null ? nothing : sql`AND ${services[service]}`}
    ${after === null ? nothing : sql`AND (created_at, id) < (SELECT o.created_at, o.id ${fromOrders} WHERE ${hasOrderCode(after)})`}`;
  const newest = sql`ORDER BY created_at DESC, id DESC LIMIT ${limit}`;
  // With several statuses, the query scans a separate part of the index for each status.
  const found =
    status === null
      ? sql`SELECT * ${fromOrders} WHERE ${wanted} ${newest}`
      : sql`SELECT each.* FROM unnest(${statusesOf(status)}::text[]) AS s (status), LATERAL (
          SELECT * ${fromOrders} WHERE o.status = s.status AND ${wanted} ${newest}) AS each ${newest}`;
  return sql`SELECT ${listedColumns} FROM (${found}) o ${joinFirm(sql`o.partner_id`)}
    ORDER BY o.created_at DESC, o.id DESC`;
}

const services: Readonly<Record<keyof BoughtServices, Statement>> = {
  sign: sql`sign`,
  notarize: sql`notarize`,
  ship: sql`ship`,
  fax: sql`fax`,
};

export const listAllOrders = async (db: Sql, filter: OrdersFilter, limit: number): Promise<ListedOrder[]> =>
  listed(await db.query<ListedOrder & Marked & MarkedFirm>(ordersStatement(filter, limit)));

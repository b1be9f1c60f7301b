import {
  firmState,
  fromFirms,
  joinFirm,
  listKeys,
  type MarkedFirm,
  type Partner,
  requirePartner,
  verifiedFirm,
} from "../../firms/partners/partners.ts";
import type { Environment } from "../../kernel/identity/identity.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { nothing, type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { type Marked, marked } from "../../kernel/platform/database/state-mac.ts";
import { invalid, ServiceError } from "../../kernel/platform/errors.ts";
import { isUuid } from "../../kernel/platform/text.ts";
import { joinOrder } from "../../orders/order/order.ts";
import { foundStatement, ordersByCodeStart, searchText } from "../../orders/search/search.ts";
import { webhookHealth } from "../../outgoing/webhooks/webhooks.ts";
import { searchMethods } from "../declarations.ts";
import { type ListedOrder, listed, listedColumns } from "./orders-list.ts";

const maxShown = 50;

/**
 * The query for the orders of all firms that match a text. Exported so that tests can check its plan.
 * @param byCode the ids of the orders whose codes begin with the text
 */
export const searchStatement = (environment: Environment, text: string, byCode: readonly number[]): Statement => sql`
SELECT ${listedColumns} FROM (${foundStatement({ environment, partnerId: null }, text, searchMethods)} UNION SELECT unnest(${byCode}::bigint[])) f
${joinOrder(sql`f.id`)} ${joinFirm(sql`o.partner_id`)}
WHERE o.environment = ${environment} ORDER BY o.created_at DESC, o.id DESC LIMIT ${maxShown}`;

/**
 * The newest 50 orders of all firms that match a text. @throws ServiceError for a text that is too short or too long,
 * or contains NUL
 */
export async function searchOrders(db: Sql, environment: Environment, typed: string): Promise<ListedOrder[]> {
  const text = searchText(typed);
  const byCode = await ordersByCodeStart(db, { environment, partnerId: null }, text);
  return listed(await db.query<ListedOrder & Marked & MarkedFirm>(searchStatement(environment, text, byCode)));
}

type Firm = Pick<Partner, "partnerId" | "name" | "tier" | "liveEnabled" | "contactEmail" | "createdAt">;

const columns = sql`id AS "partnerId", name, tier, live_enabled AS "liveEnabled", contact_email AS "contactEmail",
  created_at AS "createdAt"`;

/**
 * At most `limit` firms whose name contains the text; an empty text matches all. A firm whose whole name equals the
 * text comes first. Firms whose MAC is invalid are left out afterwards, so there may be fewer.
 * @throws ServiceError for a text that is too long or contains NUL
 */
export async function findFirms(db: Sql, typed: string, limit: number): Promise<Firm[]> {
  const text = typed.trim().toLowerCase();
  if (text.length > 200 || text.includes("\0")) throw invalid("name must have at most 200 characters.");
  const pattern = `%${text.replaceAll(/[\\%_]/g, (character) => `\\${character}`)}%`;
  const named = text === "" ? nothing : sql`WHERE lower(name) LIKE ${pattern}`;
  const rows = await db.query<Firm & Marked>(sql`
    SELECT ${columns}, ${marked(firmState, sql`p`)} ${fromFirms} ${named}
    ORDER BY lower(p.name) <> ${text}, lower(p.name), p.id LIMIT ${limit}`);
  return rows.filter(({ isAuthentic }) => isAuthentic).map(({ isAuthentic: _, ...firm }) => firm);
}

export type FirmRecord = {
  firm: Firm;
  keys: Awaited<ReturnType<typeof listKeys>>;
  webhooks: Awaited<ReturnType<typeof webhookHealth>>;
};

/**
 * A firm with its keys and its webhooks.
 * @throws ServiceError `not_found`
 */
export async function firmRecord(db: Sql, partnerId: string): Promise<FirmRecord> {
  if (!isUuid(partnerId)) throw new ServiceError("not_found", "No such firm.");
  await requirePartner({ db }, partnerId);
  const [[firm], keys, webhooks] = await Promise.all([
    db.query<Firm>(sql`SELECT ${columns}, ${verifiedFirm} ${fromFirms} WHERE p.id = ${partnerId}`),
    listKeys({ db }, partnerId),
    webhookHealth(db, partnerId),
  ]);
  if (!firm) throw new ServiceError("not_found", "No such firm.");
  return { firm, keys, webhooks };
}

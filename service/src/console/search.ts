import type { Environment } from "../identity/identity.ts";
import { foundStatement, searchText } from "../order-search/order-search.ts";
import type { Sql } from "../platform/database/database.ts";
import { type Statement, sql } from "../platform/database/sql.ts";
import type { Marked } from "../platform/database/state-mac.ts";
import { type ListedOrder, listed, listedColumns } from "./orders-list.ts";

const shownMost = 50;

/** Apart from its running, for its plan. */
export const searchStatement = (environment: Environment, text: string): Statement => sql`
SELECT ${listedColumns} FROM (${foundStatement({ environment, partnerId: null }, text)}) f
JOIN orders o ON o.id = f.id JOIN partners p ON p.id = o.partner_id
WHERE o.environment = ${environment} ORDER BY o.created_at DESC, o.id DESC LIMIT ${shownMost}`;

/** Orders of all firms that a text names. @throws ServiceError when the text can't name anything */
export const searchOrders = async (db: Sql, environment: Environment, typed: string): Promise<ListedOrder[]> =>
  listed(await db.query<ListedOrder & Marked>(searchStatement(environment, searchText(typed))));

import type { Owner } from "../identity/identity.ts";
import type { Sql } from "../platform/database/database.ts";
import { cursorOf, filterText, foreignCursor, limitOf, type PageQuery, pageOf } from "../platform/database/page.ts";
import { isCode } from "../platform/text.ts";
import { isOwnOrder, listOrders } from "./store.ts";
import { summaryView } from "./views.ts";

export type ListQuery = PageQuery & { status?: string; external_reference?: string };

const pageSize = { usual: 20, most: 100 };

/** A cursor is the code of the last order of the page before, so it tells nothing that the caller does not know. */
async function afterOf(db: Sql, owner: Owner, sent: string | undefined): Promise<string | null> {
  const cursor = cursorOf(sent);
  if (cursor !== null && !(isCode(cursor) && (await isOwnOrder(db, cursor, owner)))) throw foreignCursor();
  return cursor;
}

/** A page of the owner's orders, newest first, and the cursor of the next one or null. @throws ServiceError naming the parameter and its rule */
export async function orderPage(db: Sql, owner: Owner, query: ListQuery) {
  const limit = limitOf(query.limit, pageSize);
  const rows = await listOrders(db, owner, {
    status: filterText("status", query.status),
    externalReference: filterText("external_reference", query.external_reference),
    after: await afterOf(db, owner, query.cursor),
    limit: limit + 1,
  });
  const { items, nextCursor } = pageOf(rows, limit, ({ code }) => code);
  // One that was changed outside the service is left out. The cursor passes it.
  return { orders: items.filter(({ isAuthentic }) => isAuthentic).map(summaryView), nextCursor };
}

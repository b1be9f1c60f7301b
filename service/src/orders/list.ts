import type { Principal } from "../identity/identity.ts";
import type { Database } from "../platform/database.ts";
import { invalid } from "../platform/errors.ts";
import { findOwnOrder, type ListFilter, listOrders } from "./store.ts";
import { summaryView } from "./views.ts";

export type ListQuery = { limit?: string; status?: string; external_reference?: string; cursor?: string };

const defaultLimit = 20;
const maxLimit = 100;

/** @throws ServiceError for a limit that is no whole number. */
function limitOf(text: string | undefined): number {
  if (text === undefined || text === "") return defaultLimit;
  if (!/^[+-]?\d+$/.test(text)) throw invalid("limit must be a whole number from 1 to 100.");
  return Math.min(Math.max(Number(text), 1), maxLimit);
}

/** A cursor is the code of the last order of the page before, so it tells nothing that the caller does not know. */
async function afterOf(db: Database, principal: Principal, cursor: string | undefined): Promise<string | null> {
  if (cursor === undefined || cursor === "") return null;
  const known = /^[0-9a-f]{40}$/.test(cursor) && (await findOwnOrder(db, cursor, principal));
  if (!known) throw invalid("cursor is not one that this list has given.");
  return cursor;
}

const filterText = (name: string, text: string | undefined): string | null => {
  if (text?.includes("\0")) throw invalid(`${name} must not contain control characters.`);
  return text === undefined || text === "" ? null : text;
};

/** A page of the caller's orders, newest first, and the cursor of the next page or null. */
export async function orderPage(db: Database, principal: Principal, query: ListQuery) {
  const limit = limitOf(query.limit);
  const filter: ListFilter = {
    status: filterText("status", query.status),
    externalReference: filterText("external_reference", query.external_reference),
    after: await afterOf(db, principal, query.cursor),
    // One more than asked tells whether another page follows.
    limit: limit + 1,
  };
  const rows = await listOrders(db, principal, filter);
  const page = rows.slice(0, limit);
  return { orders: page.map(summaryView), nextCursor: rows.length > limit ? (page.at(-1)?.code ?? null) : null };
}

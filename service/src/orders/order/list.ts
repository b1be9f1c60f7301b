import type { Owner } from "../../kernel/identity/identity.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import {
  cursorOf,
  filterText,
  foreignCursor,
  limitOf,
  type PageQuery,
  pageOf,
} from "../../kernel/platform/database/page.ts";
import { isSealed, sql } from "../../kernel/platform/database/sql.ts";
import { isCode } from "../../kernel/platform/text.ts";
import type { Address } from "../pricing/pricing.ts";
import type { OrderSigner } from "./form/signers.ts";
import { verifiedOrders } from "./order-mac.ts";
import { isOwnOrder, listOrders } from "./store.ts";
import { summaryView } from "./views.ts";

export type ListQuery = PageQuery & { status?: string; external_reference?: string };

const pageSize = { usual: 20, max: 100 };

/**
 * Checks the cursor that the caller sent, and returns it. The cursor is the code of the last order on the previous
 * page, so it reveals nothing new.
 * @throws ServiceError when the caller has no order with this code
 */
async function afterOf(db: Sql, owner: Owner, sent: string | undefined): Promise<string | null> {
  const cursor = cursorOf(sent);
  if (cursor !== null && !(isCode(cursor) && (await isOwnOrder(db, cursor, owner)))) throw foreignCursor();
  return cursor;
}

/**
 * A page of the owner's orders, newest first, with the cursor of the next page; null on the last page.
 * @throws ServiceError naming the parameter and its rule
 */
export async function orderPage(db: Sql, owner: Owner, query: ListQuery) {
  const limit = limitOf(query.limit, pageSize);
  const rows = await listOrders(db, owner, {
    status: filterText("status", query.status),
    externalReference: filterText("external_reference", query.external_reference),
    after: await afterOf(db, owner, query.cursor),
    limit: limit + 1,
  });
  const { items, nextCursor } = pageOf(rows, limit, ({ code }) => code);
  // Orders whose MAC is invalid are left out. The cursor still moves past them.
  return { orders: items.filter(({ isAuthentic }) => isAuthentic).map(summaryView), nextCursor };
}

/** The fields that are copied into a new order for the same client. */
export type SameClient = {
  customerEmail: string;
  customerName: string | null;
  signerState: string | null;
  externalReference: string | null;
  /** The signers. Null for the client alone, who is identified by the mailed link. */
  signers: readonly OrderSigner[] | null;
  shipTo: Address | null;
  shipFrom: Address | null;
};

/** Reads the fields to copy from the owner's order; undefined for another owner's order. */
export async function sameClient(
  db: Sql,
  code: string,
  { partnerId, environment }: Owner,
): Promise<SameClient | undefined> {
  const [order] = await db.query<SameClient>(sql`
SELECT customer_email AS "customerEmail", customer_name AS "customerName", signer_state AS "signerState",
  external_reference AS "externalReference", signers, ship_to AS "shipTo", ship_from AS "shipFrom", ${verifiedOrders}
FROM orders WHERE ${isSealed(sql`code`, "order", code)} AND partner_id = ${partnerId} AND environment = ${environment}`);
  return order;
}

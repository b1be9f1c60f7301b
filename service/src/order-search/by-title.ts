import type { Owner } from "../identity/identity.ts";
import type { Titled, TitleOf } from "../orders/orders.ts";
import type { Sql } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";
import { isWords } from "./find-orders.ts";

/** So many of the firm's latest orders are looked at: what documents are called is encrypted, and in no index. */
const readMost = 1_000;

/** The ids of the owner's orders whose documents are called by these words, among the latest 1,000. @param text from `searchText` */
export async function ordersByTitle(
  db: Sql,
  { partnerId, environment }: Owner,
  text: string,
  titleOf: TitleOf,
): Promise<number[]> {
  if (!isWords(text)) return [];
  const orders = await db.query<Titled & { id: number }>(sql`
SELECT id, code, document_name AS "documentName", doc_slug AS "docSlug" FROM orders
WHERE partner_id = ${partnerId} AND environment = ${environment} ORDER BY created_at DESC, id DESC LIMIT ${readMost}`);
  const words = text.toLowerCase();
  return orders.filter((order) => titleOf(order)?.toLowerCase().includes(words)).map(({ id }) => id);
}

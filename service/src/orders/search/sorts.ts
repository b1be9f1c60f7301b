import { foreignCursor } from "../../kernel/platform/database/page.ts";
import { type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { isCode } from "../../kernel/platform/text.ts";

export type OrderSort = "newest" | "oldest" | "changed";

type Sorted = { code: string; createdAt: Date; updatedAt: Date };

/**
 * The ways to sort a firm's list of orders, each with its column and direction. `placeAt` returns an order's position
 * in the list: the order's time and its code. The caller has already seen both.
 */
export const sorts: Readonly<
  Record<OrderSort, { column: Statement; newestFirst: boolean; placeAt: (order: Sorted) => string }>
> = {
  newest: { column: sql`created_at`, newestFirst: true, placeAt: ({ createdAt, code }) => place(createdAt, code) },
  oldest: { column: sql`created_at`, newestFirst: false, placeAt: ({ createdAt, code }) => place(createdAt, code) },
  changed: { column: sql`updated_at`, newestFirst: true, placeAt: ({ updatedAt, code }) => place(updatedAt, code) },
};

const place = (at: Date, code: string): string => `${at.getTime()}-${code}`;

/**
 * Reads a position in a list: the time and the code of the order there.
 * @throws ServiceError for a malformed position; whether a list returned it is not checked
 */
export function placeOf(text: string): { time: Date; code: string } {
  const [ms = "", code = ""] = text.split("-");
  if (!/^\d{1,14}$/.test(ms) || !isCode(code)) throw foreignCursor();
  return { time: new Date(Number(ms)), code };
}

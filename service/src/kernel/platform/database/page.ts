import { invalid } from "../errors.ts";

/** How many items a page has: `usual` when not asked for, `most` at most. */
export type PageSize = { readonly usual: number; readonly most: number };

/** The query of a list's page; each text as it was sent. */
export type PageQuery = { limit?: string; cursor?: string };

/** A page of a list and the cursor of the next one; null on the last page. */
export type Page<T> = { items: T[]; nextCursor: string | null };

/** The page's size, clamped. @throws ServiceError when it is not a whole number */
export function limitOf(text: string | undefined, { usual, most }: PageSize): number {
  if (text === undefined || text === "") return usual;
  if (!/^[+-]?\d+$/.test(text)) throw invalid(`limit must be a whole number from 1 to ${most}.`);
  return Math.min(Math.max(Number(text), 1), most);
}

/** The refusal of a cursor that this list did not give out. */
export const foreignCursor = () => invalid("cursor is not one that this list has given.");

/** A cursor that was sent, or null. */
export const cursorOf = (text: string | undefined): string | null => (text === undefined || text === "" ? null : text);

/**
 * Cuts a page from rows that were read with one more than `limit`: whether another page follows is known from that one.
 * @param cursor the cursor that leads to what comes after the row
 */
export function pageOf<Row>(rows: readonly Row[], limit: number, cursor: (last: Row) => string): Page<Row> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, nextCursor: rows.length > limit && last !== undefined ? cursor(last) : null };
}

/** A filter of a list: null when it is not set. @throws ServiceError for what no text in the database can hold */
export function filterText(name: string, text: string | undefined): string | null {
  if (text?.includes("\0")) throw invalid(`${name} must not contain control characters.`);
  return text === undefined || text === "" ? null : text;
}

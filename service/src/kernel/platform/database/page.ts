import { invalid } from "../errors.ts";

/** The limits for the number of items on a page: `usual` is the default, `max` the maximum. */
export type PageSize = { readonly usual: number; readonly max: number };

/** The query parameters `limit` and `cursor` of a request for one page of a list, as the caller sent them. */
export type PageQuery = { limit?: string; cursor?: string };

/** A page of a list and the cursor of the next one; null on the last page. */
export type Page<T> = { items: T[]; nextCursor: string | null };

/**
 * The number of items on the page: the `limit` that the caller sent, reduced or raised to what is allowed.
 * @throws ServiceError when it is not a whole number
 */
export function limitOf(text: string | undefined, { usual, max }: PageSize): number {
  if (text === undefined || text === "") return usual;
  if (!/^[+-]?\d+$/.test(text)) throw invalid(`limit must be a whole number from 1 to ${max}.`);
  return Math.min(Math.max(Number(text), 1), max);
}

/** The refusal of a cursor that this list did not issue. */
export const foreignCursor = () => invalid("cursor must be one that this list has returned.");

/** The cursor that the caller sent; null for none. */
export const cursorOf = (text: string | undefined): string | null => (text === undefined || text === "" ? null : text);

/**
 * Builds a page from rows. The query must read one row more than `limit`; if it finds that row, another page follows.
 * @param cursor makes the cursor that continues after a row
 */
export function pageOf<Row>(rows: readonly Row[], limit: number, cursor: (last: Row) => string): Page<Row> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, nextCursor: rows.length > limit && last !== undefined ? cursor(last) : null };
}

/**
 * The text by which a list is filtered; null when it is not set.
 * @throws ServiceError for a text with a NUL character, which no column can contain
 */
export function filterText(name: string, text: string | undefined): string | null {
  if (text?.includes("\0")) throw invalid(`${name} must not contain control characters.`);
  return text === undefined || text === "" ? null : text;
}

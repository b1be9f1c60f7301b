import type { Transport } from "./transport.ts";

/**
 * Everything of a list that comes in pages, page by page as it is wanted. A quarter of what the limit allows is left for other requests
 * with the same key: until the limit's window ends, no further page is fetched.
 */
export async function* allOf<Page extends { nextCursor: string | null }, Item>(
  { page: fetchPage, pause }: Transport,
  path: string,
  query: Readonly<Record<string, string | number | undefined>>,
  itemsOf: (page: Page) => readonly Item[],
): AsyncGenerator<Item, void, undefined> {
  let cursor: string | undefined;
  for (;;) {
    const { page, allowance } = await fetchPage<Page>(path, { ...query, cursor });
    yield* itemsOf(page);
    if (page.nextCursor === null) return;
    cursor = page.nextCursor;
    if (allowance && allowance.remaining <= allowance.quota / 4) await pause(allowance.resetsAt - Date.now());
  }
}

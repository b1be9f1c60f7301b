import type { Transport } from "./transport.ts";

/**
 * Iterates over a paginated list and fetches pages on demand. When only a quarter of the rate limit is left, it pauses
 * until the limit's window ends. This leaves room for other requests with the same key.
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

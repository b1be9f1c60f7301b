/** Everything of a list that comes in pages, page by page as it is wanted. */
export async function* allOf<Page extends { nextCursor: string | null }, Item>(
  page: (cursor: string | undefined) => Promise<Page>,
  itemsOf: (page: Page) => readonly Item[],
): AsyncGenerator<Item, void, undefined> {
  let cursor: string | undefined;
  do {
    const read = await page(cursor);
    yield* itemsOf(read);
    cursor = read.nextCursor ?? undefined;
  } while (cursor !== undefined);
}

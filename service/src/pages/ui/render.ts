import { html, raw } from "hono/html";

export { html, raw };

/** A piece of a page: text in it was escaped when it was put in. */
export type Html = ReturnType<typeof html>;

/** The finished text. @throws when a promise was put into the page: pages are made of data that is at hand. */
export function render(page: Html): string {
  if (page instanceof Promise) throw new Error("a page was given a promise");
  return page.toString();
}

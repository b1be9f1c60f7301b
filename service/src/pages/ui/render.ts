import { html, raw } from "hono/html";

export { html, raw };

/** A part of a page; text in it is already escaped. */
export type Html = ReturnType<typeof html>;

/** The finished text. @throws when the page contains a promise, because all data must be loaded before rendering */
export function render(page: Html): string {
  if (page instanceof Promise) throw new Error("a page was given a promise");
  return page.toString();
}

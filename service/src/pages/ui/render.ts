import { html, raw } from "hono/html";

export { html, raw };

/** A part of a page. Its text is already escaped as HTML. */
export type Html = ReturnType<typeof html>;

/**
 * The HTML text of a page.
 * @throws Error when the page contains a promise; all data must be loaded before rendering
 */
export function render(page: Html): string {
  if (page instanceof Promise) throw new Error("a page was given a promise");
  return page.toString();
}

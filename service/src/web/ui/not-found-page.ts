import type { Assets } from "./assets.ts";
import { layout } from "./layout.ts";
import { html } from "./render.ts";

/** A page with nothing but words, for what could not be shown. */
export const messagePage = (assets: Pick<Assets, "url">, title: string, text: string): string =>
  layout(assets, {
    title,
    credential: true,
    body: html`<div class="message"><h1>${title}</h1><p>${text}</p><p><a href="/">Go to the home page</a></p></div>`,
  });

/** Unknown codes, mistyped ones and addresses that never were all look the same. */
export const notFoundPage = (assets: Pick<Assets, "url">): string =>
  messagePage(
    assets,
    "Page not found",
    "There is nothing at this address. If you followed a link from a message, make sure that you copied all of it, including the long code at the end.",
  );

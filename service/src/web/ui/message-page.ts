import type { FastifyRequest } from "fastify";
import type { Assets } from "./assets/assets.ts";
import { clientFrame } from "./client-frame.ts";
import { textsOf } from "./forms/form-body.ts";
import { layout } from "./layout.ts";
import { html } from "./render.ts";
import { readerOf } from "./words/reader.ts";
import type { Words } from "./words/words.ts";

/** Where clients come to. */
const clientAddress = /^\/(?:orders|rooms|sign|verify|v)(?:[/?]|$)/;

/** Who asked: the words for them, and whether their pages are those for clients. */
export type Asker = { words: Words; isClient: boolean };

/** What is for members is in English alone, and so leads to what is for clients where that is not the reader's language. */
export function askerOf({ url, query, headers }: FastifyRequest): Asker {
  const { words } = readerOf(textsOf(query)["lang"], headers["accept-language"]);
  return { words, isClient: words.language !== "en" || clientAddress.test(url) };
}

/** A page with nothing but words, for what could not be shown. */
export const messagePage = (
  assets: Pick<Assets, "url">,
  { words, isClient }: Asker,
  { title, text }: { title: string; text: string },
): string =>
  layout(assets, {
    ...(isClient ? clientFrame(words) : { credential: true }),
    title,
    body: html`<div class="message"><h1>${title}</h1><p>${text}</p><p><a href="/">${words.refusals.home}</a></p></div>`,
  });

import type { Frame } from "../../signing/envelopes/envelopes.ts";
import type { Assets } from "../ui/assets/assets.ts";
import { layout } from "../ui/layout.ts";
import { html } from "../ui/render.ts";
import { frameData } from "./embed-data.ts";
import { wordsOf } from "./words/languages.ts";

type PageAssets = Pick<Assets, "url">;

/** The first page in a frame. It names nobody, because its URL may be in the surrounding site's logs. */
export const renderBegin = (assets: PageAssets, { origin }: Frame, ticket: string): string =>
  layout(assets, {
    unlisted: true,
    signing: true,
    title: wordsOf("en").embed.title,
    headerNav: html``,
    scripts: ["embed.js"],
    body: html`<div class="message">${frameData({ origin, signer: null, state: "begin" })}
<h1>${wordsOf("en").embed.title}</h1><p>${wordsOf("en").embed.text}</p>
<div lang="es"><p>${wordsOf("es").embed.text}</p></div>
<form method="post" action="/embed/${ticket}/begin" class="form-actions"><button type="submit">${wordsOf("en").embed.begin} · <span lang="es">${wordsOf("es").embed.begin}</span></button></form>
<p><a href="/embed/${ticket}" target="_blank" rel="noopener">${wordsOf("en").embed.tab} · <span lang="es">${wordsOf("es").embed.tab}</span></a></p></div>`,
  });

/** The page for a frame whose URL was used or has expired. */
export const renderEndedFrame = (assets: PageAssets, { origin, state }: Frame): string =>
  layout(assets, {
    unlisted: true,
    signing: true,
    title: wordsOf("en").embed.ended,
    headerNav: html``,
    scripts: ["embed.js"],
    body: html`<div class="message">${frameData({ origin, signer: null, state: state === "used" ? "used" : "ended" })}
<h1>${wordsOf("en").embed.ended}</h1><p>${wordsOf("en").embed.endedText}</p>
<div lang="es"><h2>${wordsOf("es").embed.ended}</h2><p>${wordsOf("es").embed.endedText}</p></div></div>`,
  });

import type { Assets } from "../ui/assets/assets.ts";
import { layout } from "../ui/layout.ts";
import { type Html, html } from "../ui/render.ts";
import { guideHtml, guideSentence } from "./markdown.ts";
import type { Guide } from "./read-guides.ts";

type Urls = Pick<Assets, "url">;

const hrefOf = ({ name }: Pick<Guide, "name">): string => `/docs/${name}`;

const contents = (guides: readonly Guide[], current: Guide | null): Html => {
  const entry = (guide: Guide) =>
    html`<li><a href="${hrefOf(guide)}"${guide === current ? html` aria-current="page"` : ""}>${guide.title}</a></li>`;
  return html`<nav class="guide-contents" aria-label="Guides"><ul>
<li><a href="/docs"${current === null ? html` aria-current="page"` : ""}>All guides</a></li>
${guides.map(entry)}
<li><a href="/docs/reference">API reference</a></li>
</ul></nav>`;
};

const page = (assets: Urls, title: string, nav: Html, article: Html): string =>
  layout(assets, {
    title,
    description: `For developers of partner firms: ${title.toLowerCase()}.`,
    scripts: ["copy.js", "guides.js"],
    body: html`<div class="guide">${nav}<div class="guide-text">${article}</div></div>`,
  });

/** `/docs`: what there is to read. */
export const indexPage = (assets: Urls, guides: readonly Guide[]): string =>
  page(
    assets,
    "Developer docs",
    contents(guides, null),
    html`<h1>Developer docs</h1>
<p class="lead">Place orders from your own system, and be told what becomes of them. Start with the quickstart: it takes five minutes and costs nothing.</p>
<ul class="links">${guides.map((guide) => html`<li><a href="${hrefOf(guide)}">${guide.title}</a><p>${guideSentence(guide.lead)}</p></li>`)}
<li><a href="/docs/reference">API reference</a><p>Every route, every field and every event, with samples to try.</p></li>
<li><a href="/openapi.json">OpenAPI description</a><p>The same for machines, in OpenAPI 3.1.</p></li>
<li><a href="/docs/collection.json" download="signsealship.postman_collection.json">Collection</a><p>All requests for Postman and Bruno. Import the file, then set <code>key</code>.</p></li></ul>`,
  );

/** `/docs/{name}`: a guide, with the ones before and after it. */
export function guidePage(assets: Urls, guides: readonly Guide[], guide: Guide): string {
  const at = guides.indexOf(guide);
  const [previous, next] = [guides[at - 1], guides[at + 1]];
  const step = (label: string, to: Guide | undefined) =>
    to ? html`<a href="${hrefOf(to)}"><span>${label}</span> ${to.title}</a>` : html`<span></span>`;
  return page(
    assets,
    guide.title,
    contents(guides, guide),
    html`${guideHtml(guide.markdown)}
<nav class="guide-steps" aria-label="Previous and next guide">${step("Previous", previous)}${step("Next", next)}</nav>`,
  );
}

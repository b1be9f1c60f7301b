import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { FastifyInstance } from "fastify";
import { withAddress } from "../../kernel/http/openapi/samples.ts";
import type { RateLimits } from "../../kernel/http/rate-limits.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import type { Assets } from "../ui/assets/assets.ts";
import { layout } from "../ui/layout.ts";
import { guideHtml, guideSentence } from "../ui/markdown.ts";
import { publicHeaders } from "../ui/page/headers.ts";
import { pageRoute } from "../ui/page/route.ts";
import { type Html, html } from "../ui/render.ts";

export type GuideDeps = { limits: RateLimits; assets: Pick<Assets, "url">; baseUrl: string };

const exampleFile = new URL("../../../../examples/lien-release.pdf", import.meta.url);

/** Adds the guides for partners' developers. `kernel/http/openapi/reference-page.ts` serves the API reference. */
export function guidePages(app: FastifyInstance, deps: GuideDeps): void {
  const guides = readGuides(deps.baseUrl);
  const common = { policy: "page", headers: publicHeaders } as const;
  pageRoute(app, deps, { ...common, url: "/docs", handle: lazily(() => indexPage(deps.assets, guides)) });
  for (const guide of guides)
    pageRoute(app, deps, {
      ...common,
      url: `/docs/${guide.name}`,
      handle: lazily(() => guidePage(deps.assets, guides, guide)),
    });
  pageRoute(app, deps, {
    ...common,
    url: "/docs/example.pdf",
    async handle() {
      const pdf = await readFile(exampleFile).catch(() => null);
      if (pdf === null) throw new ServiceError("not_found", "Not found.");
      return { pdf, name: "example.pdf" };
    },
  });
}

/** Renders on the first request, so that the service starts faster. */
function lazily<T>(render: () => T): () => T {
  let page: T | undefined;
  return () => {
    page ??= render();
    return page;
  };
}

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

/** `/docs`: the list of all guides. */
const indexPage = (assets: Urls, guides: readonly Guide[]): string =>
  page(
    assets,
    "Developer docs",
    contents(guides, null),
    html`<h1>Developer docs</h1>
<p class="lead">Place orders from your own system, and get an event at each step. Start with the quickstart: it takes five minutes and costs nothing.</p>
<ul class="links">${guides.map((guide) => html`<li><a href="${hrefOf(guide)}">${guide.title}</a><p>${guideSentence(guide.lead)}</p></li>`)}
<li><a href="/docs/reference">API reference</a><p>Every route, every field and every event, with samples to try.</p></li>
<li><a href="/openapi.json">OpenAPI description</a><p>The same for machines, in OpenAPI 3.1.</p></li>
<li><a href="/docs/collection.json" download="signsealship.postman_collection.json">Collection</a><p>All requests for Postman and Bruno. Import the file, then set <code>key</code>.</p></li></ul>`,
  );

/** `/docs/{name}`: a guide, with links to the previous and the next one. */
function guidePage(assets: Urls, guides: readonly Guide[], guide: Guide): string {
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

/** The guides, in the order in which a newcomer reads them. Each is a file in `service/guides`. */
export const guideNames = [
  "quickstart",
  "keys",
  "test-and-live",
  "idempotency",
  "errors",
  "limits",
  "paging",
  "webhooks",
  "templates",
  "filling",
  "bulk",
  "embedding",
  "rooms",
  "billing",
  "evidence",
  "going-live",
  "closing-agents",
] as const;

type GuideName = (typeof guideNames)[number];

type Guide = {
  name: GuideName;
  title: string;
  /** The guide's first paragraph. */
  lead: string;
  markdown: string;
};

const folder = new URL("../../../guides/", import.meta.url);

/** Reads the guides. @throws Error when a file is missing or has no title */
const readGuides = (baseUrl: string): Guide[] => guideNames.map((name) => readGuide(name, baseUrl));

function readGuide(name: GuideName, baseUrl: string): Guide {
  const markdown = withAddress(readFileSync(new URL(`${name}.md`, folder), "utf8"), baseUrl);
  const [heading = "", lead = ""] = markdown.split("\n\n");
  if (!heading.startsWith("# ")) throw new Error(`the guide ${name} has no title`);
  return { name, title: heading.slice(2).trim(), lead, markdown };
}

import { readFileSync } from "node:fs";
import type { FastifyInstance } from "fastify";
import type { SiteTexts } from "../../kernel/config/config.ts";
import type { RateLimits } from "../../kernel/http/rate-limits.ts";
import { StartupError } from "../../kernel/platform/errors.ts";
import type { PriceBook } from "../../orders/pricing/pricing.ts";
import type { Assets } from "../ui/assets/assets.ts";
import { pageHead } from "../ui/components.ts";
import { layout } from "../ui/layout.ts";
import { guideHtml } from "../ui/markdown.ts";
import { publicHeaders } from "../ui/page/headers.ts";
import { pageRoute } from "../ui/page/route.ts";
import { pricesBody } from "../ui/prices.ts";
import { type Html, html } from "../ui/render.ts";

export type SiteDeps = {
  limits: RateLimits;
  assets: Assets;
  baseUrl: string;
  site: { priceBook: PriceBook; texts: SiteTexts<string> };
};

/**
 * The operator's texts, in Markdown, and the settings that name their files. There are no default texts, because only
 * the operator can make these promises.
 */
const pages = {
  privacy: {
    title: "Privacy",
    setting: "PRIVACY_TEXT",
    unpublished: "The operator of this service has not published a privacy notice.",
  },
  terms: {
    title: "Terms",
    setting: "TERMS_TEXT",
    unpublished: "The operator of this service has not published terms.",
  },
  contact: {
    title: "Contact",
    setting: "CONTACT_TEXT",
    unpublished: "The operator of this service has not published how to reach it.",
  },
} as const;

type Name = keyof typeof pages;

const names = Object.keys(pages) as Name[];

/**
 * Reads the texts of the operator's own pages from their files; null for a page without one.
 * @throws StartupError naming the setting whose file can't be read, or is empty
 */
export function readSiteTexts(files: SiteTexts<string>): SiteTexts<string> {
  const read = (name: Name): string | null => {
    const file = files[name];
    if (file === null) return null;
    try {
      const text = readFileSync(file, "utf8").trim();
      if (text !== "") return text;
    } catch (error) {
      throw new StartupError(`${pages[name].setting} must be a file that can be read: ${(error as Error).message}`);
    }
    throw new StartupError(`${pages[name].setting} must be a file with a text; ${file} is empty`);
  };
  return { privacy: read("privacy"), terms: read("terms"), contact: read("contact") };
}

/** Public pages of the service itself: its prices, and the operator's texts. */
export function siteRoutes(app: FastifyInstance, deps: SiteDeps): void {
  const page = (path: string, title: string, description: string, body: Html) => {
    const text = layout(deps.assets, { title, description, canonical: `${deps.baseUrl}/${path}`, body });
    pageRoute(app, deps, { url: `/${path}`, policy: "page", headers: publicHeaders, handle: () => text });
  };
  const prices = html`${pageHead("Prices", "In US dollars.")}${pricesBody(deps.site.priceBook, null)}`;
  page("prices", "Prices", "What signing, notarization, shipping, and faxes cost.", prices);
  for (const name of names) {
    const { title, unpublished } = pages[name];
    const text = deps.site.texts[name];
    const body = text === null ? html`<p>${unpublished}</p>` : html`<div class="guide-text">${guideHtml(text)}</div>`;
    page(name, title, `${title} of this service.`, html`<h1>${title}</h1>${body}${text === null && help}`);
  }
}

const help = html`<p class="quiet">Did a firm send you a document? That firm answers for it: its name and address are in its mail and on the page of your document.</p>`;

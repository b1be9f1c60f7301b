import type { AssetName, Assets } from "./assets/assets.ts";
import { type Html, html, render } from "./render.ts";

export type PageOptions = {
  /** The title without the product's name. */
  title: string;
  body: Html;
  /**
   * True if the page's URL is a credential. Then search engines must not list the page, and no referrer may contain its
   * URL.
   */
  credential?: boolean;
  /**
   * True to keep the page out of search engines and link previews. A form on this page sends an `Origin` header that
   * names our site. With `credential` instead, it would not.
   */
  unlisted?: boolean;
  /** For public pages: the text for search engines and link previews. */
  description?: string;
  /** The absolute URL of a public page. */
  canonical?: string;
  /** Replaces the public links in the header. The footer then also has only the general links. */
  headerNav?: Html;
  /** A column of links next to the content. */
  side?: Html;
  /** True if the page uses the full width, as lists do. */
  wide?: boolean;
  /** True if another page of ours shows this page in a frame. Then this page has no header and footer of its own. */
  framed?: boolean;
  /** True for a signing page. Many people open it on a slow phone, so it loads only the styles that it needs. */
  signing?: boolean;
  /**
   * Our own scripts for the page. Pages also work without JavaScript, apart from rooms, passkeys, checking files, and
   * signing with a certificate file.
   */
  scripts?: readonly Extract<AssetName, `${string}.js`>[];
  /** For a page that is not in English: its language, and the words of the header and footer. */
  language?: FrameLanguage;
};

export type FrameLanguage = Readonly<
  Record<
    | "code"
    | "skip"
    | "footer"
    | "about"
    | "aboutUs"
    | "verify"
    | "privacy"
    | "terms"
    | "contact"
    | "previewTitle"
    | "previewText",
    string
  >
>;

export const englishFrame: FrameLanguage = {
  code: "en",
  skip: "Skip to content",
  footer: "Signs, notarizes, ships, and faxes documents, and leaves evidence that anyone can check.",
  about: "About",
  aboutUs: "About SignSealShip",
  verify: "Verify a document",
  privacy: "Privacy",
  terms: "Terms",
  contact: "Contact",
  previewTitle: "A private page",
  previewText: "Anyone who has this link can open the page. Pass it on only to people who should see it.",
};

// A failed refresh (too many requests, a restart) must not replace the content of the page.
const htmxConfig = JSON.stringify({ noSwap: [204, 304, "4xx", "5xx"], history: false, includeIndicatorCSS: false });

const publicNav = html`<nav aria-label="Main"><a href="/verify">Verify</a><a href="/docs">Docs</a><a href="/sign-in">Sign in</a></nav>`;

const operatorLinks = ({ privacy, terms, contact }: FrameLanguage): Html =>
  html`<a href="/privacy">${privacy}</a><a href="/terms">${terms}</a><a href="/contact">${contact}</a>`;
const ownLinks = (language: FrameLanguage): Html =>
  html`<a href="/">${language.aboutUs}</a><a href="/verify">${language.verify}</a>${operatorLinks(language)}`;
const publicLinks = html`<a href="/verify">Verify a document</a><a href="/prices">Prices</a><a href="/docs">Documentation</a><a href="/request-access">Request access</a><a href="/sign-in">Sign in</a>${operatorLinks(englishFrame)}`;

/** The navigation on pages for clients of firms. It has no links for developers and members. */
export const clientNav = html`<nav aria-label="Main"><a href="/verify">Verify</a></nav>`;

const preloaded = ["serif.woff2", "sans.woff2"] as const;

const main = (body: Html, kind: string): Html => html`<main id="main" class="${kind}" tabindex="-1">
${body}
</main>`;

/** Tags for search engines and link previews, by the Open Graph protocol (ogp.me). */
const previewTags = (title: string, description: string): Html =>
  html`<meta name="description" content="${description}">
<meta property="og:type" content="website">
<meta property="og:site_name" content="SignSealShip">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${description}">`;

const canonicalTags = (url: string, image: string): Html =>
  html`<link rel="canonical" href="${url}">
<meta property="og:url" content="${url}">
<meta property="og:image" content="${image}">
<meta property="og:image:width" content="1200">
<meta property="og:image:height" content="630">
<meta name="twitter:card" content="summary_large_image">`;

/** A complete page: head, skip link, header, main, footer. */
export function layout(
  { url }: Pick<Assets, "url">,
  {
    title,
    body,
    credential = false,
    unlisted = credential,
    description,
    canonical,
    headerNav,
    side,
    wide = false,
    framed = false,
    signing = false,
    scripts = [],
    language = englishFrame,
  }: PageOptions,
): string {
  const width = wide ? "wrap wide" : "wrap";
  return render(html`<!doctype html>
<html lang="${language.code}">
<head>
<meta charset="utf-8">
<title>${title} · SignSealShip</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="theme-color" content="#faf8f4" media="(prefers-color-scheme: light)">
<meta name="theme-color" content="#12161d" media="(prefers-color-scheme: dark)">
${unlisted && html`<meta name="robots" content="noindex, nofollow">${previewTags(language.previewTitle, language.previewText)}`}
${credential && html`<meta name="referrer" content="no-referrer">`}
${description !== undefined && previewTags(title, description)}
${canonical !== undefined && canonicalTags(canonical, new URL(url("link-picture.png"), canonical).href)}
${scripts.includes("htmx.js") ? html`<meta name="htmx-config" content="${htmxConfig}">` : ""}
${preloaded.map((name) => html`<link rel="preload" href="${url(name)}" as="font" type="font/woff2" crossorigin>`)}
<script src="${url("page.js")}"></script>
<link rel="stylesheet" href="${url("fonts.css")}">
<link rel="stylesheet" href="${url("site.css")}">
${!signing && html`<link rel="stylesheet" href="${url("more.css")}">`}
${!unlisted && html`<link rel="stylesheet" href="${url("desk.css")}">`}
<link rel="icon" type="image/svg+xml" href="${url("mark.svg")}">
<link rel="apple-touch-icon" href="${url("touch-icon.png")}">
${scripts.map((name) => html`<script src="${url(name)}" defer></script>`)}
</head>
<body${framed && html` class="framed"`}>
${
  framed
    ? main(body, "")
    : html`<a class="skip" href="#main">${language.skip}</a>
<header class="site-header"><div class="${width}">
<a class="wordmark" href="/"><img src="${url("mark.svg")}" alt="" width="32" height="32">SignSealShip</a>
${headerNav ?? publicNav}
</div></header>
${side ? html`<div class="${width} with-side">${side}${main(body, "")}</div>` : main(body, width)}
<footer class="site-footer"><div class="${width}">
<p>${language.footer}</p>
<nav aria-label="${language.about}">${headerNav ? ownLinks(language) : publicLinks}</nav>
</div></footer>`
}
</body>
</html>
`);
}

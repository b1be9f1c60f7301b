import { html, raw } from "hono/html";

/** The parts of a mail's HTML page. All texts are escaped here. */
export type MailPage = {
  subject: string;
  heading: string;
  greeting: string;
  lines: readonly string[];
  facts: readonly (readonly [label: string, value: string, url?: string])[];
  code: string | null;
  link: { label: string; url: string } | null;
  caution: string;
  /** The URL that unsubscribes the recipient; null for mails without that option. */
  unsubscribeUrl: string | null;
  footer: string;
  language: string;
  /** The name of the sender: the service, or the firm for which it sends the mail. */
  name: string;
  accentColor: string | null;
  logoUrl: string | null;
};

// Colors for mail programs that support dark mode by a media query. All other programs use the inline styles of the
// elements.
const dark = `@media (prefers-color-scheme: dark) {
.paper { background: #12161d !important }
.sheet { background: #1a2029 !important }
.ink { color: #e7eaef !important }
.quiet { color: #a5aebc !important }
.rule { border-color: #2e3643 !important }
}`;

const font = raw("font-family: -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif");
const small = "font-size: 13px; line-height: 1.5; color: #555f6f";
// Texts from firms may contain very long words, which would widen the page.
const breaking = "overflow-wrap: anywhere; word-break: break-word";
const grid = raw(`role="presentation" cellpadding="0" cellspacing="0" border="0"`);
const narrow = raw(`${grid} width="600"`);
const navy = "#2a4f8c";

/** Draws a mail as an HTML page. Uses tables for the layout, because some mail programs support nothing else. */
export function mailPage(mail: MailPage): string {
  const { subject, heading, greeting, lines, language, name, accentColor, logoUrl, caution, footer } = mail;
  const stripe = /^#[0-9a-f]{6}$/i.test(accentColor ?? "") ? accentColor : navy;
  const logo = logoUrl?.startsWith("https://") ? logoUrl : null;
  return String(html`<!doctype html>
<html lang="${language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">
<title>${subject}</title><style>${raw(dark)}</style></head>
<body class="paper" style="margin: 0; padding: 0; background: #faf8f4; ${font}">
<div style="display: none; max-height: 0; overflow: hidden">${lines[0] ?? heading}</div>
<div role="main"><table ${grid} width="100%" class="paper" style="background: #faf8f4"><tr><td align="center" style="padding: 24px 8px">
<table ${narrow} class="sheet" style="width: 100%; max-width: 600px; table-layout: fixed; background: #ffffff; border-top: 4px solid ${stripe}; border-radius: 6px"><tr><td class="ink" style="padding: 24px; font-size: 16px; line-height: 1.5; color: #1b2431; ${breaking}">
<p class="rule" style="margin: 0 0 24px; padding: 0 0 16px; border-bottom: 1px solid #e4dfd5; font-size: 15px; font-weight: 600">${logo && html`<img src="${logo}" alt="" height="32" style="height: 32px; max-width: 200px; margin-right: 10px; vertical-align: middle; border: 0">`}${name}</p>
<h1 style="margin: 0 0 16px; font-size: 22px; line-height: 1.3">${heading}</h1>
<p style="margin: 0 0 12px">${greeting}</p>
${lines.map((line) => html`<p style="margin: 0 0 12px">${line}</p>\n`)}${factsPart(mail)}${codePart(mail)}${button(mail)}<p class="quiet" style="margin: 0; ${small}">${caution}${mail.unsubscribeUrl !== null && html` <a href="${mail.unsubscribeUrl}" class="quiet" style="color: #555f6f">Stop these emails</a>`}</p>
</td></tr></table>
<table ${narrow} style="width: 100%; max-width: 600px; table-layout: fixed"><tr><td class="quiet" style="padding: 16px 24px; ${small}; ${breaking}">${footer}</td></tr></table>
</td></tr></table></div>
</body></html>
`);
}

const cell = "padding: 8px 0; border-top: 1px solid #e4dfd5; font-size: 14px; vertical-align: top";

const factsPart = ({ facts }: MailPage) =>
  facts.length > 0 &&
  html`<table ${grid} width="100%" style="margin: 16px 0; table-layout: fixed">${facts.map(
    ([label, value, url]) =>
      html`<tr><td class="quiet rule" width="36%" style="${cell}; color: #555f6f">${url ? html`<a href="${url}" class="ink" style="color: ${navy}">${label}</a>` : label}</td><td class="ink rule" style="${cell}; color: #1b2431; ${breaking}">${value}</td></tr>`,
  )}</table>\n`;

const codePart = ({ code }: MailPage) =>
  code !== null && html`<p style="margin: 16px 0"><code style="font-size: 18px">${code}</code></p>\n`;

const button = ({ link }: MailPage) =>
  link &&
  html`<table ${grid} style="margin: 24px 0"><tr><td bgcolor="${navy}" style="border-radius: 6px; background: ${navy}"><a href="${link.url}" style="display: inline-block; padding: 12px 24px; color: #ffffff; font-weight: 600; text-decoration: none">${link.label}</a></td></tr></table>\n`;

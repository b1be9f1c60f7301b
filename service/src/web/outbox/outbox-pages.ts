import type { Assets } from "../ui/assets/assets.ts";
import { emptyState, facts, pageHead } from "../ui/components.ts";
import { time } from "../ui/format.ts";
import { layout } from "../ui/layout.ts";
import { type Html, html } from "../ui/render.ts";
import type { KeptMail } from "./read-outbox.ts";

type AssetUrls = Pick<Assets, "url">;

/** Mails that were written to the outbox, the newest first. */
export const outboxPage = (assets: AssetUrls, mails: readonly KeptMail[]): string =>
  layout(assets, {
    title: "Outbox",
    credential: true,
    body: html`${pageHead("Outbox", "No mail server is set (SMTP_URL), so the mails of this installation stay here. Only this machine can open this page, with the address that the service printed at its start.")}
${
  mails.length === 0
    ? emptyState("No mails yet", "Sign in, or place an order, and its mails are listed here.")
    : html`<ul class="mails">${mails.map(({ name, to, subject, at }) => html`<li><a href="${name}">${subject}</a> <span class="quiet">to ${to}, ${time(at)}</span></li>`)}</ul>`
}`,
  });

const links = /(https?:\/\/[^\s<>"]+)/;

/** A mail's text, each address in it as a link. */
const linked = (text: string): Html[] =>
  text.split(links).map((part, index) => (index % 2 === 1 ? html`<a href="${part}">${part}</a>` : html`${part}`));

export const mailPage = (assets: AssetUrls, { name, to, subject, at, text }: KeptMail): string =>
  layout(assets, {
    title: subject,
    credential: true,
    body: html`<p><a href="./">Outbox</a></p>
<h1>${subject}</h1>
${facts([
  ["To", to],
  ["Written", time(at)],
])}
<div class="mail-text">${linked(text)}</div>
<p><a href="${name}/html">As a mail program shows it</a></p>`,
  });

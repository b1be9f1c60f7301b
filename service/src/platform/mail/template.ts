import { html, raw } from "hono/html";
import type { Mail } from "./mail.ts";

/** A mail of ours in its parts; every text is escaped where it is put into HTML. */
export type MailTemplate = {
  subject: string;
  greeting: string;
  lines: readonly string[];
  /** A credential, on a line of its own. */
  code?: string;
  /** Shown as a button; null where there is nothing to open. */
  link: { label: string; url: string } | null;
  /** Said last and quietly. */
  caution: string;
  /** Of the words; default `en`. */
  language?: string;
};

const button =
  "display: inline-block; padding: 0.7em 1.4em; border-radius: 6px; background: #1d4ed8; color: #ffffff; text-decoration: none";

/** The mail as plain text and as HTML. */
export function mailFrom({
  subject,
  greeting,
  lines,
  code,
  link,
  caution,
  language = "en",
}: MailTemplate): Pick<Mail, "subject" | "text" | "html"> {
  const paragraphs = lines.map((line) => html`<p>${line}</p>`);
  return {
    subject,
    text: [
      greeting,
      "",
      ...lines,
      "",
      ...(code === undefined ? [] : [code, ""]),
      ...(link ? [`${link.label}: ${link.url}`, ""] : []),
      caution,
      "",
      "SignSealShip",
      "",
    ].join("\n"),
    html: String(
      html`<!doctype html>
<html lang="${language}"><head><meta charset="utf-8"><title>${subject}</title></head>
<body style="font-family: sans-serif; line-height: 1.5; color: #1c2430; max-width: 36em">
<p>${greeting}</p>
${raw(paragraphs.join("\n"))}
${code === undefined ? "" : html`<p><code style="overflow-wrap: anywhere">${code}</code></p>`}
${link && html`<p><a href="${link.url}" style="${button}">${link.label}</a></p>`}
<p style="color: #5a6472">${caution}</p>
<p>SignSealShip</p>
</body></html>
`,
    ),
  };
}

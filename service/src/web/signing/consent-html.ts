import { type Html, html } from "../ui/render.ts";

/**
 * The text of a consent as a part of a page. Of Markdown it has headings, lists, paragraphs and bold words; its first
 * heading is the page's own.
 */
export function consentHtml(markdown: string): Html {
  const blocks = markdown.trim().split(/\n{2,}/);
  return html`${blocks.map(blockHtml)}`;
}

function blockHtml(block: string): Html | "" {
  if (block.startsWith("# ")) return "";
  if (block.startsWith("## ")) return html`<h3>${block.slice(3)}</h3>`;
  if (!block.startsWith("- ")) return html`<p>${bold(block)}</p>`;
  return html`<ul>${block
    .slice(2)
    .split("\n- ")
    .map((item) => html`<li>${bold(item)}</li>`)}</ul>`;
}

/** Every second part of what `**` divides. */
const bold = (text: string): Html =>
  html`${text.split("**").map((part, index) => (index % 2 === 1 ? html`<strong>${part}</strong>` : part))}`;

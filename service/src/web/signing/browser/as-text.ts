import type { PDFDocumentProxy } from "pdfjs-dist";
import { make, part, say } from "../../ui/browser/parts.ts";
import { linesOf } from "../text-lines.ts";
import type { ViewerWords } from "./config.ts";

/** Has the link to the document as text show it in the page: read from the very bytes that the pages are drawn from. */
export function offerText(document: PDFDocumentProxy, words: ViewerWords, below: HTMLElement): void {
  const link = part<HTMLAnchorElement>("as-text");
  let shown: HTMLElement | null = null;
  link.setAttribute("role", "button");
  link.setAttribute("aria-expanded", "false");
  link.addEventListener("click", (event) => {
    event.preventDefault();
    if (!shown) {
      shown = make(
        "div",
        { className: "document-text", tabIndex: -1, hidden: true },
        make("p", { textContent: words.textNote }),
      );
      below.after(shown);
      void fill(shown, document, words);
    }
    shown.hidden = !shown.hidden;
    link.setAttribute("aria-expanded", String(!shown.hidden));
    if (!shown.hidden) shown.focus();
  });
}

async function fill(host: HTMLElement, document: PDFDocumentProxy, words: ViewerWords): Promise<void> {
  for (let n = 1; n <= document.numPages; n++) {
    const title = make("h3", { textContent: say(words.page, { page: n, pages: document.numPages }) });
    const lines = await document
      .getPage(n)
      .then((page) => page.getTextContent())
      .then(({ items }) => items.map((run) => ("str" in run ? run.str + (run.hasEOL ? "\n" : "") : "")))
      .then((texts) => linesOf(texts.join("")))
      .catch(() => []);
    const shown = lines.length > 0 ? lines : [words.noText];
    host.append(title, ...shown.map((textContent) => make("p", { textContent })));
  }
}

import type * as PdfJs from "pdfjs-dist";
import { make, part, wayOn } from "../../ui/browser/parts.ts";
import { showPages } from "../../ui/browser/viewer/pages.ts";
import { loadPdfJs } from "../../ui/browser/viewer/pdf-js.ts";
import { frameOf, placeOf } from "../../ui/browser/viewer/tools.ts";
import { offerText } from "./as-text.ts";
import type { SigningConfig } from "./config.ts";
import { type DocumentBytes, fetchDocument, partBytes } from "./document-bytes.ts";
import { showFields } from "./fields.ts";
import { checkBytes } from "./integrity.ts";
import { signWithOwnKey } from "./own-key.ts";

/** Shows the document in the page, with the signer's fields on it. Where that fails, the page works as without a script. */
export async function startViewer(config: SigningConfig): Promise<void> {
  const { words } = config;
  const host = part("viewer");
  host.hidden = false;
  const status = make("p", { className: "quiet-text", textContent: words.loading });
  status.setAttribute("role", "status");
  host.append(status);
  const bytes = fetchDocument(config.document, config.bytes);
  try {
    const document = await Promise.race([show(config, host, bytes), bytes.failed]);
    void fetch(config.opened, { method: "POST", body: new URLSearchParams(), keepalive: true }).catch(() => {});
    const whole = () => Promise.race([document.getData(), bytes.failed]);
    if (config.fields.length > 0) await checkBytes(config, whole, (shown) => signWithOwnKey(config, shown));
  } catch (error) {
    host.append(status);
    status.textContent = words.failed;
    if (config.fields.length > 0)
      await checkBytes(
        config,
        () => Promise.reject(error),
        () => {},
      );
  }
}

/** @returns when the first page is drawn */
async function show(config: SigningConfig, host: HTMLElement, bytes: DocumentBytes): Promise<PdfJs.PDFDocumentProxy> {
  const { words, pages: count } = config;
  const { pdfJs, document } = await openDocument(config, bytes);
  const { place, onPage } = placeOf(words, count);
  const pages = await showPages(pdfJs, document, { pageWords: words.page, onPage });
  const { viewer, start } = frameOf(words, place, pages);
  // In place of what was said: nothing on the page moves.
  host.replaceChildren(viewer);
  viewer.append(config.fields.length > 0 ? showFields(config, pages) : toConsent(words.toConsent));
  offerText(document, words, viewer);
  await start();
  return document;
}

async function openDocument({ pdfjs: folder, bytes: length }: SigningConfig, bytes: DocumentBytes) {
  const { pdfJs, options } = await loadPdfJs(folder);
  const range = new pdfJs.PDFDataRangeTransport(length, null);
  bytes.serve(range);
  const document = await pdfJs.getDocument({
    range,
    rangeChunkSize: partBytes,
    disableAutoFetch: true,
    disableStream: true,
    ...options,
  }).promise;
  return { pdfJs, document };
}

/** The consent is below a document that may be long. */
function toConsent(text: string): HTMLElement {
  const { bar, button } = wayOn(() => {
    const title = part("consent-title");
    title.tabIndex = -1;
    title.scrollIntoView();
    title.focus({ preventScroll: true });
  });
  button.textContent = text;
  return bar;
}

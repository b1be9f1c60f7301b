import type * as PdfJs from "pdfjs-dist";
import { offerText } from "./as-text.ts";
import type { SigningConfig } from "./config.ts";
import { type DocumentBytes, fetchDocument, partBytes } from "./document-bytes.ts";
import { showFields } from "./fields.ts";
import { checkBytes } from "./integrity.ts";
import { signWithOwnKey } from "./own-key.ts";
import { showPages } from "./pages.ts";
import { make, part, say, setNumbers, wayOn } from "./parts.ts";

const zooms = [1, 1.25, 1.5, 2, 3, 4];
// Wider than this a page is only larger, not better to read.
const widestPage = 900;

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
    status.remove();
    void fetch(config.opened, { method: "POST", body: new URLSearchParams(), keepalive: true }).catch(() => {});
    const whole = () => Promise.race([document.getData(), bytes.failed]);
    if (config.fields.length > 0) await checkBytes(config, whole, (shown) => signWithOwnKey(config, shown));
  } catch (error) {
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
  const place = make("span", { className: "viewer-place" });
  const onPage = (page: number) => {
    place.textContent = say(words.page, { page, pages: count });
  };
  const pages = await showPages(pdfJs, document, { pageWords: words.page, onPage });
  const { list } = pages;
  list.tabIndex = 0;
  list.setAttribute("role", "region");
  list.setAttribute("aria-label", words.region);
  const viewer = make("div", { className: "viewer" });
  const size = sizing(viewer, list, pages);
  const smaller = zoomButton("\u2212", words.smaller, () => size.zoom(-1));
  const larger = zoomButton("+", words.larger, () => size.zoom(1));
  viewer.append(make("div", { className: "viewer-tools no-print" }, smaller, larger, place), list);
  host.append(viewer);
  viewer.append(config.fields.length > 0 ? showFields(config, pages) : toConsent(words.toConsent));
  offerText(document, words, viewer);
  await pages.start(size.fit());
  size.follow();
  return document;
}

async function openDocument({ pdfjs: folder, bytes: length }: SigningConfig, bytes: DocumentBytes) {
  // The worker is fetched and read while the page's side of pdf.js is.
  const worker = new Worker(`${folder}build/pdf.worker.min.mjs`, { type: "module" });
  const pdfJs = (await import(`${folder}build/pdf.min.mjs`)) as typeof PdfJs;
  pdfJs.GlobalWorkerOptions.workerPort = worker;
  const range = new pdfJs.PDFDataRangeTransport(length, null);
  bytes.serve(range);
  const document = await pdfJs.getDocument({
    range,
    rangeChunkSize: partBytes,
    disableAutoFetch: true,
    disableStream: true,
    cMapUrl: `${folder}cmaps/`,
    cMapPacked: true,
    standardFontDataUrl: `${folder}standard_fonts/`,
    wasmUrl: `${folder}wasm/`,
    iccUrl: `${folder}iccs/`,
    // The page's policy makes no code of bytes: pdf.js has the same in plain script.
    useWasm: false,
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

function zoomButton(sign: string, label: string, click: () => void): HTMLButtonElement {
  const button = make("button", { type: "button", textContent: sign });
  button.setAttribute("aria-label", label);
  button.title = label;
  button.addEventListener("click", click);
  return button;
}

/** How large pages are: as wide as there is room, times the zoom. */
function sizing(
  viewer: HTMLElement,
  list: HTMLElement,
  pages: { width: number; resize: (to: number) => Promise<void> },
) {
  let zoom = 0;
  let shownWidth = 0;
  const set = (): number => {
    shownWidth = list.clientWidth;
    const room = Math.min(shownWidth - 16, widestPage);
    const scale = (Math.max(room, 100) / pages.width) * (zooms[zoom] ?? 1);
    setNumbers(viewer, { scale });
    return scale;
  };
  return {
    fit: set,
    zoom(by: number) {
      zoom = Math.min(Math.max(zoom + by, 0), zooms.length - 1);
      keepingPlace(list, () => void pages.resize(set()));
    },
    follow() {
      new ResizeObserver(() => {
        if (list.clientWidth !== shownWidth) keepingPlace(list, () => void pages.resize(set()));
      }).observe(list);
    },
  };
}

/** What was at the top of the window stays there. */
function keepingPlace(list: HTMLElement, change: () => void): void {
  const before = list.getBoundingClientRect();
  const share = before.top < 0 && before.height > 0 ? -before.top / before.height : 0;
  change();
  if (share === 0) return;
  const after = list.getBoundingClientRect();
  scrollBy(0, after.top + share * after.height);
}

import type * as PdfJs from "pdfjs-dist";
import type { PDFDocumentProxy, PDFPageProxy } from "pdfjs-dist";
import { make, part, say, wayOn } from "../../ui/browser/parts.ts";
import { showPages } from "../../ui/browser/viewer/pages.ts";
import { loadPdfJs } from "../../ui/browser/viewer/pdf-js.ts";
import { followRoom, tellPage } from "../../ui/browser/viewer/room.ts";
import { frameOf, placeOf } from "../../ui/browser/viewer/tools.ts";
import type { SigningConfig, ViewerWords } from "./config.ts";
import { checkBytes, type DocumentBytes, fetchDocument, holdSigning, partBytes } from "./document-bytes.ts";
import { showFields } from "./fields.ts";
import { loadScript } from "./load-script.ts";
import { signWithOwnKey } from "./own-key.ts";
import { leadTo } from "./press-guard.ts";
import { loadRules } from "./rules.ts";

type Shown = {
  document: PdfJs.PDFDocumentProxy;
  pages: Awaited<ReturnType<typeof showPages>>;
  viewer: HTMLElement;
};

/** The document that the viewer shows now; null while it shows none. */
let shown: (Shown & { url: string; bytes: DocumentBytes }) | null = null;
/** Resolves when the viewer's last task has ended. Each new task waits for it, so tasks run one at a time. */
let working: Promise<void> = Promise.resolve();

const inTurn = (work: () => Promise<void>): Promise<void> => {
  working = working.then(work);
  return working;
};

/** Shows the document in the page, with the signer's fields on it. */
export const startViewer = (config: SigningConfig): Promise<void> => inTurn(() => start(config));

/**
 * Places the signer's fields on the document that the page already shows, without scrolling. If the page shows another
 * document, loads the right one.
 */
export function continueViewer(config: SigningConfig): Promise<void> {
  holdSigning(config);
  return inTurn(async () => {
    const place = scrollY;
    const hasRules = await loadRules(config).then(
      () => true,
      () => false,
    );
    // Also starts again when the script with the field rules could not be loaded, because the start offers a retry.
    if (shown?.url !== config.document || !hasRules) {
      await start(config);
      scrollTo({ top: place, behavior: "instant" });
      return;
    }
    const { pages, viewer } = shown;
    viewer.append(showFields(config, pages).bar);
    await check(config);
  });
}

/** Verifies the document's bytes, and then allows the signer to sign. */
async function check(config: SigningConfig): Promise<void> {
  if (!shown) return;
  const { document, bytes } = shown;
  const whole = () => Promise.race([document.getData(), bytes.failed]);
  await checkBytes(config, whole, (each) => signWithOwnKey(config, each));
}

/** Loads and shows the document. If that fails, offers a retry, and the page works as it does without JavaScript. */
async function start(config: SigningConfig): Promise<void> {
  const { words } = config;
  const host = part("viewer");
  host.hidden = false;
  const status = make("p", { className: "quiet-text", textContent: words.loading, tabIndex: -1 });
  status.setAttribute("role", "status");
  const isAgain = host.contains(window.document.activeElement);
  host.replaceChildren(status);
  // The retry button that the person pressed is gone. The status text keeps the focus until the document or the next
  // button is shown.
  if (isAgain) status.focus();
  if (config.fields.length > 0) holdSigning(config);
  const bytes = fetchDocument(config.document, config.bytes);
  shown = null;
  try {
    shown = { ...(await Promise.race([show(config, host, bytes), bytes.failed])), bytes, url: config.document };
    void fetch(config.opened, { method: "POST", body: new URLSearchParams(), keepalive: true }).catch(() => {});
    if (config.fields.length > 0) await check(config);
  } catch (error) {
    const again = make("button", { type: "button", className: "secondary", textContent: words.retry });
    again.addEventListener("click", () => void startViewer(config));
    const hasFocus = host.contains(window.document.activeElement);
    host.replaceChildren(status, again);
    if (hasFocus) again.focus();
    status.textContent = words.failed;
    if (config.fields.length > 0)
      await checkBytes(
        config,
        () => Promise.reject(error),
        () => {},
      );
  }
}

/**
 * Shows the document with the signer's fields.
 * @returns when the first page is drawn
 */
export async function show(config: SigningConfig, host: HTMLElement, bytes: DocumentBytes): Promise<Shown> {
  const { words, pages: count } = config;
  const [{ pdfJs, document }] = await Promise.all([openDocument(config, bytes), loadRules(config)]);
  const { place, onPage } = placeOf(words, count);
  const inRoom = (page: number) => {
    onPage(page);
    tellPage(page, count);
  };
  const pages = await showPages(pdfJs, document, { pageWords: words.page, onPage: inRoom });
  const { viewer, start } = frameOf(words, place, pages);
  const hasFocus = host.contains(window.document.activeElement);
  // Replaces the loading message by the viewer in one step, so that nothing on the page moves.
  host.replaceChildren(viewer);
  if (hasFocus) {
    viewer.tabIndex = -1;
    viewer.focus({ preventScroll: true });
  }
  const fields = config.fields.length > 0 ? showFields(config, pages) : null;
  if (fields) viewer.append(fields.bar);
  // While it is the notary's turn, the page has neither fields nor the consent.
  else if (window.document.getElementById("consent-title")) viewer.append(toConsent(words.toConsent));
  offerText({ document, text: () => loadScript<PageLines>(config.text, "pageLines"), words }, viewer);
  await start();
  followRoom(pages.pageOf);
  if (config.toFirstField && isUntouched()) fields?.toFirst();
  return { document, pages, viewer };
}

/**
 * True if the signer has neither scrolled nor focused anything while the document loaded. Otherwise the page must not
 * scroll.
 */
const isUntouched = (): boolean => scrollY === 0 && document.activeElement === document.body;

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

/**
 * A bar that leads to the consent below the document. The first click scrolls to the consent's title. The second leads
 * to the checkbox below the consent text, which is long on a phone.
 */
function toConsent(text: string): HTMLElement {
  const title = part("consent-title");
  title.tabIndex = -1;
  let wasLed = false;
  const { bar, button } = wayOn(() => {
    if (wasLed && title.getBoundingClientRect().top < innerHeight) return leadTo(part("field-can_read"));
    wasLed = true;
    leadTo(title, { block: "start" });
  });
  button.textContent = text;
  return bar;
}

/** Reads the lines of a page. */
type PageLines = (page: PDFPageProxy) => Promise<string[]>;
type Readable = { document: PDFDocumentProxy; text: () => Promise<PageLines>; words: ViewerWords };

/**
 * Makes the link to the text version show the text in the page, from the same bytes as the drawn pages.
 */
function offerText(readable: Readable, below: HTMLElement): void {
  const link = part<HTMLAnchorElement>("as-text");
  let shown: HTMLElement | null = null;
  link.setAttribute("role", "button");
  link.setAttribute("aria-expanded", "false");
  // Each attempt to show the document replaces the handler of the previous one.
  link.onclick = (event) => {
    event.preventDefault();
    if (!shown) {
      shown = make(
        "div",
        { className: "document-text", tabIndex: -1, hidden: true },
        make("p", { textContent: readable.words.textNote }),
      );
      below.after(shown);
      fill(shown, readable).catch(() => {
        // The script that shows the text can't be loaded. The link opens the service's page with the text in another
        // tab, so that values typed here are not lost.
        shown?.remove();
        link.onclick = null;
        link.removeAttribute("role");
        link.removeAttribute("aria-expanded");
        link.target = "_blank";
        link.focus();
      });
    }
    shown.hidden = !shown.hidden;
    link.setAttribute("aria-expanded", String(!shown.hidden));
    if (!shown.hidden) shown.focus();
  };
}

async function fill(host: HTMLElement, { document, text, words }: Readable): Promise<void> {
  const pageLines = await text();
  for (let n = 1; n <= document.numPages; n++) {
    const title = make("h3", { textContent: say(words.page, { page: n, pages: document.numPages }) });
    const lines = await document
      .getPage(n)
      .then(pageLines)
      .catch(() => []);
    const shown = lines.length > 0 ? lines : [words.noText];
    host.append(title, ...shown.map((textContent) => make("p", { textContent })));
  }
}

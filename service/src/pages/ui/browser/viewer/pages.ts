import type { PDFDocumentProxy } from "pdfjs-dist";
import { make, say } from "../parts.ts";
import { clear, drawPage, measure, type Page, type PageSource } from "./page-drawing.ts";

/**
 * The most pages that stay drawn: the visible page and its neighbors. Phones fail with more than four canvases, and
 * pdf.js needs one of them to measure text.
 */
const maxAlive = 3;

/**
 * Tracks which pages are near the window.
 * @param changed called when a page comes near or leaves, and after scrolling
 * @param root the scrolling element; null for the window
 */
function nearWindow(pages: readonly Page[], root: HTMLElement | null, changed: () => void) {
  const near = new Set<Page>();
  const byBox = new Map(pages.map((page) => [page.box as Element, page]));
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        const page = byBox.get(target);
        if (page) near[isIntersecting ? "add" : "delete"](page);
      }
      changed();
    },
    { root, rootMargin: "20% 0px" },
  );
  // Scrolling can bring another page to the middle, although no page has come near or left. So scrolling counts as a
  // change.
  const scrolled = inFrames(changed);
  const scroller = root ?? window;
  return {
    near,
    start(): void {
      scroller.addEventListener("scroll", scrolled, { passive: true });
      for (const { box } of pages) observer.observe(box);
    },
    stop(): void {
      scroller.removeEventListener("scroll", scrolled);
      observer.disconnect();
      near.clear();
    },
  };
}

/**
 * The pages to draw, most important first: those nearest to the middle of the window, and the page to which the signer
 * will move next.
 */
function pagesToDraw(near: ReadonlySet<Page>, ahead: Page | undefined): Page[] {
  const middle = innerHeight / 2;
  const distance = ({ box }: Page) => {
    const { top, bottom } = box.getBoundingClientRect();
    return Math.max(top - middle, middle - bottom, 0);
  };
  const seen = [...near].sort((a, b) => distance(a) - distance(b)).slice(0, maxAlive);
  return !ahead || seen.includes(ahead) ? seen : [...seen.slice(0, maxAlive - 1), ahead];
}

/**
 * The pages of a document, one below the other. Pages near the window are drawn; the others are empty containers of the
 * same size.
 */
export async function showPages(
  { TextLayer }: Pick<PageSource, "TextLayer">,
  document: PDFDocumentProxy,
  { pageWords, onPage, root = null }: { pageWords: string; onPage: (n: number) => void; root?: HTMLElement | null },
) {
  const count = document.numPages;
  const list = make("div", { className: "viewer-pages" });
  const pages = Array.from({ length: count }, (_, index): Page => {
    const box = make("div", { className: "viewer-page" });
    box.setAttribute("role", "article");
    box.setAttribute("aria-label", say(pageWords, { page: index + 1, pages: count }));
    return { n: index + 1, box, drawing: null, drawnAt: Number.POSITIVE_INFINITY };
  });
  const first = await document.getPage(1);
  const source = { TextLayer, page: (n: number) => (n === 1 ? Promise.resolve(first) : document.getPage(n)) };
  for (const { box } of pages) measure(box, first);
  list.append(...pages.map(({ box }) => box));

  const visible = nearWindow(pages, root, () => void draw());
  let scale = 1;
  let ahead: Page | undefined;
  let isDrawing = false;
  const tellPage = whenOther(onPage);

  const wanted = () => pagesToDraw(visible.near, ahead);

  async function draw(): Promise<void> {
    tidy();
    if (isDrawing) return;
    isDrawing = true;
    try {
      for (;;) {
        // The person may have scrolled while the last page was drawn, so the choice of pages is updated.
        tidy();
        const page = wanted().find(({ drawing }) => drawing?.scale !== scale);
        if (!page) break;
        await drawPage(source, page, scale);
      }
    } finally {
      isDrawing = false;
    }
  }

  function tidy(): void {
    const wantedPages = wanted();
    if (wantedPages[0] && visible.near.size > 0) tellPage(wantedPages[0].n);
    for (const page of pages) if (page.drawing && !wantedPages.includes(page)) clear(page);
  }

  return {
    list,
    /** Width of the first page in points. */
    width: first.getViewport({ scale: 1 }).width,
    pageOf: (n: number): HTMLElement => (pages[n - 1] ?? (pages[0] as Page)).box,
    drawnAt: (n: number): number => pages[n - 1]?.drawnAt ?? Number.POSITIVE_INFINITY,
    keepAhead(n: number): void {
      ahead = pages[n - 1];
      if (visible.near.size > 0) void draw();
    },
    /** Draws the pages at another scale. Until a page is drawn again, its old drawing is stretched. */
    resize(to: number): Promise<void> {
      scale = to;
      return draw();
    },
    /** Stops the drawing, and releases the memory of the pages. */
    stop(): void {
      visible.stop();
      ahead = undefined;
      for (const page of pages) clear(page);
    },
    async start(at: number): Promise<void> {
      scale = at;
      const [page] = pages;
      if (page) await drawPage(source, page, scale);
      visible.start();
    },
  };
}

/** Wraps a function so that it is called only when the number differs from that of the last call. */
function whenOther(tell: (n: number) => void): (n: number) => void {
  let last: number | undefined;
  return (n) => {
    if (n === last) return;
    last = n;
    tell(n);
  };
}

/** Wraps work so that many calls between two frames of the browser run it once, at the next frame. */
function inFrames(work: () => void): () => void {
  let isQueued = false;
  return () => {
    if (isQueued) return;
    isQueued = true;
    requestAnimationFrame(() => {
      isQueued = false;
      work();
    });
  };
}

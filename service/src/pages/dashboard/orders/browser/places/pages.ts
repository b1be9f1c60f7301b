import { make, setNumbers } from "../../../../ui/browser/parts.ts";
import { showPages } from "../../../../ui/browser/viewer/pages.ts";
import { placeOf } from "../../../../ui/browser/viewer/tools.ts";
import type { OpenDocument } from "./opened.ts";

const pageWords = "Page {page} of {pages}";
const zooms = [1, 1.25, 1.5, 2, 3];
/** The largest width of a page, in CSS pixels. A wider page is not easier to work on. */
const widestPage = 860;

/** Shows the pages one below the other in a scroll box. Only the pages near its middle are drawn. */
export async function showScroller(opened: OpenDocument) {
  const { pdfJs, document: pdf, pageSize, sizesRead } = opened;
  const scroller = make("div", { className: "place-scroller viewer", tabIndex: 0 });
  scroller.setAttribute("role", "region");
  scroller.setAttribute("aria-label", "Pages");
  let current = 1;
  const { place, onPage } = placeOf({ page: pageWords }, pdf.numPages);
  const pages = await showPages(pdfJs, pdf, {
    pageWords,
    root: scroller,
    onPage(page) {
      current = page;
      onPage(page);
    },
  });
  onPage(1);
  scroller.append(pages.list);
  void sizesRead.then(() => {
    for (let page = 1; page <= pdf.numPages; page++) {
      const { width, height } = pageSize(page);
      setNumbers(pages.pageOf(page), { "page-width": width, "page-height": height });
    }
  });

  let zoomed = 0;
  let shownWidth = 0;
  function fit(): number {
    shownWidth = scroller.clientWidth;
    const room = Math.max(Math.min(shownWidth - 24, widestPage), 100);
    const scale = (room / pages.width) * (zooms[zoomed] ?? 1);
    setNumbers(scroller, { scale });
    return scale;
  }
  /** Resizes the pages. The point in the middle of the window stays there. */
  function resize(): void {
    const middle = (scroller.scrollTop + scroller.clientHeight / 2) / Math.max(scroller.scrollHeight, 1);
    const scale = fit();
    scroller.scrollTop = middle * scroller.scrollHeight - scroller.clientHeight / 2;
    void pages.resize(scale);
  }
  const observer = new ResizeObserver(() => {
    if (scroller.clientWidth !== shownWidth) resize();
  });

  return {
    scroller,
    place,
    pageBox: pages.pageOf,
    /** The page in view, counted from 1. */
    current: () => current,
    pageAt(x: number, y: number): number | null {
      const frame = scroller.getBoundingClientRect();
      if (x < frame.left || x > frame.right || y < frame.top || y > frame.bottom) return null;
      let [low, high] = [1, pdf.numPages];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (pages.pageOf(middle).getBoundingClientRect().bottom < y) low = middle + 1;
        else high = middle;
      }
      const box = pages.pageOf(low).getBoundingClientRect();
      return x >= box.left && x <= box.right && y >= box.top && y <= box.bottom ? low : null;
    },
    zoom(by: number): void {
      zoomed = Math.min(Math.max(zoomed + by, 0), zooms.length - 1);
      resize();
    },
    /** Draws the first page, and the others as they come into view. */
    async start(): Promise<void> {
      await pages.start(fit());
      observer.observe(scroller);
    },
    stop(): void {
      observer.disconnect();
      pages.stop();
    },
  };
}

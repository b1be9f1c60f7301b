import { make, say, setNumbers } from "../parts.ts";
import type { showPages } from "./pages.ts";

const zooms = [1, 1.25, 1.5, 2, 3, 4];
// The largest width of a page, in CSS pixels. A wider page is not easier to read.
const widestPage = 900;

/** The viewer's words; `{page}` and `{pages}` are filled in. */
export type ViewerWords = Readonly<Record<"region" | "page" | "smaller" | "larger", string>>;

type Pages = Awaited<ReturnType<typeof showPages>>;

/** Creates the viewer: the document's pages, the buttons that change their size, and the number of the current page. */
export function frameOf(words: ViewerWords, place: HTMLElement, pages: Pages) {
  const { list } = pages;
  list.tabIndex = 0;
  list.setAttribute("role", "region");
  list.setAttribute("aria-label", words.region);
  const viewer = make("div", { className: "viewer" });
  const size = sizing(viewer, list, pages);
  const smaller = zoomButton("\u2212", words.smaller, () => size.zoom(-1));
  const larger = zoomButton("+", words.larger, () => size.zoom(1));
  viewer.append(make("div", { className: "viewer-tools no-print" }, smaller, larger, place), list);
  return {
    viewer,
    /** Draws the first page, and the others as they come into view. */
    async start(): Promise<void> {
      await pages.start(size.fit());
      size.follow();
    },
  };
}

/** The element that shows the current page's number, and the function that sets the number. */
export function placeOf(words: Pick<ViewerWords, "page">, pages: number) {
  const place = make("span", { className: "viewer-place" });
  const onPage = (page: number) => {
    place.textContent = say(words.page, { page, pages });
  };
  return { place, onPage };
}

function zoomButton(sign: string, label: string, click: () => void): HTMLButtonElement {
  const button = make("button", { type: "button", textContent: sign });
  button.setAttribute("aria-label", label);
  button.title = label;
  button.addEventListener("click", click);
  return button;
}

/**
 * Computes the scale of the pages: the first page fills the available width times the zoom. `follow` updates the scale
 * when that width changes.
 */
function sizing(viewer: HTMLElement, list: HTMLElement, pages: Pick<Pages, "width" | "resize">) {
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

/**
 * Changes the size of the pages. If their top is above the window, scrolls so that the reader stays at the same place
 * of the document.
 */
function keepingPlace(list: HTMLElement, change: () => void): void {
  const before = list.getBoundingClientRect();
  const share = before.top < 0 && before.height > 0 ? -before.top / before.height : 0;
  change();
  if (share === 0) return;
  const after = list.getBoundingClientRect();
  scrollBy(0, after.top + share * after.height);
}

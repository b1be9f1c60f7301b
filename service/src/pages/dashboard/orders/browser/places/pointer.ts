import { make, setNumbers } from "../../../../ui/browser/parts.ts";
import { type Box, boxesOf, type Kind, type Rect, type Size, startSize, within } from "./field.ts";
import { fitSize, type Line, ontoLine, type SizeRules, snapMove, snapResize } from "./geometry.ts";
import { bring, follow, type Point, pointOf } from "./gesture.ts";
import type { openOverlay } from "./overlay.ts";
import type { Store } from "./store.ts";

/** The view that shows the pages. */
type PageView = {
  readonly scroller: HTMLElement;
  readonly pageBox: (page: number) => HTMLElement;
  readonly pageSize: (page: number) => Size;
  /** The page that contains a point of the window. */
  readonly pageAt: (x: number, y: number) => number | null;
};

export type PointerDeps = {
  readonly view: PageView;
  readonly store: Store;
  readonly overlay: ReturnType<typeof openOverlay>;
  readonly rules: SizeRules;
  /** The writing lines that the search has found on a page so far. */
  readonly lines: (page: number) => readonly Line[];
  /** The kind of field that a click on a page adds; null when no tool is selected. */
  readonly tool: () => Kind | null;
  /** Puts a new field on a page. */
  readonly put: (kind: Kind, page: number, rect: Rect) => void;
};

/** Edges snap together when they are closer than this, in CSS pixels. */
const snapPixels = 5;

/** CSS pixels per point of the page, at the current size. */
const scaleOf = ({ pageBox, pageSize }: PageView, page: number): number =>
  pageBox(page).getBoundingClientRect().width / pageSize(page).width || 1;

/** Converts a point in the window to a position on a page, in the page's points. */
function onPage(view: PageView, page: number, { x, y }: Point) {
  const { left, top } = view.pageBox(page).getBoundingClientRect();
  const scale = scaleOf(view, page);
  return { x: (x - left) / scale, y: (y - top) / scale, scale };
}

/** The rectangles on a page, except that of the box `but`. */
const rectsOn = (store: Store, page: number, but?: Box): Rect[] =>
  store
    .fields()
    .filter((field) => field.page === page)
    .flatMap(boxesOf)
    .filter((box) => box.field.id !== but?.field.id || box.option !== but.option)
    .map(({ rect }) => rect);

/**
 * Handles mouse, pen and touch: moves and resizes fields, and adds a field of the selected tool where the page is
 * clicked.
 */
export function followPointers(deps: PointerDeps): void {
  const { view, store, overlay } = deps;

  view.scroller.addEventListener("pointerdown", (event) => {
    const box = overlay.boxAt(event.target);
    if (event.button !== 0 || !box) return;
    const isHandle = event.target instanceof Element && event.target.closest(".placed-handle") !== null;
    store.select({ id: box.field.id, option: box.option });
    const element = overlay.elementOf(box);
    if (!element) return;
    event.preventDefault();
    element.focus({ preventScroll: true });
    if (isHandle) resize(deps, box, element, event);
    else move(deps, box, element, event);
  });

  // The point where the pointer was released. A click event has this point only in whole pixels.
  let up: Point = { x: 0, y: 0 };
  view.scroller.addEventListener("pointerup", (event) => {
    up = pointOf(event);
  });
  view.scroller.addEventListener("click", (event) => {
    if (overlay.boxAt(event.target)) return;
    const kind = deps.tool();
    if (kind === null) store.select(null);
    else drop(deps, kind, up, { free: event.altKey, isClick: true });
  });
}

/** Allows a tool to be dragged from its button onto a page. */
export function bringTool(deps: PointerDeps, kind: Kind, button: HTMLElement): void {
  const { view } = deps;
  const ghost = make("div", { className: `placed-ghost ${kind}` });
  const { width, height } = startSize(kind);
  bring(button, {
    ghost,
    move: ({ x, y }) => setNumbers(ghost, { x, y, width, height, scale: scaleOf(view, view.pageAt(x, y) ?? 1) }),
    drop: (point, free) => drop(deps, kind, point, { free, isClick: false }),
  });
}

/** The kinds of fields that do not snap to writing lines when they are added or moved. */
const marks: ReadonlySet<Kind> = new Set(["checkbox", "radio", "multiple"] as const);

type Drop = {
  /** True if the Alt key turns snapping off. */
  readonly free: boolean;
  /**
   * True if the person clicked the place, and did not drag the tool there. A click shows no preview of the field's
   * edges. So the distance to a writing line is then measured from the field's middle.
   */
  readonly isClick: boolean;
};

/**
 * Places a new field near a point of the window; does nothing outside the pages. If a writing line is near, the field
 * is placed on the line, unless its kind is in `marks`. Otherwise the field's middle is placed at the point. The field
 * then moves if its edges snap to other fields, or if it would leave the page. With `free`, it snaps to nothing.
 */
function drop(
  { view, store, rules, lines, put }: PointerDeps,
  kind: Kind,
  point: Point,
  { free, isClick }: Drop,
): void {
  const page = view.pageAt(point.x, point.y);
  if (page === null) return;
  const { x, y, scale } = onPage(view, page, point);
  const size = view.pageSize(page);
  const own = fitSize(kind, startSize(kind), size, rules);
  const rect = within({ x: x - own.width / 2, y: y - own.height / 2, ...own }, size);
  const onLine = free || marks.has(kind) ? null : ontoLine(rect, lines(page), { isClick });
  if (onLine) {
    const fitted = { ...onLine, ...fitSize(kind, onLine, size, rules) };
    put(kind, page, within({ ...fitted, y: onLine.y + onLine.height - fitted.height }, size));
    return;
  }
  const snapped = free ? rect : snapMove(rect, rectsOn(store, page), snapPixels / scale).rect;
  put(kind, page, within(snapped, size));
}

function move({ view, store, overlay, lines }: PointerDeps, box: Box, element: HTMLElement, event: PointerEvent): void {
  const { page } = box.field;
  const start = onPage(view, page, pointOf(event));
  const grab = { x: start.x - box.rect.x, y: start.y - box.rect.y };
  let at = { page, rect: box.rect };
  follow(element, event, view.scroller, {
    step(point, free) {
      const to = view.pageAt(point.x, point.y) ?? at.page;
      const { x, y, scale } = onPage(view, to, point);
      const wanted = { ...box.rect, x: x - grab.x, y: y - grab.y };
      const reach = free ? -1 : snapPixels / scale;
      const onto = marks.has(box.field.kind) ? [] : lines(to);
      const { rect, guides } = snapMove(wanted, rectsOn(store, to, box), reach, onto);
      at = { page: to, rect: within(rect, view.pageSize(to)) };
      overlay.showGuides(to, guides);
      // The element remains a child of its first page while it is dragged over another page.
      const [home, here] = [view.pageBox(page), view.pageBox(to)].map((each) => each.getBoundingClientRect());
      if (!home || !here) return;
      const first = scaleOf(view, page);
      setNumbers(element, {
        left: (here.left + at.rect.x * scale - home.left) / first,
        top: (here.top + at.rect.y * scale - home.top) / first,
      });
    },
    end(isDone) {
      overlay.showGuides(page, []);
      if (isDone) store.place(box, at.page, at.rect);
      else overlay.refresh();
    },
  });
}

function resize(deps: PointerDeps, box: Box, element: HTMLElement, event: PointerEvent): void {
  const { view, store, overlay, rules } = deps;
  const { field, rect: before } = box;
  const start = onPage(view, field.page, pointOf(event));
  const size = view.pageSize(field.page);
  let at = before;
  follow(element, event, view.scroller, {
    step(point, free) {
      const { x, y, scale } = onPage(view, field.page, point);
      const wanted = { ...before, width: before.width + x - start.x, height: before.height + y - start.y };
      const reach = free ? -1 : snapPixels / scale;
      const { rect, guides } = snapResize(wanted, rectsOn(store, field.page, box), reach);
      const fitted = fitSize(field.kind, rect, size, rules);
      const room = { width: size.width - before.x, height: size.height - before.y };
      at = { ...before, width: Math.min(fitted.width, room.width), height: Math.min(fitted.height, room.height) };
      overlay.showGuides(field.page, guides);
      setNumbers(element, { width: at.width, height: at.height });
    },
    end(isDone) {
      overlay.showGuides(field.page, []);
      if (isDone) store.place(box, field.page, at);
      else overlay.refresh();
    },
  });
}

/** A point in the window, in CSS pixels. */
export type Point = { readonly x: number; readonly y: number };

/** The least movement of a drag, in CSS pixels. A shorter movement is a click. */
const clickPixels = 4;
/** The pages scroll while the pointer is within this distance, in CSS pixels, of the edge of the scrolling area. */
const edgePixels = 48;
const scrollPixels = 12;

export const pointOf = ({ clientX, clientY }: PointerEvent): Point => ({ x: clientX, y: clientY });
const isFar = (a: Point, b: Point): boolean => Math.hypot(a.x - b.x, a.y - b.y) > clickPixels;

export type Gesture = {
  /**
   * Called once per frame during a drag, and once more when it ends by a release.
   * @param free true if the Alt key turns snapping off
   */
  readonly step: (point: Point, free: boolean) => void;
  /**
   * Called once, when the pointer is released or the drag is canceled.
   * @param isDone true if the pointer was dragged and the drag was not canceled
   */
  readonly end: (isDone: boolean) => void;
};

/**
 * Tracks one pointer from the moment it is pressed on a field until it is released. The Escape key cancels the drag.
 */
export function follow(element: HTMLElement, down: PointerEvent, scroller: HTMLElement, { step, end }: Gesture): void {
  const start = pointOf(down);
  let last = start;
  let free = false;
  let isDragged = false;
  let frame = 0;
  const stop = new AbortController();
  const { signal } = stop;
  element.setPointerCapture(down.pointerId);

  const tick = () => {
    const { top, bottom } = scroller.getBoundingClientRect();
    if (last.y < top + edgePixels) scroller.scrollTop -= scrollPixels;
    if (last.y > bottom - edgePixels) scroller.scrollTop += scrollPixels;
    step(last, free);
    frame = requestAnimationFrame(tick);
  };
  const finish = (isUp: boolean) => {
    stop.abort();
    cancelAnimationFrame(frame);
    element.classList.remove("dragged");
    if (isDragged && isUp) step(last, free);
    end(isDragged && isUp);
  };

  element.addEventListener(
    "pointermove",
    (event) => {
      last = pointOf(event);
      free = event.altKey;
      if (isDragged || !isFar(start, last)) return;
      isDragged = true;
      element.classList.add("dragged");
      frame = requestAnimationFrame(tick);
    },
    { signal },
  );
  element.addEventListener("pointerup", () => finish(true), { signal });
  element.addEventListener("pointercancel", () => finish(false), { signal });
  element.addEventListener(
    "keydown",
    (event) => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      event.stopPropagation();
      finish(false);
    },
    { signal },
  );
}

export type Bringing = {
  readonly ghost: HTMLElement;
  readonly move: (point: Point) => void;
  readonly drop: (point: Point, free: boolean) => void;
};

/**
 * Lets a mouse or a pen drag a tool from its button onto a page. With a finger, dragging scrolls the toolbar, and a tap
 * selects a tool.
 */
export function bring(button: HTMLElement, { ghost, move, drop }: Bringing): void {
  button.addEventListener("pointerdown", (down) => {
    if (down.button !== 0 || down.pointerType === "touch") return;
    const start = pointOf(down);
    let isDragged = false;
    const stop = new AbortController();
    const { signal } = stop;
    const finish = (event: PointerEvent | null) => {
      stop.abort();
      ghost.remove();
      if (isDragged && event) drop(pointOf(event), event.altKey);
    };
    document.addEventListener(
      "pointermove",
      (event) => {
        const point = pointOf(event);
        if (!isDragged && !isFar(start, point)) return;
        if (!isDragged) button.parentElement?.append(ghost);
        isDragged = true;
        move(point);
      },
      { signal },
    );
    document.addEventListener("pointerup", finish, { signal });
    document.addEventListener("pointercancel", () => finish(null), { signal });
  });
}

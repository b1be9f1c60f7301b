/**
 * How long clicks are ignored after the page has moved under the pointer. A double click takes up to 500 ms on Windows,
 * and a double tap up to 300 ms on phones. People with a tremor need longer.
 */
export const settleMs = 700;

/**
 * The time of a click or tap, by the clock of `performance.now()`. The time of the event counts, because a slow page
 * handles the second tap of a double tap late. Some browsers use another clock for events; for them, the result is the
 * current time, so that Sign never stays blocked.
 */
export function timeOf({ timeStamp }: Event): number {
  const now = performance.now();
  return timeStamp > now - 5_000 && timeStamp <= now + 50 ? timeStamp : now;
}

/** For each element: the time from which clicks inside the element are accepted again. */
const settledAt = new Map<Element, number>();

/**
 * Ignores clicks for a moment after the page has moved, because the second tap of a double tap may hit another element.
 * The time begins with the first frame that shows the new position.
 * @param where the button, if only one button has moved; by default, clicks on all fields and forms are ignored
 */
export function settle(where: Element = document.documentElement): void {
  // The class sets `pointer-events: none`, so an ignored click shows no pressed state.
  where.classList.add("settling");
  settledAt.set(where, Number.POSITIVE_INFINITY);
  requestAnimationFrame(() => {
    if (!settledAt.has(where)) return;
    const end = performance.now() + settleMs;
    settledAt.set(where, end);
    setTimeout(() => {
      if (settledAt.get(where) === end) where.classList.remove("settling");
    }, settleMs);
  });
}

function release(where: Element): void {
  settledAt.delete(where);
  where.classList.remove("settling");
}

type Lead = { block?: "center" | "start"; focus?: HTMLElement };

/** Scrolls the target into the window at once. Moves the focus to the target, or to `focus` if it is given. */
export function leadTo(target: HTMLElement, { block = "center", focus = target }: Lead = {}): void {
  target.scrollIntoView({ block, inline: "nearest" });
  focus.focus({ preventScroll: true });
  settle();
}

/** Ignores the clicks for which `isRefused` returns true: no other handler receives them. */
export function refusePresses(on: EventTarget, isRefused: (press: Event) => boolean): void {
  const look = (press: Event) => {
    if (!isRefused(press)) return;
    press.preventDefault();
    press.stopImmediatePropagation();
  };
  on.addEventListener("click", look, { capture: true });
}

/**
 * True if a click must be ignored: it is on a field, a form or the bar, and the page or button moved shortly before.
 */
function isUnsettled(press: MouseEvent): boolean {
  const { target, detail } = press;
  if (!(target instanceof Element) || !target.closest(".viewer-field, .viewer-bar, form")) return false;
  return [...settledAt].some(([where, end]) => {
    // A click by keyboard hits the focused element, even if that element has moved. So it is accepted if only a button
    // has moved. It is ignored while the whole page settles, because `leadTo` may have moved the focus.
    const isByKey = detail === 0 && where !== document.documentElement;
    return timeOf(press) < end && where.contains(target) && !isByKey;
  });
}

/**
 * Ignores clicks on fields, forms and the bar for a moment after the page has moved. A held Enter key counts only once:
 * its repeats are ignored, except in a text area. Any key but Enter and space ends the wait, so that fast typing in a
 * dialog is not ignored.
 */
export function guardPresses(): void {
  refusePresses(document, (press) => isUnsettled(press as MouseEvent));
  // An ignored tap would move the focus away from the place to which the page has led.
  const keepFocus = (press: MouseEvent) => {
    if (timeOf(press) < (settledAt.get(document.documentElement) ?? 0)) press.preventDefault();
  };
  document.addEventListener("mousedown", keepFocus, { capture: true });
  document.addEventListener(
    "keydown",
    (event) => {
      const { key, repeat, target } = event;
      if (key !== "Enter" && key !== " ") for (const where of settledAt.keys()) release(where);
      else if (repeat && key === "Enter" && !(target instanceof HTMLTextAreaElement)) event.preventDefault();
    },
    { capture: true },
  );
}

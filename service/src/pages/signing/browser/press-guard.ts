/**
 * How long presses are refused after the page moved under them. Windows counts two clicks within 500 ms as a double
 * click, phones count 300 ms; somebody with a tremor needs longer.
 */
export const settleMs = 700;

/**
 * When the finger pressed, by the clock of `performance.now()`: a slow page handles the second tap of a double tap late.
 * Some browsers stamp events by another clock. There it is the present time, because Sign must not stay dead.
 */
export function timeOf({ timeStamp }: Event): number {
  const now = performance.now();
  return timeStamp > now - 5_000 && timeStamp <= now + 50 ? timeStamp : now;
}

/** When presses count again, keyed by the element around them. */
const settledAt = new Map<Element, number>();

/**
 * Refuses presses for a moment, because the page has moved: the second tap of a double tap may hit what is now below
 * it. The time begins with the frame that shows the new place.
 * @param where the only button that moved; by default all fields and forms
 */
export function settle(where: Element = document.documentElement): void {
  // The class sets `pointer-events: none`, so a refused press shows no pressed state.
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

/** Scrolls the element into the window at once, and moves the focus there, or to the other element `focus`. */
export function leadTo(target: HTMLElement, { block = "center", focus = target }: Lead = {}): void {
  target.scrollIntoView({ block, inline: "nearest" });
  focus.focus({ preventScroll: true });
  settle();
}

/** Discards the refused presses before any other handler receives them. */
export function refusePresses(on: EventTarget, isRefused: (press: Event) => boolean): void {
  const look = (press: Event) => {
    if (!isRefused(press)) return;
    press.preventDefault();
    press.stopImmediatePropagation();
  };
  on.addEventListener("click", look, { capture: true });
}

/** Whether the page moved shortly before the press. */
function isUnsettled(press: MouseEvent): boolean {
  const { target, detail } = press;
  if (!(target instanceof Element) || !target.closest(".viewer-field, .viewer-bar, form")) return false;
  return [...settledAt].some(([where, end]) => {
    // A key presses what has the focus, wherever that was moved to.
    const isByKey = detail === 0 && where !== document.documentElement;
    return timeOf(press) < end && where.contains(target) && !isByKey;
  });
}

/**
 * Refuses presses on fields, forms and the bar while the page settles. The repeats of a held Enter key never press
 * anything: the key must be released first. Any other key ends the wait, so that fast typing in a sheet is not refused.
 */
export function guardPresses(): void {
  refusePresses(document, (press) => isUnsettled(press as MouseEvent));
  // The tap that falls through would take the focus from the place to which the page has led.
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

// Runs on every page, before the browser paints it.
import { storage } from "./parts.ts";

const { lang } = document.documentElement;
const utc: Intl.DateTimeFormatOptions = { timeStyle: "short", hourCycle: "h23", timeZone: "UTC" };
const formats = {
  long: new Intl.DateTimeFormat(lang, {
    year: "numeric",
    month: "long",
    day: "numeric",
    hour: "numeric",
    minute: "2-digit",
    timeZoneName: "short",
  }),
  short: new Intl.DateTimeFormat(lang, {
    year: "numeric",
    month: "short",
    day: "numeric",
    hour: "numeric",
    minute: "2-digit",
    timeZoneName: "short",
  }),
  utc: new Intl.DateTimeFormat(lang, { dateStyle: "long", ...utc }),
  utcHour: new Intl.DateTimeFormat(lang, utc),
};

/**
 * Shows each `<time>` in the reader's time zone, now and whenever the page changes. Its title contains the time in UTC.
 */
function startLocalTimes(): void {
  if (isUtc()) return;
  document.documentElement.dataset["localTimes"] = "";
  showWithin(document);
  // The observer runs before the browser paints the changes. Writing a time is itself a change, but a time that is
  // already right is not written again. So this can't loop.
  new MutationObserver((changes) => {
    for (const { target } of changes)
      showWithin(target instanceof Element ? target : (target.parentElement ?? document));
  }).observe(document, { childList: true, characterData: true, subtree: true });
}

/** True if the reader's time zone equals UTC in winter and in summer. */
const isUtc = (): boolean => [0, 6].every((month) => new Date(2026, month).getTimezoneOffset() === 0);

function showWithin(part: Element | Document): void {
  if (part instanceof HTMLTimeElement) show(part);
  for (const element of part.querySelectorAll("time")) show(element);
}

function show(element: HTMLTimeElement): void {
  const at = new Date(element.dateTime);
  const exact = `${formats.utc.format(at)} UTC`;
  const own = ownTime(element, at, exact);
  if (element.textContent === own) return;
  element.textContent = own;
  element.title = exact;
}

function ownTime({ dataset }: HTMLTimeElement, at: Date, exact: string): string {
  if ("short" in dataset) return formats.short.format(at);
  const long = formats.long.format(at);
  return "plain" in dataset ? long : `${long} (${utcPart(at, exact)})`;
}

/** The time in UTC. It includes the day only if the day in UTC differs from the reader's day. */
const utcPart = (at: Date, exact: string): string =>
  at.getDate() === at.getUTCDate() ? `${formats.utcHour.format(at)} UTC` : exact;

/** Makes print buttons work, and puts the date on printed pages. */
function startPrinting(): void {
  document.addEventListener("click", ({ target }) => {
    if (target instanceof Element && target.closest("[data-print]")) print();
  });
  addEventListener("beforeprint", sayDate);
  // Also writes the date at once, because a reader may see the print layout without printing, for example with emulated
  // media.
  addEventListener("DOMContentLoaded", sayDate);
}

function sayDate(): void {
  const printed = document.querySelector<HTMLElement>(".printed-at");
  if (!printed) return;
  const at = new Date().toLocaleString(document.documentElement.lang, { dateStyle: "long", timeStyle: "long" });
  printed.textContent = `${printed.dataset["said"]} ${at}`;
}

/**
 * On a phone, the side navigation is one line that scrolls sideways. Scrolls this line to the current link before the
 * first paint.
 */
function startSideNav(): void {
  addEventListener("DOMContentLoaded", () => {
    const current = document.querySelector<HTMLElement>(".side-nav [aria-current]");
    const line = current?.closest("ul");
    if (!current || !line) return;
    const [shown, all] = [current.getBoundingClientRect(), line.getBoundingClientRect()];
    line.scrollLeft += shown.left + shown.width / 2 - (all.left + all.width / 2);
  });
}

/**
 * At sign-out, deletes the tab's storage, which contains typed values. The next person at this browser must not find
 * them.
 */
function startSignOut(): void {
  document.addEventListener("submit", ({ target }) => {
    if (target instanceof HTMLFormElement && target.getAttribute("action") === "/sign-out")
      storage((tab) => tab.clear());
  });
}

/**
 * Browsers inside mail apps often give pages no camera. This attribute makes pages that need a camera show a notice.
 */
if (!navigator.mediaDevices) document.documentElement.dataset["noCamera"] = "";
startLocalTimes();
startPrinting();
startSideNav();
startSignOut();

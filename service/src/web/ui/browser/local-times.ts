// Times in the reader's zone. What the page says in UTC stays in the title, and beside an exact one.

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
  short: new Intl.DateTimeFormat(lang, { dateStyle: "medium", timeStyle: "short" }),
  utc: new Intl.DateTimeFormat(lang, { dateStyle: "long", ...utc }),
  utcHour: new Intl.DateTimeFormat(lang, utc),
};

/** Shows each `<time>` as its reader would say it, now and whenever the page changes. */
export function startLocalTimes(): void {
  if (isUtc()) return;
  document.documentElement.dataset["localTimes"] = "";
  showWithin(document);
  // Called before the changes are painted; a time that is right already is left alone, so it ends.
  new MutationObserver((changes) => {
    for (const { target } of changes)
      showWithin(target instanceof Element ? target : (target.parentElement ?? document));
  }).observe(document, { childList: true, characterData: true, subtree: true });
}

/** In winter and in summer. */
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
  return "plain" in dataset ? long : `${long} (${utcBeside(at, exact)})`;
}

/** The day stands once, unless it is another one in UTC. */
const utcBeside = (at: Date, exact: string): string =>
  at.getDate() === at.getUTCDate() ? `${formats.utcHour.format(at)} UTC` : exact;

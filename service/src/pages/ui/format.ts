import type { Language } from "../../kernel/platform/languages.ts";
import { type Html, html } from "./render.ts";

export { shortCode } from "../../kernel/platform/text.ts";

const usd = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD" });
/**
 * The formats of a time in the reader's time zone. "exact" adds the time in UTC, for comparisons with evidence. "plain"
 * is the same without UTC. "short" is for tables.
 */
type TimeForm = "exact" | "plain" | "short";

const clock = { timeStyle: "short", hourCycle: "h23", timeZone: "UTC" } as const;
const styles = {
  long: { dateStyle: "long", ...clock },
  short: { dateStyle: "medium", ...clock },
  day: { dateStyle: "medium", timeZone: "UTC" },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;
const formats = new Map<string, Intl.DateTimeFormat>();

function written(at: Date, style: keyof typeof styles, language: Language): string {
  const key = `${language} ${style}`;
  const format = formats.get(key) ?? new Intl.DateTimeFormat(language, styles[style]);
  formats.set(key, format);
  return format.format(at);
}

/** The day of a time, in UTC, as text. */
export const day = (at: Date, language: Language = "en"): string => written(at, "day", language);

/** The day of a time in a time zone, with the zone's name: `Oct 31, 2026, EDT`. */
export const dayIn = (at: Date, zone: string, language: Language = "en"): string =>
  new Intl.DateTimeFormat(language, {
    year: "numeric",
    month: "short",
    day: "numeric",
    timeZoneName: "short",
    timeZone: zone,
  }).format(at);

/** The minute of a time in a time zone, with the zone's name: `Oct 31, 2026, 3:04 PM EDT`. */
export const minuteIn = (at: Date, zone: string): string =>
  new Intl.DateTimeFormat("en", {
    year: "numeric",
    month: "short",
    day: "numeric",
    hour: "numeric",
    minute: "2-digit",
    timeZoneName: "short",
    timeZone: zone,
  }).format(at);

/** USD cents as `$1,234.50`; a negative amount has a true minus sign. */
export const money = (cents: number): string => usd.format(cents / 100).replace("-", "\u2212");

/** Formats an amount that is given in the smallest unit of its currency. */
export const moneyIn = (amount: number, currency: string | null): string =>
  currency?.toLowerCase() === "usd" ? money(amount) : `${amount} (${currency || "no currency"}, smallest unit)`;

/** A time as text, in UTC. */
export const timeText = (at: Date, language: Language = "en"): string => `${written(at, "long", language)} UTC`;

/**
 * A time as readable text in UTC, with the exact time in `datetime`. A script converts the text to the reader's own
 * time zone (`browser/page.ts`).
 */
export const time = (at: Date, language: Language = "en", form: TimeForm = "exact"): Html =>
  html`<time datetime="${at.toISOString()}"${form !== "exact" && html` data-${form}`}>${
    form === "short" ? written(at, "short", language) : timeText(at, language)
  }</time>`;

/** The short format, for tables whose header says that the time is UTC. */
export const shortTime = (at: Date): Html => time(at, "en", "short");

/** The plain format, without the time in UTC. Clients and members of firms don't compare times with evidence. */
export const plainTime = (at: Date, language: Language = "en"): Html => time(at, language, "plain");

/** Marks short times as UTC until a script has converted them to the reader's time zone. */
export const ifUtc = html`<span class="if-utc"> (UTC)</span>`;

/** A phone number's last four digits. */
export const maskPhone = (number: string): string => `•••\u00a0${number.slice(-4)}`;

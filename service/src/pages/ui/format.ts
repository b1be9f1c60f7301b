import type { Language } from "../../kernel/platform/languages.ts";
import { type Html, html } from "./render.ts";

const usd = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD" });
/** Formats of an instant: exact, with UTC next to the reader's time, to compare with evidence; plain; or short, for tables. */
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

/** The day of an instant, in UTC, as a text. */
export const day = (at: Date, language: Language = "en"): string => written(at, "day", language);

/** USD cents as `$1,234.50`; what is taken off has a true minus sign. */
export const money = (cents: number): string => usd.format(cents / 100).replace("-", "\u2212");

/** An amount in the smallest unit of whichever currency. */
export const moneyIn = (amount: number, currency: string | null): string =>
  currency?.toLowerCase() === "usd" ? money(amount) : `${amount} (${currency || "no currency"}, smallest unit)`;

/** An instant as a text, in UTC. */
export const timeText = (at: Date, language: Language = "en"): string => `${written(at, "long", language)} UTC`;

/** An instant, readable, in UTC, with the exact one for machines. In a browser it becomes the reader's own (`browser/local-times.ts`). */
export const time = (at: Date, language: Language = "en", form: TimeForm = "exact"): Html =>
  html`<time datetime="${at.toISOString()}"${form !== "exact" && html` data-${form}`}>${
    form === "short" ? written(at, "short", language) : timeText(at, language)
  }</time>`;

/** In short, for tables: their head says that it is UTC. */
export const shortTime = (at: Date): Html => time(at, "en", "short");

/** For clients, who need no UTC to compare. */
export const plainTime = (at: Date, language: Language): Html => time(at, language, "plain");

/** Marks short times as UTC until a script has made them the reader's own. */
export const ifUtc = html`<span class="if-utc"> (UTC)</span>`;

/** A phone number's last four digits. */
export const maskPhone = (number: string): string => `•••\u00a0${number.slice(-4)}`;

/** The first characters of a code: enough to distinguish orders, too little to open one. */
export const shortCode = (code: string): string => code.slice(0, 6).toUpperCase();

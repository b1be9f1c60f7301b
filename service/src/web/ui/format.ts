import { type Html, html } from "./render.ts";

const usd = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD" });
const utc = new Intl.DateTimeFormat("en-US", {
  dateStyle: "long",
  timeStyle: "short",
  hourCycle: "h23",
  timeZone: "UTC",
});

const shortUtc = new Intl.DateTimeFormat("en-US", {
  dateStyle: "medium",
  timeStyle: "short",
  hourCycle: "h23",
  timeZone: "UTC",
});

const utcDay = new Intl.DateTimeFormat("en-US", { dateStyle: "medium", timeZone: "UTC" });

/** The day of an instant, in UTC, as a text. */
export const day = (at: Date): string => utcDay.format(at);

/** USD cents as `$1,234.50`; what is taken off has a true minus sign. */
export const money = (cents: number): string => usd.format(cents / 100).replace("-", "\u2212");

/** An amount in the smallest unit of whichever currency. */
export const moneyIn = (amount: number, currency: string | null): string =>
  currency?.toLowerCase() === "usd" ? money(amount) : `${amount} (${currency || "no currency"}, smallest unit)`;

/** An instant as a text, in UTC. */
export const timeText = (at: Date): string => `${utc.format(at)} UTC`;

/** An instant, readable, in UTC, with the exact one for machines. In a browser it becomes the reader's own (`browser/local-times.ts`). */
export const time = (at: Date): Html => html`<time datetime="${at.toISOString()}">${timeText(at)}</time>`;

/** The same in short, for tables: their head says that it is UTC. */
export const shortTime = (at: Date): Html =>
  html`<time datetime="${at.toISOString()}" data-short>${shortUtc.format(at)}</time>`;

/** What short times are, beside them, as long as no script made them the reader's own. */
export const ifUtc = html`<span class="if-utc"> (UTC)</span>`;

/** A phone number's last four digits. */
export const maskPhone = (number: string): string => `•••\u00a0${number.slice(-4)}`;

/** The first characters of a code: enough to distinguish orders, too little to open one. */
export const shortCode = (code: string): string => code.slice(0, 6).toUpperCase();

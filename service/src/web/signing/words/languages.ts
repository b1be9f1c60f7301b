import { type Language, languages } from "../../../envelopes/envelopes.ts";
import { type Html, html } from "../../ui/render.ts";
import { en } from "./en.ts";
import { es } from "./es.ts";
import type { Words } from "./words.ts";

const all: Readonly<Record<Language, Words>> = { en, es };

export const wordsOf = (language: Language): Words => all[language];

export const isLanguage = (text: string | undefined): text is Language => languages.some((one) => one === text);

const dates = new Map(
  languages.map((language) => [
    language,
    new Intl.DateTimeFormat(language, { dateStyle: "long", timeStyle: "short", hourCycle: "h23", timeZone: "UTC" }),
  ]),
);

/** An instant as readers of the language write it, in UTC, with the exact one for machines. */
export const timeIn = (language: Language, at: Date): Html =>
  html`<time datetime="${at.toISOString()}">${dates.get(language)?.format(at)} UTC</time>`;

/** A number of bytes: `340 kB`, `1.2 MB`. */
export function sizeIn(language: Language, bytes: number): string {
  const [value, unit] = bytes < 999_500 ? [bytes / 1000, "kilobyte"] : [bytes / 1_000_000, "megabyte"];
  const maximumFractionDigits = value < 10 && unit === "megabyte" ? 1 : 0;
  return new Intl.NumberFormat(language, { style: "unit", unit, maximumFractionDigits }).format(value);
}

import { type Language, languages } from "../../../envelopes/envelopes.ts";
import { type Html, html } from "../render.ts";

type Formats = Readonly<Record<"instant" | "day", Intl.DateTimeFormat>>;

const formats = Object.fromEntries(
  languages.map((language): [Language, Formats] => [
    language,
    {
      instant: new Intl.DateTimeFormat(language, {
        dateStyle: "long",
        timeStyle: "short",
        hourCycle: "h23",
        timeZone: "UTC",
      }),
      day: new Intl.DateTimeFormat(language, { dateStyle: "medium", timeZone: "UTC" }),
    },
  ]),
) as Record<Language, Formats>;

/** An instant as readers of the language write it, in UTC, with the exact one for machines. */
export const timeIn = (language: Language, at: Date): Html =>
  html`<time datetime="${at.toISOString()}">${formats[language].instant.format(at)} UTC</time>`;

/** The day of an instant, in UTC, as a text. */
export const dayIn = (language: Language, at: Date): string => formats[language].day.format(at);

import { type Language, languages } from "../../../envelopes/envelopes.ts";
import { preferredLanguage } from "../../../http/accept.ts";
import { en } from "./en/en.ts";
import { es } from "./es/es.ts";
import type { Words } from "./words.ts";

const all: Readonly<Record<Language, Words>> = { en, es };

/** Who reads a page for clients. */
export type Reader = {
  words: Words;
  /** What the address asked for, which the page's own links keep; null where the browser decided. */
  asked: Language | null;
};

export const isLanguage = (text: string | undefined): text is Language => languages.some((one) => one === text);

/** By `?lang` where it is given, else by what the browser prefers. What we do not speak is English. */
export function readerOf(lang: string | undefined, acceptLanguage: string | undefined): Reader {
  if (lang === undefined) return { words: all[preferredLanguage(acceptLanguage, languages) ?? "en"], asked: null };
  const asked = isLanguage(lang) ? lang : "en";
  return { words: all[asked], asked };
}

/** One of our addresses, in the language that was asked for. */
export function linkFor({ asked }: Pick<Reader, "asked">, path: string): string {
  if (asked === null) return path;
  return `${path}${path.includes("?") ? "&" : "?"}lang=${asked}`;
}

import { preferredLanguage } from "../../../kernel/http/accept.ts";
import { type Language, languages } from "../../../signing/envelopes/envelopes.ts";
import { en, type Words } from "./en/en.ts";
import { es } from "./es/es.ts";

/** The words of each language. */
export const wordsIn: Readonly<Record<Language, Words>> = { en, es };

/** The reader of a page for clients. */
export type Reader = {
  words: Words;
  /** What the address asked for, which the page's own links keep; null where the browser decided. */
  asked: Language | null;
};

export const isLanguage = (text: string | undefined): text is Language => languages.some((one) => one === text);

/** By `?lang` where it is given, else by what the browser prefers. Unsupported languages fall back to English. */
export function readerOf(lang: string | undefined, acceptLanguage: string | undefined): Reader {
  if (lang === undefined) return { words: wordsIn[preferredLanguage(acceptLanguage, languages) ?? "en"], asked: null };
  const asked = isLanguage(lang) ? lang : "en";
  return { words: wordsIn[asked], asked };
}

/** One of our addresses, in the language that was asked for. */
export function linkFor({ asked }: Pick<Reader, "asked">, path: string): string {
  if (asked === null) return path;
  return `${path}${path.includes("?") ? "&" : "?"}lang=${asked}`;
}

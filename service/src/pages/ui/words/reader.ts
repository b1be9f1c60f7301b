import { preferredLanguage } from "../../../kernel/http/accept.ts";
import { isLanguage, type Language, languages } from "../../../kernel/platform/languages.ts";
import { en, type Words } from "./en/en.ts";
import { es } from "./es/es.ts";
import { fr } from "./fr/fr.ts";
import { ko } from "./ko/ko.ts";
import { pt } from "./pt/pt.ts";
import { tl } from "./tl/tl.ts";
import { vi } from "./vi/vi.ts";
import { zh } from "./zh/zh.ts";

/** The words of each language. */
export const wordsIn: Readonly<Record<Language, Words>> = { en, es, fr, pt, zh, vi, ko, tl };

/** The reader of a page for clients. */
export type Reader = {
  words: Words;
  /** The language that the address asks for; the page's own links keep it. Null when the browser decided. */
  asked: Language | null;
};

/**
 * The language of `?lang` if it is given, otherwise the one that the browser prefers. For an unsupported language,
 * English.
 */
export function readerOf(lang: string | undefined, acceptLanguage: string | undefined): Reader {
  if (lang === undefined) return { words: wordsIn[preferredLanguage(acceptLanguage, languages) ?? "en"], asked: null };
  const asked = isLanguage(lang) ? lang : "en";
  return { words: wordsIn[asked], asked };
}

/** One of our addresses, in the requested language. */
export function linkFor({ asked }: Pick<Reader, "asked">, path: string): string {
  if (asked === null) return path;
  return `${path}${path.includes("?") ? "&" : "?"}lang=${asked}`;
}

import { parseCookie, stringifySetCookie } from "cookie";
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
  /** The language in the URL, which the page's own links repeat. Null when the URL names none. */
  asked: Language | null;
};

/**
 * The headers with the browser's preferred languages, and with the language that the reader chose on an earlier page.
 */
type ReaderHeaders = { "accept-language"?: string | undefined; cookie?: string | undefined };

const cookieName = "__Host-language";
const yearSeconds = 365 * 24 * 60 * 60;

/**
 * The language of a page: the language in `?lang`, otherwise the one that the reader chose before, otherwise the
 * browser's preferred one. English for an unsupported language.
 */
export function readerOf(lang: string | undefined, headers: ReaderHeaders): Reader {
  if (lang === undefined) {
    const chosen = headers.cookie === undefined ? undefined : parseCookie(headers.cookie)[cookieName];
    const supported = chosen !== undefined && isLanguage(chosen) ? chosen : undefined;
    return {
      words: wordsIn[supported ?? preferredLanguage(headers["accept-language"], languages) ?? "en"],
      asked: null,
    };
  }
  const asked = isLanguage(lang) ? lang : "en";
  return { words: wordsIn[asked], asked };
}

/** `Set-Cookie` that stores the chosen language for later pages, such as the one after a payment. */
export const languageCookie = (language: Language): string =>
  stringifySetCookie({
    name: cookieName,
    value: language,
    maxAge: yearSeconds,
    path: "/",
    secure: true,
    httpOnly: true,
    sameSite: "lax",
  });

/** The URL of one of our pages, with the language that the reader requested. */
export function linkFor({ asked }: Pick<Reader, "asked">, path: string): string {
  if (asked === null) return path;
  return `${path}${path.includes("?") ? "&" : "?"}lang=${asked}`;
}

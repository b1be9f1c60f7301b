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
  /** The language that the address asks for; the page's own links keep it. Null when the browser decided. */
  asked: Language | null;
};

/** The headers that say which language a browser prefers, and which one its reader chose on an earlier page. */
type ReaderHeaders = { "accept-language"?: string | undefined; cookie?: string | undefined };

const cookieName = "__Host-language";
const yearSeconds = 365 * 24 * 60 * 60;

/**
 * The language in which a page is shown: the language in `?lang`, otherwise the language that the reader chose before,
 * otherwise the language that the browser prefers. English for an unsupported language.
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

/** `Set-Cookie` that keeps the chosen language on pages that are opened later, such as the one after a payment. */
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

/** One of our addresses, in the requested language. */
export function linkFor({ asked }: Pick<Reader, "asked">, path: string): string {
  if (asked === null) return path;
  return `${path}${path.includes("?") ? "&" : "?"}lang=${asked}`;
}

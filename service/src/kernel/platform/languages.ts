/**
 * The languages of signers and clients (ISO 639-1). Portuguese is Brazilian, and Chinese uses simplified characters.
 */
export const languages = ["en", "es", "fr", "pt", "zh", "vi", "ko", "tl"] as const;
export type Language = (typeof languages)[number];

/** The name of each language in that language. */
export const languageNames: Readonly<Record<Language, string>> = {
  en: "English",
  es: "Español",
  fr: "Français",
  pt: "Português",
  zh: "简体中文",
  vi: "Tiếng Việt",
  ko: "한국어",
  tl: "Tagalog",
};

/** The language as pages and mails declare it (BCP 47). Browsers use it to choose glyphs, voices and hyphenation. */
export const languageTags: Readonly<Record<Language, string>> = {
  en: "en",
  es: "es",
  fr: "fr",
  pt: "pt-BR",
  zh: "zh-Hans",
  vi: "vi",
  ko: "ko",
  tl: "tl",
};

export const isLanguage = (text: string | undefined): text is Language => languages.some((one) => one === text);

/**
 * A time in words, followed by the name of its time zone. Mails state times in the zone of their firm, because the zone
 * of a mail's reader is unknown. US zones have short names only in US English and US Spanish. Other languages use the
 * long name, because their short form is an offset from UTC.
 */
export function zonedText(at: Date, zone: string, language: Language = "en"): string {
  const isShort = language === "en" || language === "es";
  return new Intl.DateTimeFormat(isShort ? `${language}-US` : language, {
    year: "numeric",
    month: "long",
    day: "numeric",
    hour: "numeric",
    minute: "2-digit",
    timeZone: zone,
    timeZoneName: isShort ? "short" : "long",
  }).format(at);
}

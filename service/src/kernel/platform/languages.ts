/** The languages of signers and clients (ISO 639-1). Portuguese is that of Brazil, Chinese is in simplified characters. */
export const languages = ["en", "es", "fr", "pt", "zh", "vi", "ko", "tl"] as const;
export type Language = (typeof languages)[number];

/** Each language by its own name. */
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

/** The language as pages and mails declare it (BCP 47): browsers choose glyphs, voices and hyphenation by it. */
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

import type { Language } from "../../../kernel/platform/languages.ts";
import { en, type Words } from "./en.ts";
import { es } from "./es.ts";
import { fr } from "./fr.ts";
import { ko } from "./ko.ts";
import { pt } from "./pt.ts";
import { tl } from "./tl.ts";
import { vi } from "./vi.ts";
import { zh } from "./zh.ts";

const all: Readonly<Record<Language, Words>> = { en, es, fr, pt, zh, vi, ko, tl };

export const wordsOf = (language: Language): Words => all[language];

/** Formats a number of bytes: `340 kB`, `1.2 MB`. */
export function sizeIn(language: Language, bytes: number): string {
  const [value, unit] = bytes < 999_500 ? [bytes / 1000, "kilobyte"] : [bytes / 1_000_000, "megabyte"];
  const maximumFractionDigits = value < 10 && unit === "megabyte" ? 1 : 0;
  return new Intl.NumberFormat(language, { style: "unit", unit, maximumFractionDigits }).format(value);
}

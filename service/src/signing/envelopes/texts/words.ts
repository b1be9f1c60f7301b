import { isPlainTitle } from "../../../kernel/platform/mail/plain-name.ts";
import type { Language } from "../consent/texts.ts";

const longestName = 40;

/** One text message, with a code in it. A firm's name that could be read as an address is left out. */
export function codeText(code: string, partnerName: string, language: Language): string {
  const name = isPlainTitle(partnerName) ? ` ${language === "es" ? "de" : "from"} ${shortened(partnerName)}` : "";
  if (language === "es") return `${code} es su código para abrir el documento${name}. Sirve durante 10 minutos.`;
  return `${code} is your code to open the document${name}. It works for 10 minutes.`;
}

const shortened = (name: string): string => (name.length > longestName ? `${name.slice(0, longestName - 1)}…` : name);

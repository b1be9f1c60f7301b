import type { Language } from "../../../kernel/platform/languages.ts";
import { isPlainTitle } from "../../../kernel/platform/mail/plain-name.ts";

/**
 * The outcome of sending a text message. `refused`: the provider refused it, usually because the number accepts no
 * texts. `away`: nothing was sent, and sending may be retried. `unknown`: the text may have been sent.
 */
type TextOutcome = "sent" | "refused" | "away" | "unknown";

/** Sends text messages. */
export type Texts = {
  /** Sends a text message. The returned promise never rejects. */
  send: (message: { to: string; text: string }) => Promise<TextOutcome>;
  /** True if text messages are sent to the number's country. */
  reaches: (phone: string) => boolean;
};

/** The part of a phone number that pages and records may show. @param phone in E.164 form */
export const endingOf = (phone: string): string => phone.slice(-2);

const maxNameLength = 40;

const words: Readonly<Record<Language, (code: string, firm: string | null) => string>> = {
  en: (code, firm) =>
    `${code} is your code to open the document${firm === null ? "" : ` from ${firm}`}. It works for 10 minutes.`,
  es: (code, firm) =>
    `${code} es su código para abrir el documento${firm === null ? "" : ` de ${firm}`}. Sirve durante 10 minutos.`,
  fr: (code, firm) =>
    `${code} est votre code pour ouvrir le document${firm === null ? "" : ` de ${firm}`}. Il est valable 10 minutes.`,
  pt: (code, firm) =>
    `${code} é o seu código para abrir o documento${firm === null ? "" : ` de ${firm}`}. Vale por 10 minutos.`,
  zh: (code, firm) => `${code} 是您打开${firm === null ? "" : `${firm}的`}文件的验证码，10 分钟内有效。`,
  vi: (code, firm) =>
    `${code} là mã để quý vị mở tài liệu${firm === null ? "" : ` của ${firm}`}. Mã có hiệu lực trong 10 phút.`,
  ko: (code, firm) => `${firm === null ? "" : `${firm}의 `}문서를 여는 코드는 ${code}입니다. 10분 동안 유효합니다.`,
  tl: (code, firm) =>
    `${code} ang inyong code para buksan ang dokumento${firm === null ? "" : ` mula sa ${firm}`}. Gumagana ito nang 10 minuto.`,
};

/**
 * The text of a message with a code. Shortens a long name of a firm, and leaves out one that may not be shown
 * (`isPlainTitle`), such as a web address.
 */
export function codeText(code: string, partnerName: string, language: Language): string {
  return words[language](code, isPlainTitle(partnerName) ? shortened(partnerName) : null);
}

const shortened = (name: string): string =>
  name.length > maxNameLength ? `${name.slice(0, maxNameLength - 1)}…` : name;

import { type Language, languageTags } from "../languages.ts";
import { toPlainText } from "../text.ts";
import type { Mail } from "./mail.ts";
import { mailPage } from "./mail-page.ts";
import { isPlainTitle } from "./plain-name.ts";

/** The firm that a mail is sent for. */
export type MailFirm = {
  /**
   * The name that the firm's clients know. Not printed if it looks like a web address, because it could be used for
   * phishing.
   */
  name: string;
  /** The firm's color, such as `#1a2b3c`. */
  accentColor: string | null;
  logoUrl: string | null;
  /** The email address for replies. */
  contactEmail: string | null;
};

/** A line with a label, a value, and optionally a link. */
export type Fact = readonly [label: string, value: string, url?: string];

/** The parts of a mail. */
export type MailTemplate = {
  /** The subject. In a mail on behalf of a firm, the firm's name is put before it. */
  subject: string;
  /** The heading of the mail; by default the subject. */
  heading?: string;
  greeting: string;
  /** The paragraphs. Mail programs show the first one as a preview in the list of mails. */
  lines: readonly string[];
  facts?: readonly Fact[];
  /** A secret code, on a line of its own. */
  code?: string;
  /** The single action of the mail, as a button; null for none. */
  link: { label: string; url: string } | null;
  /** A note at the end, in small print. */
  caution: string;
  /** The reason why the recipient gets the mail, when `caution` doesn't say so. */
  why?: string;
  /** The URL for unsubscribing, for a link at the end of the mail. */
  unsubscribeUrl?: string;
  /** The language in which the mail is written; default `en`. The footer uses it. */
  language?: Language;
  /** The firm for which the mail is sent; null or absent for a mail of the service itself. */
  firm?: MailFirm | null;
  /** The newest checkpoint (a signed note) of the transparency log. The footer shows its first lines. */
  checkpoint?: string | null;
};

type FooterWords = { sentBy: string; sentFor: (firm: string) => string; answers: string; logState: string };

const footers: Readonly<Record<Language, FooterWords>> = {
  en: {
    sentBy: "Sent by SignSealShip.",
    sentFor: (firm: string) => `Sent by SignSealShip for ${firm}.`,
    answers: "You can reply to this email.",
    logState: "For auditors of our public log of seals (you need not do anything):",
  },
  es: {
    sentBy: "Enviado por SignSealShip.",
    sentFor: (firm: string) => `Enviado por SignSealShip en nombre de ${firm}.`,
    answers: "Puede responder a este correo.",
    logState: "Para quien audite nuestro registro público de sellos (usted no tiene que hacer nada):",
  },
  fr: {
    sentBy: "Envoyé par SignSealShip.",
    sentFor: (firm: string) => `Envoyé par SignSealShip pour ${firm}.`,
    answers: "Vous pouvez répondre à cet e-mail.",
    logState: "Pour les auditeurs de notre journal public des sceaux (vous n’avez rien à faire) :",
  },
  pt: {
    sentBy: "Enviado por SignSealShip.",
    sentFor: (firm: string) => `Enviado por SignSealShip em nome de ${firm}.`,
    answers: "Você pode responder a este e-mail.",
    logState: "Para quem audita nosso registro público de selos (você não precisa fazer nada):",
  },
  zh: {
    sentBy: "由 SignSealShip 发送。",
    sentFor: (firm: string) => `由 SignSealShip 代表${firm}发送。`,
    answers: "您可以直接回复此邮件。",
    logState: "供公开印章日志的审计者使用（您无需操作）：",
  },
  vi: {
    sentBy: "Gửi bởi SignSealShip.",
    sentFor: (firm: string) => `SignSealShip gửi thay mặt ${firm}.`,
    answers: "Quý vị có thể trả lời email này.",
    logState: "Dành cho người kiểm tra nhật ký công khai về các dấu niêm phong (quý vị không cần làm gì):",
  },
  ko: {
    sentBy: "SignSealShip에서 보냈습니다.",
    sentFor: (firm: string) => `SignSealShip이 ${firm}을(를) 대신하여 보냈습니다.`,
    answers: "이 이메일에 회신하실 수 있습니다.",
    logState: "봉인 공개 로그를 감사하는 분을 위한 정보(하실 일은 없습니다):",
  },
  tl: {
    sentBy: "Ipinadala ng SignSealShip.",
    sentFor: (firm: string) => `Ipinadala ng SignSealShip para sa ${firm}.`,
    answers: "Maaari kayong sumagot sa email na ito.",
    logState: "Para sa mga nagsusuri ng aming pampublikong talaan ng mga selyo (wala kayong kailangang gawin):",
  },
};

/** The firm's name if a mail may use it, else the fallback. */
export const nameIn = <Otherwise>(firm: MailFirm | null, otherwise: Otherwise): string | Otherwise =>
  firm !== null && isPlainTitle(firm.name) ? firm.name : otherwise;

/** Removes one of two periods in a row, as after a name like `Acme Title Co.` at the end of a sentence. */
const oneStop = (text: string): string => text.replace(/(?<!\.)\.\.(?=\s|$)/g, ".");

/** The log's origin, size and root: the first lines of a checkpoint. */
const logLine = (checkpoint: string): string => ["log", ...checkpoint.split("\n").slice(0, 3)].join(" ");

/** Renders the mail as plain text and as HTML, with its sender. */
export function mailFrom(template: MailTemplate): Omit<Mail, "to" | "id"> {
  const {
    greeting,
    facts = [],
    code = null,
    link,
    caution,
    why,
    language = "en",
    firm = null,
    checkpoint = null,
    unsubscribeUrl = null,
  } = template;
  const lines = template.lines.map(oneStop);
  const { accentColor = null, logoUrl = null, contactEmail: replyTo = null } = firm ?? {};
  const name = nameIn(firm, null);
  const subject = toPlainText(name === null ? template.subject : `[${name}] ${template.subject}`);
  const words = footers[language];
  const sentences = [name === null ? words.sentBy : words.sentFor(name), why, replyTo !== null && words.answers];
  const footerText = oneStop(sentences.filter(Boolean).join(" "));
  const footer = checkpoint === null ? footerText : `${footerText} ${words.logState} ${logLine(checkpoint)}`;
  const shown = {
    subject,
    heading: template.heading ?? template.subject,
    greeting,
    lines,
    facts,
    code,
    link,
    caution,
    unsubscribeUrl,
  };
  return {
    subject,
    ...(name !== null && { onBehalfOf: name }),
    ...(firm && { replyTo }),
    ...(checkpoint !== null && { checkpoint }),
    // A URL has its own line, so that mail programs recognize all of it as a link.
    text: [
      greeting,
      ...lines,
      facts.map(([label, value, url]) => `${label}: ${value}${url ? `\n${url}` : ""}`).join("\n"),
      code,
      link && `${link.label}:\n${link.url}`,
      caution,
      unsubscribeUrl && `Stop these emails:\n${unsubscribeUrl}`,
      `${footer}\n`,
    ]
      .filter(Boolean)
      .join("\n\n"),
    html: mailPage({
      ...shown,
      footer,
      language: languageTags[language],
      name: name ?? "SignSealShip",
      accentColor,
      logoUrl,
    }),
  };
}

import { toPlainText } from "../text.ts";
import type { Mail } from "./mail.ts";
import { mailPage } from "./mail-page.ts";
import { isPlainTitle } from "./plain-name.ts";

/** The firm that a mail is sent for. */
export type MailFirm = {
  /** As its clients know it; omitted when it looks like an address. */
  name: string;
  /** `#1a2b3c` */
  accentColor: string | null;
  logoUrl: string | null;
  /** The address for replies. */
  contactEmail: string | null;
};

/** The parts of a mail. */
export type MailTemplate = {
  /** For a mail of a firm: the text after the firm's name. */
  subject: string;
  /** Default the subject. */
  heading?: string;
  greeting: string;
  /** Lists of mails also show the first one. */
  lines: readonly string[];
  /** Label and value of each fact. */
  facts?: readonly (readonly [string, string])[];
  /** A credential, on a line of its own. */
  code?: string;
  /** The one action, as a button; null for none. */
  link: { label: string; url: string } | null;
  /** A note at the end, in small print. */
  caution: string;
  /** The reason for the mail, when `caution` doesn't give it. */
  why?: string;
  /** The language of the fixed words; default `en`. */
  language?: "en" | "es";
  /** Null or absent for a mail of the service itself. */
  firm?: MailFirm | null;
};

const footers = {
  en: {
    sentBy: "Sent by SignSealShip.",
    sentFor: (firm: string) => `Sent by SignSealShip for ${firm}.`,
    answers: "You can reply to this email.",
  },
  es: {
    sentBy: "Enviado por SignSealShip.",
    sentFor: (firm: string) => `Enviado por SignSealShip en nombre de ${firm}.`,
    answers: "Puede responder a este correo.",
  },
};

/** The firm's name if a mail may use it, else the other words. */
export const nameIn = <Otherwise>(firm: MailFirm | null, otherwise: Otherwise): string | Otherwise =>
  firm !== null && isPlainTitle(firm.name) ? firm.name : otherwise;

/** Names like `Acme Title Co.` already end a sentence. */
const oneStop = (text: string): string => text.replace(/(?<!\.)\.\.(?=\s|$)/g, ".");

/** Renders the mail as plain text and as HTML, with its sender. */
export function mailFrom(template: MailTemplate): Omit<Mail, "to" | "id"> {
  const { greeting, facts = [], code = null, link, caution, why, language = "en", firm = null } = template;
  const lines = template.lines.map(oneStop);
  const { accentColor = null, logoUrl = null, contactEmail: replyTo = null } = firm ?? {};
  const name = nameIn(firm, null);
  const subject = toPlainText(name === null ? template.subject : `[${name}] ${template.subject}`);
  const words = footers[language];
  const sentences = [name === null ? words.sentBy : words.sentFor(name), why, replyTo !== null && words.answers];
  const footer = oneStop(sentences.filter(Boolean).join(" "));
  const shown = { subject, heading: template.heading ?? template.subject, greeting, lines, facts, code, link, caution };
  return {
    subject,
    ...(name !== null && { onBehalfOf: name }),
    ...(firm && { replyTo }),
    // An address has its own line, so that it can be copied whole.
    text: [
      greeting,
      ...lines,
      facts.map(([label, value]) => `${label}: ${value}`).join("\n"),
      code,
      link && `${link.label}:\n${link.url}`,
      caution,
      `${footer}\n`,
    ]
      .filter(Boolean)
      .join("\n\n"),
    html: mailPage({ ...shown, footer, language, name: name ?? "SignSealShip", accentColor, logoUrl }),
  };
}

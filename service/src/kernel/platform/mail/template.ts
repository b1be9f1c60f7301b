import { toPlainText } from "../text.ts";
import type { Mail } from "./mail.ts";
import { mailPage } from "./mail-page.ts";
import { isPlainTitle } from "./plain-name.ts";

/** The firm that a mail is sent for. */
export type MailFirm = {
  /** As its clients know it; one that could be read as an address is not said. */
  name: string;
  /** `#1a2b3c` */
  accentColor: string | null;
  logoUrl: string | null;
  /** Where answers go. */
  contactEmail: string | null;
};

/** A mail of ours in its parts. */
export type MailTemplate = {
  /** Of a mail for a firm: what follows the firm's name. */
  subject: string;
  /** Default the subject. */
  heading?: string;
  greeting: string;
  /** The first one is also what lists of mails show of it. */
  lines: readonly string[];
  /** What there is to know: a label, and its value. */
  facts?: readonly (readonly [string, string])[];
  /** A credential, on a line of its own. */
  code?: string;
  /** The one thing to do, as a button; null where there is nothing to open. */
  link: { label: string; url: string } | null;
  /** Said last and quietly. */
  caution: string;
  /** Why one gets it, where `caution` does not say so. */
  why?: string;
  /** Of the words; default `en`. */
  language?: "en" | "es";
  /** Null or left out for a mail of our own. */
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

/** The firm's name where a mail may say it, else other words. */
export const nameIn = <Otherwise>(firm: MailFirm | null, otherwise: Otherwise): string | Otherwise =>
  firm !== null && isPlainTitle(firm.name) ? firm.name : otherwise;

/** Names like `Acme Title Co.` end a sentence by themselves. */
const oneStop = (text: string): string => text.replace(/(?<!\.)\.\.(?=\s|$)/g, ".");

/** The mail as plain text and as HTML, and whom it is from. */
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
    // An address has a line of its own, so that it is copied whole.
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

import type { Language } from "../ceremony/view.ts";
import type { SigningMoment } from "../lifecycle/links.ts";
import type { Envelope } from "../records/envelope.ts";

/** What a mail to a signer is about. */
export type MailFacts = {
  title: string;
  partnerName: string;
  /** Until when one can sign, in the reader's language, with its zone. */
  until: string;
  /** How the envelope ended. */
  outcome: Envelope["outcome"];
};

/** The words of a mail; the button leads to the signing link. */
export type MailWords = { subject: string; lines: string[]; label: string; caution: string };

type Words = Readonly<Record<SigningMoment, (facts: MailFacts) => MailWords>>;

const caution = "This link is yours alone: whoever has it can sign in your name. Do not pass it on.";

function endedWords(title: string, partnerName: string, outcome: MailFacts["outcome"]): string {
  if (outcome === "Expired") return `Not everybody signed ${title} from ${partnerName} in time.`;
  if (outcome === "Voided") return `${title} from ${partnerName} was withdrawn before everybody had signed it.`;
  return `The signing of ${title} from ${partnerName} was declined.`;
}

const en: Words = {
  request: ({ title, partnerName, until }) => ({
    subject: `${title}: please sign`,
    lines: [
      `${partnerName} asks you to read and sign ${title}.`,
      `You can sign online until ${until}, or ask for paper instead.`,
    ],
    label: "Read and sign",
    caution,
  }),
  reminder: ({ title, partnerName, until }) => ({
    subject: `${title} still waits for your signature`,
    lines: [`${title} from ${partnerName} still waits for your signature.`, `You can sign online until ${until}.`],
    label: "Read and sign",
    caution,
  }),
  code: ({ title, partnerName }) => ({
    subject: `Your code to open ${title}`,
    lines: [
      `Enter this code on the page where you opened ${title} from ${partnerName}. It works for 10 minutes.`,
      "If you did not ask for it, somebody else may have your signing link: tell the firm.",
    ],
    label: "Open the page",
    caution,
  }),
  signed: ({ title, partnerName }) => ({
    subject: `${title} is signed by everybody`,
    lines: [
      `Everybody has signed ${title} from ${partnerName}, and it is sealed: any later change to it would show.`,
      "Your copy is ready. Keep it: it can be checked without us.",
    ],
    label: "See your copy",
    caution,
  }),
  ended: ({ title, partnerName, outcome }) => ({
    subject: outcome === "Expired" ? `${title}: the time to sign has expired` : `${title} will not be signed`,
    lines: [`${endedWords(title, partnerName, outcome)} If it is still to be signed, the firm sends a new link.`],
    label: "See what happened",
    caution,
  }),
  replaced: ({ title, partnerName }) => ({
    subject: `${title}: you need not sign`,
    lines: [
      `${partnerName} has asked somebody else to sign ${title} in your place.`,
      "Your signing link no longer works, and there is nothing for you to do.",
    ],
    label: "",
    caution: "If you did not expect this, ask the firm.",
  }),
};

const cautionEs = "Este enlace es solo suyo: quien lo tenga puede firmar en su nombre. No lo reenvíe.";

function endedWordsEs(title: string, partnerName: string, outcome: MailFacts["outcome"]): string {
  if (outcome === "Expired") return `No todos firmaron ${title} de ${partnerName} a tiempo.`;
  if (outcome === "Voided") return `${title} de ${partnerName} se retiró antes de que todos lo firmaran.`;
  return `Se rechazó la firma de ${title} de ${partnerName}.`;
}

const es: Words = {
  request: ({ title, partnerName, until }) => ({
    subject: `${title}: por favor, firme`,
    lines: [
      `${partnerName} le pide que lea y firme ${title}.`,
      `Puede firmar en línea hasta el ${until}, o pedir el documento en papel.`,
    ],
    label: "Leer y firmar",
    caution: cautionEs,
  }),
  reminder: ({ title, partnerName, until }) => ({
    subject: `${title} aún espera su firma`,
    lines: [`${title} de ${partnerName} aún espera su firma.`, `Puede firmar en línea hasta el ${until}.`],
    label: "Leer y firmar",
    caution: cautionEs,
  }),
  code: ({ title, partnerName }) => ({
    subject: `Su código para abrir ${title}`,
    lines: [
      `Escriba este código en la página donde abrió ${title} de ${partnerName}. Sirve durante 10 minutos.`,
      "Si usted no lo pidió, otra persona puede tener su enlace: avise a la empresa.",
    ],
    label: "Abrir la página",
    caution: cautionEs,
  }),
  signed: ({ title, partnerName }) => ({
    subject: `Todos han firmado ${title}`,
    lines: [
      `Todos han firmado ${title} de ${partnerName}, y el documento está sellado: cualquier cambio posterior se notaría.`,
      "Su copia está lista. Guárdela: puede comprobarse sin nosotros.",
    ],
    label: "Ver su copia",
    caution: cautionEs,
  }),
  ended: ({ title, partnerName, outcome }) => ({
    subject: outcome === "Expired" ? `${title}: el plazo para firmar ha vencido` : `${title} no se firmará`,
    lines: [`${endedWordsEs(title, partnerName, outcome)} Si aún debe firmarse, la empresa enviará un enlace nuevo.`],
    label: "Ver qué pasó",
    caution: cautionEs,
  }),
  replaced: ({ title, partnerName }) => ({
    subject: `${title}: no hace falta que firme`,
    lines: [
      `${partnerName} ha pedido a otra persona que firme ${title} en su lugar.`,
      "Su enlace para firmar ya no funciona, y no tiene que hacer nada.",
    ],
    label: "",
    caution: "Si no lo esperaba, pregunte a la empresa.",
  }),
};

export const mailWords: Readonly<Record<Language, Words>> = { en, es };

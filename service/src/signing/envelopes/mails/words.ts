import type { Language } from "../../../kernel/platform/languages.ts";
import type { CommonWords, MailFacts, MailWords, WordsKind } from "./words/facts.ts";
import { fr } from "./words/fr.ts";
import { ko } from "./words/ko.ts";
import { pt } from "./words/pt.ts";
import { tl } from "./words/tl.ts";
import { vi } from "./words/vi.ts";
import { zh } from "./words/zh.ts";

type Words = Readonly<Record<WordsKind, (facts: MailFacts) => MailWords>>;

const caution = (outcome: MailFacts["outcome"]): string =>
  outcome === null
    ? "This link is only for you: anyone who has it can sign in your name. Do not pass it on."
    : "This link is only for you: anyone who has it can see what you were sent. Do not pass it on.";

const listIn = (language: Language, names: readonly string[]): string =>
  new Intl.ListFormat(language, { type: "conjunction" }).format(names);

type Signed = Pick<MailFacts, "signers" | "reference">;

function signedBy({ signers, reference }: Signed): string[] {
  const names = signers.length === 0 ? [] : [`Signed by ${listIn("en", signers)}.`];
  return [...names, ...(reference === null ? [] : [`Reference: ${reference}.`])];
}

function endedWords(title: string, partnerName: string, outcome: MailFacts["outcome"]): string {
  if (outcome === "Expired") return `Not everybody signed ${title} from ${partnerName} in time.`;
  if (outcome === "Voided") return `${title} from ${partnerName} was withdrawn before everybody had signed it.`;
  return `The signing of ${title} from ${partnerName} was declined.`;
}

type OfPaper = Pick<MailFacts, "title" | "partnerName" | "askedForPaper">;

function paperWords({ title, partnerName, askedForPaper }: OfPaper) {
  if (askedForPaper === "another")
    return {
      subject: `${title} will not be signed online`,
      lines: [
        `A signer asked to sign ${title} from ${partnerName} on paper, so the electronic signing has ended for everybody. ${partnerName} arranges the next steps.`,
      ],
    };
  return {
    subject: `${title}: you asked for paper`,
    lines: [
      `The electronic signing of ${title} has ended for everybody. We tell ${partnerName} that you want to sign on paper, and ${partnerName} arranges it with you.`,
    ],
  };
}

const en: Words = {
  request: ({ title, partnerName, until, message, paid }) => ({
    subject: `${title}: please sign`,
    lines: [
      `${partnerName} asks you to read and sign ${title}.`,
      ...(message === null ? [] : [`${partnerName} writes: “${message}”`]),
      ...(paid === null ? [] : [`Your payment of ${paid} has cleared. Thank you.`]),
      `You can sign online until ${until}, or ask for paper instead.`,
    ],
    label: "Read and sign",
  }),
  reminder: ({ title, partnerName, until }) => ({
    subject: `${title} still waits for your signature`,
    lines: [`${title} from ${partnerName} still waits for your signature.`, `You can sign online until ${until}.`],
    label: "Read and sign",
  }),
  code: ({ title, partnerName }) => ({
    subject: `Your code to open ${title}`,
    lines: [
      `Enter this code on the page where you opened ${title} from ${partnerName}, or open it here. Both work for 10 minutes.`,
      "If you did not ask for it, somebody else may have your signing link: tell the firm.",
    ],
    label: "Open the document",
  }),
  entry: ({ title, partnerName }) => ({
    subject: `A link to open ${title}`,
    lines: [
      `Too many wrong codes were entered for ${title} from ${partnerName}. Open it here: no code is needed. The link works for 10 minutes.`,
      "If you did not ask for it, somebody else may have your signing link: tell the firm.",
    ],
    label: "Open the document",
  }),
  way_in: ({ title, partnerName }) => ({
    subject: `A link to open ${title}`,
    lines: [
      `Too many wrong access codes were entered for ${title} from ${partnerName}. Open this link, and enter your access code there. It works for 10 minutes.`,
      "If you did not ask for it, somebody else may have your signing link: tell the firm.",
    ],
    label: "Open the page",
  }),
  signed: ({ title, partnerName, ...facts }) => ({
    subject: `${title} is signed by everybody`,
    lines: [
      `Everybody has signed ${title} from ${partnerName}, and it is sealed: any later change to it would show.`,
      ...signedBy(facts),
      "Your copy is ready. Keep it: it can be checked without us.",
    ],
    label: "See your copy",
  }),
  notarized: ({ title, partnerName, ...facts }) => ({
    subject: `${title} is notarized`,
    lines: [
      `A notary has notarized ${title} from ${partnerName}, and it is sealed: any later change to it would show.`,
      ...signedBy(facts),
      "Your copy is ready. Keep it: it can be checked without us.",
    ],
    label: "See your copy",
  }),
  notarized_notice: ({ title, partnerName }) => ({
    subject: `${title} is notarized`,
    lines: [`A notary has notarized ${title} from ${partnerName}.`, `To get your copy, ask ${partnerName}.`],
    label: "",
    caution: "This email has no link to the document, because nobody has checked that this address is yours.",
  }),
  ended: ({ title, partnerName, outcome, ...facts }) => ({
    subject: outcome === "Expired" ? `${title}: the time to sign has expired` : `${title} will not be signed`,
    lines: [`${endedWords(title, partnerName, outcome)} If it is still to be signed, the firm sends a new link.`],
    ...(facts.askedForPaper && paperWords({ title, partnerName, ...facts })),
    label: "See what happened",
  }),
  replaced: ({ title, partnerName, others }) => ({
    subject: `${title}: you need not sign`,
    lines: [
      `${partnerName} has asked somebody else to sign ${title} in your place.`,
      others
        ? `Your signing link no longer opens it, but still opens your other documents${others === "awaited" ? ": what you have not signed there still waits for you" : ""}.`
        : "Your signing link no longer works, and there is nothing for you to do.",
    ],
    label: "",
    caution: "If you did not expect this, ask the firm.",
  }),
};

const cautionEs = (outcome: MailFacts["outcome"]): string =>
  outcome === null
    ? "Este enlace es solo suyo: quien lo tenga puede firmar en su nombre. No lo reenvíe."
    : "Este enlace es solo suyo: quien lo tenga puede ver lo que se le envió. No lo reenvíe.";

function signedByEs({ signers, reference }: Signed): string[] {
  const names = signers.length === 0 ? [] : [`Firmado por ${listIn("es", signers)}.`];
  return [...names, ...(reference === null ? [] : [`Referencia: ${reference}.`])];
}

function endedWordsEs(title: string, partnerName: string, outcome: MailFacts["outcome"]): string {
  if (outcome === "Expired") return `No todos firmaron ${title} de ${partnerName} a tiempo.`;
  if (outcome === "Voided") return `${title} de ${partnerName} se retiró antes de que todos lo firmaran.`;
  return `Se rechazó la firma de ${title} de ${partnerName}.`;
}

function paperWordsEs({ title, partnerName, askedForPaper }: OfPaper) {
  if (askedForPaper === "another")
    return {
      subject: `${title} no se firmará en línea`,
      lines: [
        `Una de las personas pidió firmar ${title} de ${partnerName} en papel, por lo que la firma electrónica terminó para todos. ${partnerName} se ocupa de los próximos pasos.`,
      ],
    };
  return {
    subject: `${title}: usted pidió papel`,
    lines: [
      `La firma electrónica de ${title} terminó para todos. Avisamos a ${partnerName} de que usted quiere firmar en papel, y ${partnerName} lo acuerda con usted.`,
    ],
  };
}

const es: Words = {
  request: ({ title, partnerName, until, message, paid }) => ({
    subject: `${title}: por favor, firme`,
    lines: [
      `${partnerName} le pide que lea y firme ${title}.`,
      ...(message === null ? [] : [`${partnerName} escribe: «${message}»`]),
      ...(paid === null ? [] : [`Su pago de ${paid} se ha acreditado. Gracias.`]),
      `Puede firmar en línea hasta el ${until}, o pedir el documento en papel.`,
    ],
    label: "Leer y firmar",
  }),
  reminder: ({ title, partnerName, until }) => ({
    subject: `${title} aún espera su firma`,
    lines: [`${title} de ${partnerName} aún espera su firma.`, `Puede firmar en línea hasta el ${until}.`],
    label: "Leer y firmar",
  }),
  code: ({ title, partnerName }) => ({
    subject: `Su código para abrir ${title}`,
    lines: [
      `Escriba este código en la página donde abrió ${title} de ${partnerName}, o ábralo aquí. Ambos sirven durante 10 minutos.`,
      "Si usted no lo pidió, otra persona puede tener su enlace: avise a la empresa.",
    ],
    label: "Abrir el documento",
  }),
  entry: ({ title, partnerName }) => ({
    subject: `Un enlace para abrir ${title}`,
    lines: [
      `Se escribieron demasiados códigos incorrectos para ${title} de ${partnerName}. Ábralo aquí: no hace falta ningún código. El enlace sirve durante 10 minutos.`,
      "Si usted no lo pidió, otra persona puede tener su enlace: avise a la empresa.",
    ],
    label: "Abrir el documento",
  }),
  way_in: ({ title, partnerName }) => ({
    subject: `Un enlace para abrir ${title}`,
    lines: [
      `Se escribieron demasiados códigos de acceso incorrectos para ${title} de ${partnerName}. Abra este enlace y escriba allí su código de acceso. Sirve durante 10 minutos.`,
      "Si usted no lo pidió, otra persona puede tener su enlace: avise a la empresa.",
    ],
    label: "Abrir la página",
  }),
  signed: ({ title, partnerName, ...facts }) => ({
    subject: `Todos han firmado ${title}`,
    lines: [
      `Todos han firmado ${title} de ${partnerName}, y el documento está sellado: cualquier cambio posterior se notaría.`,
      ...signedByEs(facts),
      "Su copia está lista. Guárdela: puede comprobarse sin nosotros.",
    ],
    label: "Ver su copia",
  }),
  notarized: ({ title, partnerName, ...facts }) => ({
    subject: `${title} está notarizado`,
    lines: [
      `Un notario ha notarizado ${title} de ${partnerName}, y el documento está sellado: cualquier cambio posterior se notaría.`,
      ...signedByEs(facts),
      "Su copia está lista. Guárdela: puede comprobarse sin nosotros.",
    ],
    label: "Ver su copia",
  }),
  notarized_notice: ({ title, partnerName }) => ({
    subject: `${title} está notarizado`,
    lines: [`Un notario ha notarizado ${title} de ${partnerName}.`, `Para recibir su copia, pídala a ${partnerName}.`],
    label: "",
    caution: "Este correo no lleva enlace al documento, porque nadie ha comprobado que esta dirección es suya.",
  }),
  ended: ({ title, partnerName, outcome, ...facts }) => ({
    subject: outcome === "Expired" ? `${title}: el plazo para firmar ha vencido` : `${title} no se firmará`,
    lines: [`${endedWordsEs(title, partnerName, outcome)} Si aún debe firmarse, la empresa enviará un enlace nuevo.`],
    ...(facts.askedForPaper && paperWordsEs({ title, partnerName, ...facts })),
    label: "Ver qué pasó",
  }),
  replaced: ({ title, partnerName, others }) => ({
    subject: `${title}: no hace falta que firme`,
    lines: [
      `${partnerName} ha pedido a otra persona que firme ${title} en su lugar.`,
      others
        ? `Su enlace para firmar ya no lo abre, pero sigue abriendo sus otros documentos${others === "awaited" ? ": los que aún no haya firmado siguen esperando su firma" : ""}.`
        : "Su enlace para firmar ya no funciona, y no tiene que hacer nada.",
    ],
    label: "",
    caution: "Si no lo esperaba, pregunte a la empresa.",
  }),
};

/** The languages whose words are in files of their own. */
const others = { fr, pt, zh, vi, ko, tl } as const;
type Other = keyof typeof others;

function momentsOf(language: Other): Words {
  const { moments, signedBy: signedByIn, reference: referenceIn } = others[language];
  const about = ({ signers, reference }: Signed): string[] => [
    ...(signers.length === 0 ? [] : [signedByIn(listIn(language, signers))]),
    ...(reference === null ? [] : [referenceIn(reference)]),
  ];
  const entries = Object.entries(moments) as [WordsKind, (typeof moments)[WordsKind]][];
  return Object.fromEntries(
    entries.map(([moment, words]) => [moment, (facts: MailFacts) => words({ ...facts, about: about(facts) })]),
  ) as Words;
}

export const mailWords: Readonly<Record<Language, Words>> = {
  en,
  es,
  fr: momentsOf("fr"),
  pt: momentsOf("pt"),
  zh: momentsOf("zh"),
  vi: momentsOf("vi"),
  ko: momentsOf("ko"),
  tl: momentsOf("tl"),
};

/**
 * The warning in each mail not to forward the link. It depends on the outcome: after the signing the link opens the
 * signed document, and can't be used to sign.
 */
export const mailCaution: Readonly<Record<Language, (outcome: MailFacts["outcome"]) => string>> = {
  en: caution,
  es: cautionEs,
  fr: fr.caution,
  pt: pt.caution,
  zh: zh.caution,
  vi: vi.caution,
  ko: ko.caution,
  tl: tl.caution,
};

export const commonWords: Readonly<Record<Language, CommonWords>> = {
  en: {
    untitled: "your document",
    unnamed: "the firm",
    greeting: (name) => `Hello${name},`,
    documents: (count) => (count === 1 ? "1 document" : `${count} documents`),
    why: (firm) => `You receive it because ${firm} named you as a signer.`,
  },
  es: {
    untitled: "su documento",
    unnamed: "la empresa",
    greeting: (name) => `Hola${name}:`,
    documents: (count) => (count === 1 ? "1 documento" : `${count} documentos`),
    why: (firm) => `Lo recibe porque ${firm} le nombró como firmante.`,
  },
  fr: fr.common,
  pt: pt.common,
  zh: zh.common,
  vi: vi.common,
  ko: ko.common,
  tl: tl.common,
};

/** Capitalizes the first letter, because a subject can begin with a title or a name in lower case. */
export const sentence = (text: string): string => text.replace(/^\p{Ll}/u, (letter) => letter.toUpperCase());

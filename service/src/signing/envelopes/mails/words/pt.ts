import type { MailFacts, SignerMails } from "./facts.ts";

function ended({ title, partnerName, outcome }: MailFacts): string {
  if (outcome === "Expired") return `Nem todos assinaram ${title} de ${partnerName} a tempo.`;
  if (outcome === "Voided") return `${title} de ${partnerName} foi retirado antes que todos o assinassem.`;
  return `A assinatura de ${title} de ${partnerName} foi recusada.`;
}

function paper({ title, partnerName, askedForPaper }: MailFacts) {
  if (askedForPaper === "another")
    return {
      subject: `${title} não será assinado online`,
      lines: [
        `Uma das pessoas pediu para assinar ${title} de ${partnerName} em papel, por isso a assinatura eletrônica terminou para todos. ${partnerName} cuida dos próximos passos.`,
      ],
    };
  return {
    subject: `${title}: você pediu para assinar em papel`,
    lines: [
      `A assinatura eletrônica de ${title} terminou para todos. Avisamos ${partnerName} de que você quer assinar em papel, e ${partnerName} combina isso com você.`,
    ],
  };
}

export const pt: SignerMails = {
  common: {
    untitled: "seu documento",
    unnamed: "a empresa",
    greeting: (name) => `Olá${name},`,
    documents: (count) => (count === 1 ? "1 documento" : `${count} documentos`),
    why: (firm) => `Você o recebe porque ${firm} indicou você como signatário.`,
  },
  caution: (outcome) =>
    outcome === null
      ? "Este link é só seu: quem o tiver pode assinar em seu nome. Não o repasse."
      : "Este link é só seu: quem o tiver pode ver o que foi enviado a você. Não o repasse.",
  signedBy: (names) => `Assinado por ${names}.`,
  reference: (reference) => `Referência: ${reference}.`,
  moments: {
    request: ({ title, partnerName, until, message, paid }) => ({
      subject: `${title}: por favor, assine`,
      lines: [
        `${partnerName} pede que você leia e assine ${title}.`,
        ...(message === null ? [] : [`${partnerName} escreve: “${message}”`]),
        ...(paid === null ? [] : [`Recebemos seu pagamento de ${paid}. Obrigado.`]),
        `Você pode assinar online até ${until}, ou pedir em papel.`,
      ],
      label: "Ler e assinar",
    }),
    reminder: ({ title, partnerName, until }) => ({
      subject: `${title} ainda aguarda sua assinatura`,
      lines: [`${title} de ${partnerName} ainda aguarda sua assinatura.`, `Você pode assinar online até ${until}.`],
      label: "Ler e assinar",
    }),
    code: ({ title, partnerName }) => ({
      subject: `Seu código para abrir ${title}`,
      lines: [
        `Digite este código na página em que você abriu ${title} de ${partnerName}. Ele vale por 10 minutos.`,
        "Se você não o pediu, outra pessoa pode ter o seu link de assinatura: avise a empresa.",
      ],
      label: "Abrir a página",
    }),
    entry: ({ title, partnerName }) => ({
      subject: `Um link para abrir ${title}`,
      lines: [
        `Códigos errados foram digitados vezes demais para ${title} de ${partnerName}. Abra este link: nenhum código é necessário. Ele vale por 10 minutos.`,
        "Se você não o pediu, outra pessoa pode ter o seu link de assinatura: avise a empresa.",
      ],
      label: "Abrir a página",
    }),
    way_in: ({ title, partnerName }) => ({
      subject: `Um link para abrir ${title}`,
      lines: [
        `Códigos de acesso errados foram digitados vezes demais para ${title} de ${partnerName}. Abra este link e digite o seu código de acesso. Ele vale por 10 minutos.`,
        "Se você não o pediu, outra pessoa pode ter o seu link de assinatura: avise a empresa.",
      ],
      label: "Abrir a página",
    }),
    signed: ({ title, partnerName, about }) => ({
      subject: `Todos assinaram ${title}`,
      lines: [
        `Todos assinaram ${title} de ${partnerName}, e o documento está selado: qualquer alteração posterior apareceria.`,
        ...about,
        "Sua cópia está pronta. Guarde-a: ela pode ser verificada sem nós.",
      ],
      label: "Ver sua cópia",
    }),
    notarized: ({ title, partnerName, about }) => ({
      subject: `${title} foi notarizado`,
      lines: [
        `Um notário notarizou ${title} de ${partnerName}, e o documento está selado: qualquer alteração posterior apareceria.`,
        ...about,
        "Sua cópia está pronta. Guarde-a: ela pode ser verificada sem nós.",
      ],
      label: "Ver sua cópia",
    }),
    notarized_notice: ({ title, partnerName }) => ({
      subject: `${title} foi notarizado`,
      lines: [`Um notário notarizou ${title} de ${partnerName}.`, `Para receber sua cópia, peça-a a ${partnerName}.`],
      label: "",
      caution: "Este e-mail não tem link para o documento, porque ninguém verificou se este endereço é seu.",
    }),
    ended: (facts) => ({
      subject:
        facts.outcome === "Expired"
          ? `${facts.title}: o prazo para assinar terminou`
          : `${facts.title} não será assinado`,
      lines: [`${ended(facts)} Se ainda precisar ser assinado, a empresa envia um novo link.`],
      ...(facts.askedForPaper && paper(facts)),
      label: "Ver o que aconteceu",
    }),
    replaced: ({ title, partnerName, others }) => ({
      subject: `${title}: você não precisa assinar`,
      lines: [
        `${partnerName} pediu a outra pessoa que assine ${title} no seu lugar.`,
        others
          ? `Seu link de assinatura não abre mais este documento, mas ainda abre seus outros documentos${others === "awaited" ? ": os que você ainda não assinou continuam aguardando sua assinatura" : ""}.`
          : "Seu link de assinatura não funciona mais, e você não precisa fazer nada.",
      ],
      label: "",
      caution: "Se você não esperava isto, pergunte à empresa.",
    }),
  },
};

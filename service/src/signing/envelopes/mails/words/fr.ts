import type { MailFacts, SignerMails } from "./facts.ts";

function ended({ title, partnerName, outcome }: MailFacts): string {
  if (outcome === "Expired") return `Tout le monde n’a pas signé ${title} de ${partnerName} à temps.`;
  if (outcome === "Voided") return `${title} de ${partnerName} a été retiré avant que tout le monde l’ait signé.`;
  return `La signature de ${title} de ${partnerName} a été refusée.`;
}

function paper({ title, partnerName, askedForPaper }: MailFacts) {
  if (askedForPaper === "another")
    return {
      subject: `${title} ne sera pas signé en ligne`,
      lines: [
        `Un signataire a demandé à signer ${title} de ${partnerName} sur papier. La signature électronique a donc pris fin pour tout le monde. ${partnerName} organise la suite.`,
      ],
    };
  return {
    subject: `${title} : vous avez demandé du papier`,
    lines: [
      `La signature électronique de ${title} a pris fin pour tout le monde. Nous informons ${partnerName} que vous voulez signer sur papier, et ${partnerName} l’organise avec vous.`,
    ],
  };
}

export const fr: SignerMails = {
  common: {
    untitled: "votre document",
    unnamed: "l’entreprise",
    greeting: (name) => `Bonjour${name},`,
    documents: (count) => `lot de ${count} documents`,
    why: (firm) => `Vous le recevez parce que ${firm} vous a indiqué comme signataire.`,
  },
  caution: (outcome) =>
    outcome === null
      ? "Ce lien n’est qu’à vous : toute personne qui l’a peut signer en votre nom. Ne le transmettez pas."
      : "Ce lien n’est qu’à vous : toute personne qui l’a peut voir ce qui vous a été envoyé. Ne le transmettez pas.",
  signedBy: (names) => `Signé par ${names}.`,
  reference: (reference) => `Référence : ${reference}.`,
  moments: {
    request: ({ title, partnerName, until, message, paid }) => ({
      subject: `${title} : merci de signer`,
      lines: [
        `${partnerName} vous demande de lire et de signer ${title}.`,
        ...(message === null ? [] : [`${partnerName} écrit : « ${message} »`]),
        ...(paid === null ? [] : [`Votre paiement de ${paid} a bien été reçu. Merci.`]),
        `Vous pouvez signer en ligne jusqu’au ${until}, ou demander du papier.`,
      ],
      label: "Lire et signer",
    }),
    reminder: ({ title, partnerName, until }) => ({
      subject: `${title} attend toujours votre signature`,
      lines: [
        `${title} de ${partnerName} attend toujours votre signature.`,
        `Vous pouvez signer en ligne jusqu’au ${until}.`,
      ],
      label: "Lire et signer",
    }),
    code: ({ title, partnerName }) => ({
      subject: `Votre code pour ouvrir ${title}`,
      lines: [
        `Saisissez ce code sur la page où vous avez ouvert ${title} de ${partnerName}. Il est valable 10 minutes.`,
        "Si vous ne l’avez pas demandé, une autre personne a peut-être votre lien de signature : prévenez l’entreprise.",
      ],
      label: "Ouvrir la page",
    }),
    entry: ({ title, partnerName }) => ({
      subject: `Un lien pour ouvrir ${title}`,
      lines: [
        `Trop de codes erronés ont été saisis pour ${title} de ${partnerName}. Ouvrez ce lien : aucun code n’est nécessaire. Il est valable 10 minutes.`,
        "Si vous ne l’avez pas demandé, une autre personne a peut-être votre lien de signature : prévenez l’entreprise.",
      ],
      label: "Ouvrir la page",
    }),
    way_in: ({ title, partnerName }) => ({
      subject: `Un lien pour ouvrir ${title}`,
      lines: [
        `Trop de codes d’accès erronés ont été saisis pour ${title} de ${partnerName}. Ouvrez ce lien et saisissez votre code d’accès. Il est valable 10 minutes.`,
        "Si vous ne l’avez pas demandé, une autre personne a peut-être votre lien de signature : prévenez l’entreprise.",
      ],
      label: "Ouvrir la page",
    }),
    signed: ({ title, partnerName, about }) => ({
      subject: `Tout le monde a signé ${title}`,
      lines: [
        `Tout le monde a signé ${title} de ${partnerName}, et le document est scellé : toute modification ultérieure se verrait.`,
        ...about,
        "Votre copie est prête. Conservez-la : elle peut être vérifiée sans nous.",
      ],
      label: "Voir votre copie",
    }),
    notarized: ({ title, partnerName, about }) => ({
      subject: `${title} : document notarié`,
      lines: [
        `Un notaire a notarié ${title} de ${partnerName}, et le document est scellé : toute modification ultérieure se verrait.`,
        ...about,
        "Votre copie est prête. Conservez-la : elle peut être vérifiée sans nous.",
      ],
      label: "Voir votre copie",
    }),
    notarized_notice: ({ title, partnerName }) => ({
      subject: `${title} : document notarié`,
      lines: [
        `Un notaire a notarié ${title} de ${partnerName}.`,
        `Pour recevoir votre copie, demandez-la à ${partnerName}.`,
      ],
      label: "",
      caution:
        "Cet e-mail ne contient aucun lien vers le document, car personne n’a vérifié que cette adresse est la vôtre.",
    }),
    ended: (facts) => ({
      subject:
        facts.outcome === "Expired"
          ? `${facts.title} : le délai pour signer est écoulé`
          : `${facts.title} ne sera pas signé`,
      lines: [`${ended(facts)} S’il faut encore le signer, l’entreprise envoie un nouveau lien.`],
      ...(facts.askedForPaper && paper(facts)),
      label: "Voir ce qui s’est passé",
    }),
    replaced: ({ title, partnerName, others }) => ({
      subject: `${title} : vous n’avez pas à signer`,
      lines: [
        `${partnerName} a demandé à une autre personne de signer ${title} à votre place.`,
        others
          ? `Votre lien de signature ne l’ouvre plus, mais il ouvre toujours vos autres documents${others === "awaited" ? " : ceux que vous n’avez pas encore signés attendent toujours votre signature" : ""}.`
          : "Votre lien de signature ne fonctionne plus, et vous n’avez rien à faire.",
      ],
      label: "",
      caution: "Si vous ne vous y attendiez pas, demandez à l’entreprise.",
    }),
  },
};

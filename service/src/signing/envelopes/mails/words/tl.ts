import type { MailFacts, SignerMails } from "./facts.ts";

function ended({ title, partnerName, outcome }: MailFacts): string {
  if (outcome === "Expired") return `Hindi lahat ay nakapirma sa oras sa ${title} mula sa ${partnerName}.`;
  if (outcome === "Voided") return `Binawi ang ${title} mula sa ${partnerName} bago ito napirmahan ng lahat.`;
  return `Tinanggihan ang pagpirma sa ${title} mula sa ${partnerName}.`;
}

function paper({ title, partnerName, askedForPaper }: MailFacts) {
  if (askedForPaper === "another")
    return {
      subject: `Hindi na pipirmahan online ang ${title}`,
      lines: [
        `May humiling na pirmahan sa papel ang ${title} mula sa ${partnerName}, kaya natapos na ang elektronikong pagpirma para sa lahat. Isasaayos ng ${partnerName} ang mga susunod na hakbang.`,
      ],
    };
  return {
    subject: `${title}: humingi kayo ng papel`,
    lines: [
      `Natapos na ang elektronikong pagpirma sa ${title} para sa lahat. Ipapaalam namin sa ${partnerName} na gusto ninyong pumirma sa papel, at isasaayos ito ng ${partnerName} kasama ninyo.`,
    ],
  };
}

export const tl: SignerMails = {
  common: {
    untitled: "inyong dokumento",
    unnamed: "kompanya",
    greeting: (name) => `Magandang araw${name},`,
    documents: (count) => `${count} dokumento`,
    why: (firm) => `Natanggap ninyo ito dahil itinala kayo ng ${firm} bilang pipirma.`,
  },
  caution: (outcome) =>
    outcome === null
      ? "Para sa inyo lamang ang link na ito: makakapirma sa inyong pangalan ang sinumang mayroon nito. Huwag itong ipasa."
      : "Para sa inyo lamang ang link na ito: makikita ng sinumang mayroon nito ang ipinadala sa inyo. Huwag itong ipasa.",
  signedBy: (names) => `Pinirmahan nina/ni: ${names}.`,
  reference: (reference) => `Numero ng sanggunian: ${reference}.`,
  moments: {
    request: ({ title, partnerName, until, message, paid }) => ({
      subject: `${title}: pakipirmahan`,
      lines: [
        `Hinihiling ng ${partnerName} na basahin at pirmahan ninyo ang ${title}.`,
        ...(message === null ? [] : [`Isinulat ng ${partnerName}: “${message}”`]),
        ...(paid === null ? [] : [`Natanggap na ang bayad ninyong ${paid}. Salamat.`]),
        `Maaari kayong pumirma online hanggang ${until}, o humingi ng papel.`,
      ],
      label: "Basahin at pirmahan",
    }),
    reminder: ({ title, partnerName, until }) => ({
      subject: `Naghihintay pa ng inyong pirma ang ${title}`,
      lines: [
        `Naghihintay pa ng inyong pirma ang ${title} mula sa ${partnerName}.`,
        `Maaari kayong pumirma online hanggang ${until}.`,
      ],
      label: "Basahin at pirmahan",
    }),
    code: ({ title, partnerName }) => ({
      subject: `Ang inyong code para buksan ang ${title}`,
      lines: [
        `Ilagay ang code na ito sa pahina kung saan ninyo binuksan ang ${title} mula sa ${partnerName}. Gumagana ito nang 10 minuto.`,
        "Kung hindi ninyo ito hiningi, maaaring nasa iba ang inyong link sa pagpirma: sabihan ang kompanya.",
      ],
      label: "Buksan ang pahina",
    }),
    entry: ({ title, partnerName }) => ({
      subject: `Ang inyong link para buksan ang ${title}`,
      lines: [
        `Masyadong maraming maling code ang inilagay para sa ${title} mula sa ${partnerName}. Buksan ang link na ito: hindi na kailangan ng code. Gumagana ito nang 10 minuto.`,
        "Kung hindi ninyo ito hiningi, maaaring nasa iba ang inyong link sa pagpirma: sabihan ang kompanya.",
      ],
      label: "Buksan ang pahina",
    }),
    way_in: ({ title, partnerName }) => ({
      subject: `Ang inyong link para buksan ang ${title}`,
      lines: [
        `Masyadong maraming maling access code ang inilagay para sa ${title} mula sa ${partnerName}. Buksan ang link na ito at ilagay ang inyong access code. Gumagana ito nang 10 minuto.`,
        "Kung hindi ninyo ito hiningi, maaaring nasa iba ang inyong link sa pagpirma: sabihan ang kompanya.",
      ],
      label: "Buksan ang pahina",
    }),
    signed: ({ title, partnerName, about }) => ({
      subject: `Napirmahan na ng lahat ang ${title}`,
      lines: [
        `Napirmahan na ng lahat ang ${title} mula sa ${partnerName}, at naselyuhan ito: makikita ang anumang pagbabago pagkatapos.`,
        ...about,
        "Handa na ang inyong kopya. Itago ito: masusuri ito kahit wala kami.",
      ],
      label: "Tingnan ang inyong kopya",
    }),
    notarized: ({ title, partnerName, about }) => ({
      subject: `Nanotaryo na ang ${title}`,
      lines: [
        `Ninotaryo ng isang notaryo ang ${title} mula sa ${partnerName}, at naselyuhan ito: makikita ang anumang pagbabago pagkatapos.`,
        ...about,
        "Handa na ang inyong kopya. Itago ito: masusuri ito kahit wala kami.",
      ],
      label: "Tingnan ang inyong kopya",
    }),
    notarized_notice: ({ title, partnerName }) => ({
      subject: `Nanotaryo na ang ${title}`,
      lines: [
        `Ninotaryo ng isang notaryo ang ${title} mula sa ${partnerName}.`,
        `Para makuha ang inyong kopya, humingi sa ${partnerName}.`,
      ],
      label: "",
      caution:
        "Walang link papunta sa dokumento ang email na ito, dahil wala pang nagsuri kung sa inyo ang address na ito.",
    }),
    ended: (facts) => ({
      subject:
        facts.outcome === "Expired"
          ? `${facts.title}: lumipas na ang panahon para pumirma`
          : `Hindi na pipirmahan ang ${facts.title}`,
      lines: [`${ended(facts)} Kung kailangan pa itong pirmahan, magpapadala ng bagong link ang kompanya.`],
      ...(facts.askedForPaper && paper(facts)),
      label: "Tingnan ang nangyari",
    }),
    replaced: ({ title, partnerName, others }) => ({
      subject: `${title}: hindi na ninyo kailangang pumirma`,
      lines: [
        `Hiniling ng ${partnerName} sa ibang tao na pumirma sa ${title} kapalit ninyo.`,
        others
          ? `Hindi na ito nabubuksan ng inyong link sa pagpirma, ngunit nabubuksan pa rin ang iba pa ninyong dokumento${others === "awaited" ? ": naghihintay pa rin ng inyong pirma ang mga hindi pa ninyo napipirmahan" : ""}.`
          : "Hindi na gumagana ang inyong link sa pagpirma, at wala kayong kailangang gawin.",
      ],
      label: "",
      caution: "Kung hindi ninyo ito inaasahan, magtanong sa kompanya.",
    }),
  },
};

import type { MailFacts, SignerMails } from "./facts.ts";

function ended({ title, partnerName, outcome }: MailFacts): string {
  if (outcome === "Expired") return `${partnerName}의 ${title}에 모두가 기한 안에 서명하지는 않았습니다.`;
  if (outcome === "Voided") return `${partnerName}의 ${title} 문서는 모두 서명하기 전에 철회되었습니다.`;
  return `${partnerName}의 ${title} 서명이 거부되었습니다.`;
}

function paper({ title, partnerName, askedForPaper }: MailFacts) {
  if (askedForPaper === "another")
    return {
      subject: `${title}: 온라인으로 서명하지 않습니다`,
      lines: [
        `서명자 한 분이 ${partnerName}의 ${title} 문서에 종이로 서명하기를 요청하여 모든 사람의 전자 서명이 종료되었습니다. 이후 절차는 ${partnerName}에서 안내합니다.`,
      ],
    };
  return {
    subject: `${title}: 종이 문서를 요청하셨습니다`,
    lines: [
      `${title} 문서에 대한 모든 사람의 전자 서명이 종료되었습니다. 종이에 서명하기를 원하신다는 것을 ${partnerName}에 알리며, 이후 절차는 ${partnerName}에서 안내합니다.`,
    ],
  };
}

export const ko: SignerMails = {
  common: {
    untitled: "귀하의 문서",
    unnamed: "해당 회사",
    greeting: (name) => (name === "" ? "안녕하십니까," : `${name.trim()} 님, 안녕하십니까?`),
    documents: (count) => `문서 ${count}건`,
    why: (firm) => `${firm}에서 귀하를 서명자로 지정하여 이 이메일을 보내 드립니다.`,
  },
  caution: (outcome) =>
    outcome === null
      ? "이 링크는 귀하만의 것입니다. 링크가 있으면 누구나 귀하의 이름으로 서명할 수 있으니 전달하지 마십시오."
      : "이 링크는 귀하만의 것입니다. 링크가 있으면 누구나 귀하에게 보낸 내용을 볼 수 있으니 전달하지 마십시오.",
  signedBy: (names) => `서명자: ${names}.`,
  reference: (reference) => `참조 번호: ${reference}.`,
  moments: {
    request: ({ title, partnerName, until, message, paid }) => ({
      subject: `${title}: 서명해 주십시오`,
      lines: [
        `${partnerName}에서 ${title} 문서를 읽고 서명해 주시기를 요청합니다.`,
        ...(message === null ? [] : [`${partnerName}의 메시지: “${message}”`]),
        ...(paid === null ? [] : [`${paid} 결제가 완료되었습니다. 감사합니다.`]),
        `${until}까지 온라인으로 서명하거나 종이 문서를 요청할 수 있습니다.`,
      ],
      label: "읽고 서명하기",
    }),
    reminder: ({ title, partnerName, until }) => ({
      subject: `${title}: 아직 서명을 기다리고 있습니다`,
      lines: [
        `${partnerName}의 ${title} 문서가 아직 귀하의 서명을 기다리고 있습니다.`,
        `${until}까지 온라인으로 서명할 수 있습니다.`,
      ],
      label: "읽고 서명하기",
    }),
    code: ({ title, partnerName }) => ({
      subject: `${title}: 문서를 여는 코드`,
      lines: [
        `${partnerName}의 ${title} 문서를 연 페이지에 이 코드를 입력하십시오. 10분 동안 유효합니다.`,
        "요청하지 않으셨다면 다른 사람이 귀하의 서명 링크를 가지고 있을 수 있으니 회사에 알리십시오.",
      ],
      label: "페이지 열기",
    }),
    entry: ({ title, partnerName }) => ({
      subject: `${title}: 문서를 여는 링크`,
      lines: [
        `${partnerName}의 ${title} 문서에 잘못된 코드가 너무 많이 입력되었습니다. 이 링크를 여십시오. 코드는 필요하지 않습니다. 10분 동안 유효합니다.`,
        "요청하지 않으셨다면 다른 사람이 귀하의 서명 링크를 가지고 있을 수 있으니 회사에 알리십시오.",
      ],
      label: "페이지 열기",
    }),
    way_in: ({ title, partnerName }) => ({
      subject: `${title}: 문서를 여는 링크`,
      lines: [
        `${partnerName}의 ${title} 문서에 잘못된 접근 코드가 너무 많이 입력되었습니다. 이 링크를 열고 접근 코드를 입력하십시오. 10분 동안 유효합니다.`,
        "요청하지 않으셨다면 다른 사람이 귀하의 서명 링크를 가지고 있을 수 있으니 회사에 알리십시오.",
      ],
      label: "페이지 열기",
    }),
    signed: ({ title, partnerName, about }) => ({
      subject: `${title}: 모두 서명했습니다`,
      lines: [
        `${partnerName}의 ${title} 문서에 모두 서명했으며 문서가 봉인되었습니다. 이후에 변경하면 드러납니다.`,
        ...about,
        "귀하의 사본이 준비되었습니다. 보관하십시오. 저희 없이도 확인할 수 있습니다.",
      ],
      label: "사본 보기",
    }),
    notarized: ({ title, partnerName, about }) => ({
      subject: `${title}: 공증되었습니다`,
      lines: [
        `공증인이 ${partnerName}의 ${title} 문서를 공증했으며 문서가 봉인되었습니다. 이후에 변경하면 드러납니다.`,
        ...about,
        "귀하의 사본이 준비되었습니다. 보관하십시오. 저희 없이도 확인할 수 있습니다.",
      ],
      label: "사본 보기",
    }),
    notarized_notice: ({ title, partnerName }) => ({
      subject: `${title}: 공증되었습니다`,
      lines: [
        `공증인이 ${partnerName}의 ${title} 문서를 공증했습니다.`,
        `사본이 필요하시면 ${partnerName}에 요청하십시오.`,
      ],
      label: "",
      caution: "이 주소가 귀하의 것인지 확인되지 않았으므로 이 이메일에는 문서 링크가 없습니다.",
    }),
    ended: (facts) => ({
      subject:
        facts.outcome === "Expired"
          ? `${facts.title}: 서명 기한이 지났습니다`
          : `${facts.title}: 서명이 진행되지 않습니다`,
      lines: [`${ended(facts)} 여전히 서명이 필요하면 회사에서 새 링크를 보냅니다.`],
      ...(facts.askedForPaper && paper(facts)),
      label: "자세히 보기",
    }),
    replaced: ({ title, partnerName, others }) => ({
      subject: `${title}: 서명하지 않으셔도 됩니다`,
      lines: [
        `${partnerName}에서 ${title} 문서에 귀하 대신 다른 사람이 서명하도록 요청했습니다.`,
        others
          ? `귀하의 서명 링크로 이 문서는 더 이상 열리지 않지만 다른 문서는 계속 열립니다.${others === "awaited" ? " 아직 서명하지 않으신 문서는 계속 귀하의 서명을 기다립니다." : ""}`
          : "귀하의 서명 링크는 더 이상 작동하지 않으며 하실 일은 없습니다.",
      ],
      label: "",
      caution: "예상하지 못한 일이라면 회사에 문의하십시오.",
    }),
  },
};

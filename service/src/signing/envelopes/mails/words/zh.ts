import type { MailFacts, SignerMails } from "./facts.ts";

function ended({ title, partnerName, outcome }: MailFacts): string {
  if (outcome === "Expired") return `并非所有人都按时签署了${partnerName}的${title}。`;
  if (outcome === "Voided") return `${partnerName}的${title}在所有人签署之前已被撤回。`;
  return `${partnerName}的${title}被拒绝签署。`;
}

function paper({ title, partnerName, askedForPaper }: MailFacts) {
  if (askedForPaper === "another")
    return {
      subject: `${title}将不会在线签署`,
      lines: [
        `一位签署人要求在纸上签署${partnerName}的${title}，因此所有人的电子签署都已终止。后续步骤由${partnerName}安排。`,
      ],
    };
  return {
    subject: `${title}：您要求了纸质文件`,
    lines: [`所有人对${title}的电子签署都已终止。我们会通知${partnerName}您希望在纸上签署，由${partnerName}与您安排。`],
  };
}

export const zh: SignerMails = {
  common: {
    untitled: "您的文件",
    unnamed: "该公司",
    greeting: (name) => `您好${name}：`,
    documents: (count) => `${count} 份文件`,
    why: (firm) => `您收到此邮件，是因为${firm}将您列为签署人。`,
  },
  caution: (outcome) =>
    outcome === null
      ? "此链接仅供您本人使用：任何拥有它的人都能以您的名义签署。请勿转发。"
      : "此链接仅供您本人使用：任何拥有它的人都能看到发送给您的内容。请勿转发。",
  signedBy: (names) => `签署人：${names}。`,
  reference: (reference) => `参考编号：${reference}。`,
  moments: {
    request: ({ title, partnerName, until, message, paid }) => ({
      subject: `${title}：请签署`,
      lines: [
        `${partnerName}请您阅读并签署${title}。`,
        ...(message === null ? [] : [`${partnerName}留言：“${message}”`]),
        ...(paid === null ? [] : [`您的 ${paid} 付款已到账。谢谢。`]),
        `您可以在 ${until} 之前在线签署，也可以要求纸质文件。`,
      ],
      label: "阅读并签署",
    }),
    reminder: ({ title, partnerName, until }) => ({
      subject: `${title} 仍在等待您的签名`,
      lines: [`${partnerName}的${title}仍在等待您的签名。`, `您可以在 ${until} 之前在线签署。`],
      label: "阅读并签署",
    }),
    code: ({ title, partnerName }) => ({
      subject: `打开${title}的验证码`,
      lines: [
        `请在您打开${partnerName}的${title}的页面上输入此验证码。有效期为 10 分钟。`,
        "如果不是您索取的，则可能有他人拥有您的签署链接：请告知该公司。",
      ],
      label: "打开页面",
    }),
    entry: ({ title, partnerName }) => ({
      subject: `打开${title}的链接`,
      lines: [
        `${partnerName}的${title}的验证码输错次数过多。请打开此链接，无需输入验证码。有效期为 10 分钟。`,
        "如果不是您索取的，则可能有他人拥有您的签署链接：请告知该公司。",
      ],
      label: "打开页面",
    }),
    way_in: ({ title, partnerName }) => ({
      subject: `打开${title}的链接`,
      lines: [
        `${partnerName}的${title}的访问码输错次数过多。请打开此链接并输入您的访问码。有效期为 10 分钟。`,
        "如果不是您索取的，则可能有他人拥有您的签署链接：请告知该公司。",
      ],
      label: "打开页面",
    }),
    signed: ({ title, partnerName, about }) => ({
      subject: `所有人都已签署${title}`,
      lines: [
        `所有人都已签署${partnerName}的${title}，文件已封存：此后的任何更改都会显现。`,
        ...about,
        "您的副本已准备好。请妥善保存：无需我们也可以查验。",
      ],
      label: "查看您的副本",
    }),
    notarized: ({ title, partnerName, about }) => ({
      subject: `${title}已公证`,
      lines: [
        `公证人已公证${partnerName}的${title}，文件已封存：此后的任何更改都会显现。`,
        ...about,
        "您的副本已准备好。请妥善保存：无需我们也可以查验。",
      ],
      label: "查看您的副本",
    }),
    notarized_notice: ({ title, partnerName }) => ({
      subject: `${title}已公证`,
      lines: [`公证人已公证${partnerName}的${title}。`, `如需副本，请向${partnerName}索取。`],
      label: "",
      caution: "由于尚未核实此邮箱地址属于您，本邮件不含文件链接。",
    }),
    ended: (facts) => ({
      subject: facts.outcome === "Expired" ? `${facts.title}：签署期限已过` : `${facts.title} 将不会签署`,
      lines: [`${ended(facts)}如果仍需签署，该公司会发送新的链接。`],
      ...(facts.askedForPaper && paper(facts)),
      label: "查看详情",
    }),
    replaced: ({ title, partnerName, others }) => ({
      subject: `${title}：您无需签署`,
      lines: [
        `${partnerName}已请其他人代替您签署${title}。`,
        others
          ? `您的签署链接不再能打开该文件，但仍可打开您的其他文件${others === "awaited" ? "：您尚未签署的文件仍在等待您签署" : ""}。`
          : "您的签署链接已失效，您无需做任何事。",
      ],
      label: "",
      caution: "如果您对此感到意外，请咨询该公司。",
    }),
  },
};

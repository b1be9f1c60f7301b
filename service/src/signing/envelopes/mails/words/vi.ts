import type { MailFacts, SignerMails } from "./facts.ts";

function ended({ title, partnerName, outcome }: MailFacts): string {
  if (outcome === "Expired") return `Không phải ai cũng ký ${title} của ${partnerName} kịp hạn.`;
  if (outcome === "Voided") return `${title} của ${partnerName} đã được rút lại trước khi mọi người ký.`;
  return `Việc ký ${title} của ${partnerName} đã bị từ chối.`;
}

function paper({ title, partnerName, askedForPaper }: MailFacts) {
  if (askedForPaper === "another")
    return {
      subject: `${title} sẽ không được ký trực tuyến`,
      lines: [
        `Một người ký đã yêu cầu ký ${title} của ${partnerName} trên giấy, nên việc ký điện tử đã chấm dứt với tất cả mọi người. ${partnerName} sẽ thu xếp các bước tiếp theo.`,
      ],
    };
  return {
    subject: `${title}: quý vị đã yêu cầu bản giấy`,
    lines: [
      `Việc ký điện tử ${title} đã chấm dứt với tất cả mọi người. Chúng tôi báo cho ${partnerName} rằng quý vị muốn ký trên giấy, và ${partnerName} sẽ thu xếp với quý vị.`,
    ],
  };
}

export const vi: SignerMails = {
  common: {
    untitled: "tài liệu của quý vị",
    unnamed: "công ty",
    greeting: (name) => `Kính chào${name},`,
    documents: (count) => `${count} tài liệu`,
    why: (firm) => `Quý vị nhận email này vì ${firm} đã ghi quý vị là người ký.`,
  },
  caution: (outcome) =>
    outcome === null
      ? "Liên kết này chỉ dành cho quý vị: ai có nó đều có thể ký thay quý vị. Xin đừng chuyển tiếp."
      : "Liên kết này chỉ dành cho quý vị: ai có nó đều có thể xem những gì đã gửi cho quý vị. Xin đừng chuyển tiếp.",
  signedBy: (names) => `Những người đã ký: ${names}.`,
  reference: (reference) => `Số tham chiếu: ${reference}.`,
  moments: {
    request: ({ title, partnerName, until, message, paid }) => ({
      subject: `${title}: xin vui lòng ký`,
      lines: [
        `${partnerName} mời quý vị đọc và ký ${title}.`,
        ...(message === null ? [] : [`${partnerName} viết: “${message}”`]),
        ...(paid === null ? [] : [`Khoản thanh toán ${paid} của quý vị đã được nhận. Xin cảm ơn.`]),
        `Quý vị có thể ký trực tuyến đến ${until}, hoặc yêu cầu bản giấy.`,
      ],
      label: "Đọc và ký",
    }),
    reminder: ({ title, partnerName, until }) => ({
      subject: `${title} vẫn đang chờ chữ ký của quý vị`,
      lines: [
        `${title} của ${partnerName} vẫn đang chờ chữ ký của quý vị.`,
        `Quý vị có thể ký trực tuyến đến ${until}.`,
      ],
      label: "Đọc và ký",
    }),
    code: ({ title, partnerName }) => ({
      subject: `Mã để mở ${title}`,
      lines: [
        `Hãy nhập mã này vào trang nơi quý vị đã mở ${title} của ${partnerName}. Mã có hiệu lực trong 10 phút.`,
        "Nếu quý vị không yêu cầu mã, có thể người khác có liên kết ký của quý vị: hãy báo cho công ty.",
      ],
      label: "Mở trang",
    }),
    entry: ({ title, partnerName }) => ({
      subject: `Liên kết để mở ${title}`,
      lines: [
        `Mã sai đã được nhập quá nhiều lần cho ${title} của ${partnerName}. Hãy mở liên kết này, quý vị không cần nhập mã. Liên kết có hiệu lực trong 10 phút.`,
        "Nếu quý vị không yêu cầu, có thể người khác có liên kết ký của quý vị: hãy báo cho công ty.",
      ],
      label: "Mở trang",
    }),
    way_in: ({ title, partnerName }) => ({
      subject: `Liên kết để mở ${title}`,
      lines: [
        `Mã truy cập sai đã được nhập quá nhiều lần cho ${title} của ${partnerName}. Hãy mở liên kết này và nhập mã truy cập của quý vị. Liên kết có hiệu lực trong 10 phút.`,
        "Nếu quý vị không yêu cầu, có thể người khác có liên kết ký của quý vị: hãy báo cho công ty.",
      ],
      label: "Mở trang",
    }),
    signed: ({ title, partnerName, about }) => ({
      subject: `Mọi người đã ký ${title}`,
      lines: [
        `Mọi người đã ký ${title} của ${partnerName}, và tài liệu đã được niêm phong: mọi thay đổi về sau sẽ lộ ra.`,
        ...about,
        "Bản sao của quý vị đã sẵn sàng. Hãy giữ lại: có thể kiểm tra bản sao mà không cần chúng tôi.",
      ],
      label: "Xem bản sao của quý vị",
    }),
    notarized: ({ title, partnerName, about }) => ({
      subject: `${title} đã được công chứng`,
      lines: [
        `Công chứng viên đã công chứng ${title} của ${partnerName}, và tài liệu đã được niêm phong: mọi thay đổi về sau sẽ lộ ra.`,
        ...about,
        "Bản sao của quý vị đã sẵn sàng. Hãy giữ lại: có thể kiểm tra bản sao mà không cần chúng tôi.",
      ],
      label: "Xem bản sao của quý vị",
    }),
    notarized_notice: ({ title, partnerName }) => ({
      subject: `${title} đã được công chứng`,
      lines: [
        `Công chứng viên đã công chứng ${title} của ${partnerName}.`,
        `Để nhận bản sao của mình, quý vị hãy hỏi ${partnerName}.`,
      ],
      label: "",
      caution: "Email này không có liên kết đến tài liệu, vì chưa ai xác minh rằng địa chỉ này là của quý vị.",
    }),
    ended: (facts) => ({
      subject: facts.outcome === "Expired" ? `${facts.title}: đã hết hạn ký` : `${facts.title} sẽ không được ký`,
      lines: [`${ended(facts)} Nếu vẫn cần ký, công ty sẽ gửi liên kết mới.`],
      ...(facts.askedForPaper && paper(facts)),
      label: "Xem chuyện gì đã xảy ra",
    }),
    replaced: ({ title, partnerName, others }) => ({
      subject: `${title}: quý vị không cần ký`,
      lines: [
        `${partnerName} đã nhờ người khác ký ${title} thay quý vị.`,
        others
          ? `Liên kết ký của quý vị không còn mở tài liệu này, nhưng vẫn mở các tài liệu khác của quý vị${others === "awaited" ? ": những tài liệu quý vị chưa ký vẫn đang chờ chữ ký của quý vị" : ""}.`
          : "Liên kết ký của quý vị không còn hiệu lực, và quý vị không cần làm gì.",
      ],
      label: "",
      caution: "Nếu quý vị thấy bất ngờ, hãy hỏi công ty.",
    }),
  },
};

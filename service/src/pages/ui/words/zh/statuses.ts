import type { Words } from "../en/en.ts";

const askFirm = "有疑问？请咨询下单的公司。他们能看到本页的全部内容。";
const allPaused = "没有丢失任何内容：文件和已完成的工作都会保留。";

export const statuses: Words["orders"]["statuses"] = {
  Created: {
    headline: "我们已收到您的订单",
    summary: "我们已收到文件，正在计算价格。",
    next: ["您的报价会显示在本页，通常很快。"],
  },
  QuoteReady: {
    headline: "您的报价已准备好",
    summary: "我们已收到文件，所有项目均已定价。付款到账后即开始工作。",
    next: ["请在报价中核对所订内容，并支付合计金额。", "付款到账后我们立即开始。"],
  },
  AwaitingPayment: {
    headline: "正在等待付款",
    summary: "付款尚未到账。有些银行需要几个工作日。",
    next: [
      "如果您已付款，则无需再做任何事。款项到账后，本页会更新。",
      "如果您关闭了付款页面或页面已过期，则没有扣款。您可以重新打开。",
    ],
  },
  Paid: {
    headline: "已全额付款，谢谢",
    summary: "付款已到账，我们开始处理文件。",
    next: ["下面的第一个步骤会自动开始。"],
  },
  EsignPending: {
    headline: "文件正在签署",
    summary: "轮到各签署人时，会请其在线签署。",
    next: ["每位签署人阅读并签署文件。", "所有人签署后，下一步骤开始。"],
  },
  EsignComplete: {
    headline: "已签署的文件已封存",
    summary: "签署已完成。文件已封存，任何更改都会显现。",
    next: ["下一步骤会自动开始。"],
  },
  NotarizationPending: {
    headline: "文件正在公证",
    summary: "公证人核实签署人的身份，并对文件进行公证。",
    next: ["签署人：如有预约，请按时赴约，并备好政府签发的带照片证件。", "我们收到经公证的文件后，下一步骤开始。"],
  },
  NotarizationComplete: {
    headline: "文件已公证",
    summary: "公证人已在文件上加盖印章，我们已保存文件。",
    next: ["下一步骤会自动开始。"],
  },
  ShippingPending: {
    headline: "正在准备寄送",
    summary: "我们正在把完成的文件交给承运商。",
    next: ["承运商收到后，本页会更新。"],
  },
  Shipped: {
    headline: "文件已在途中",
    summary: "承运商已收到文件。",
    next: ["送达被记录后，本页会更新。"],
  },
  Delivered: {
    headline: "已记录为送达",
    summary: "送达已记录在案。",
    next: ["剩余步骤列在下面。您无需做任何事。"],
  },
  FaxPending: {
    headline: "正在发送传真",
    summary: "完成的文件正在传真线路上排队。",
    next: ["传真结果记录在案后，本页会更新。"],
  },
  FaxSent: {
    headline: "传真已发送",
    summary: "结果尚未记录在案。",
    next: ["传真结果记录在案后，本页会更新。"],
  },
  FaxDelivered: {
    headline: "已记录为传真送达",
    summary: "传真送达已记录在案。",
    next: ["剩余步骤列在下面。您无需做任何事。"],
  },
  Completed: {
    headline: "全部完成",
    summary: "所订的一切均已完成。",
    next: ["没有需要再做的事。", "我们通过电子邮件发送文件链接。您可以随时回到本页。"],
  },
  PaymentFailed: {
    headline: "付款未成功",
    summary: "订单尚未付款。这种情况时有发生，也容易解决。",
    next: ["请再次付款，或使用其他卡或账户。", askFirm],
  },
  EsignDeclined: {
    headline: "签署已停止",
    summary: "一位签署人没有在线签署，因此所有人的签署都已停止。目前我们不会对文件做其他处理。",
    next: ["请与该签署人商量其需要。", "商定之后，下单的公司可以请我们重新发出文件供签署，或安排在纸上签署。"],
  },
  EsignExpired: {
    headline: "签署期限已过",
    summary: "并非所有人都按时签署，因此签署已关闭。",
    next: ["请联系下单的公司，请其重新发出文件供签署。", allPaused],
  },
  NotarizationFailed: {
    headline: "公证未能完成",
    summary: "公证人未能完成公证会话。常见原因是网络连接不佳、证件问题或有人缺席。",
    next: ["下单的公司可以申请新的会话。", allPaused],
  },
  IdentityLocked: {
    headline: "无法确认签署人的身份",
    summary: "身份核实已达到规则允许的次数。此项核实可防止他人冒充签署人。",
    next: ["我们正在审查。下单的公司可以请我们重新开启核实。", "下次请备好有效的政府签发的带照片证件。"],
  },
  ManualQuoteRequired: {
    headline: "我们正在为此订单定价",
    summary: "其中一部分（通常是邮费）无法自动定价。报价显示目前已知的内容。",
    next: ["我们的工作人员会完成报价，并显示在本页。", "在此之前无需付款。"],
  },
  OnHold: {
    headline: "此订单已暂停",
    summary: "我们正在处理与此订单有关的问题，解决之前工作暂停。",
    next: ["除非我们提出要求，您无需做任何事。工作会从暂停处继续。", askFirm],
  },
  ShippingFailed: {
    headline: "寄送未到达",
    summary: "承运商无法接收或送达。完成的文件本身是安全的。",
    next: ["我们会与下单的公司核对地址并重试。", askFirm],
  },
  RefundPending: {
    headline: "付款正在退还",
    summary: "我们正通过支付服务商退还款项。此订单的工作已停止。",
    next: ["银行通常需要 5 到 10 个工作日才会显示。"],
  },
  Refunded: {
    headline: "此订单已退款",
    summary: "款项已退回原处，订单已关闭。",
    next: ["没有需要再做的事。如需重新开始，可以另下订单。"],
  },
  Cancelled: {
    headline: "此订单已取消",
    summary: "订单已取消，无需付款。",
    next: ["如果付款当时已在途中，款项将退回。", "没有需要再做的事。如需重新开始，可以另下订单。"],
  },
  FaxFailed: {
    headline: "传真未成功",
    summary: "接收线路没有接受：可能占线、缺纸，或不是传真线路。文件本身是安全的。",
    next: ["下单的公司可以更正号码并要求重新发送。", askFirm],
  },
};

export const otherStatus: Words["orders"]["otherStatus"] = (status) => ({
  headline: "此订单正在进行中",
  summary: `其状态为 ${status}。`,
  next: ["除非我们提出要求，您无需做任何事。", askFirm],
});

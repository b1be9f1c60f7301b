import { html } from "../../render.ts";
import type { Words } from "../en/en.ts";
import { fill, orders } from "./orders.ts";
import { room } from "./room.ts";

export const zh: Words = {
  language: "zh",
  nav: { label: "主导航", verify: "查验", language: "语言" },
  preparedBy: "制作：",
  aboutUs: (firm) => `${firm}通过 SignSealShip 办理文件的签署、公证和递送。`,
  updates: "本页每 15 秒更新一次。",
  reload: "请重新加载本页以查看最新内容。",
  components: {
    steps: { done: "已完成", current: "进行中", attention: "需要处理", stopped: "已停止", upcoming: "稍后" },
    money: { item: "项目", amount: "金额", subtotal: "小计", discount: "公司折扣", total: "合计" },
    copy: { go: "复制", done: "已复制", what: (what) => `复制${what}` },
    paper: {
      page: "本页及所有可查验的内容",
      qr: "本页网址的二维码",
      printed: "打印时间：",
    },
  },
  retention: {
    orderDeleted: (at) => html`此订单的文件已按保存计划于 ${at} 删除。其哈希值仍保留在记录中。`,
    ofTestOrder: (days) => `测试文件在最后一次更改 ${days} 天后删除。其哈希值仍保留在记录中。`,
    ofTestRoom: (days) => `测试文件和测试交割证书在最后一次更改 ${days} 天后删除。其哈希值仍保留在记录中。`,
  },
  orders,
  orderPage: {
    test: {
      title: "测试订单",
      text: "其中内容均非真实：没有资金往来，也不会签署、公证或发送任何文件。",
    },
    next: "接下来",
    pay: (amount) => `支付 ${amount}`,
    payAll: (count, amount) => `一并支付 ${count} 份文件：${amount}`,
    payThis: (amount) => `仅支付此文件：${amount}`,
    payWithheld: (count) => `本次交割另有 ${count} 份文件目前无法付款，未包含在内。您的公司正在处理。`,
    firmsTurn: "您的订单已提交",
    nothingToPay: "您无需支付任何费用。下单的公司付款后，工作即会开始。",
    firmPays: "工作开始后，本页会更新。",
    bankPayment: ["您的银行付款正在处理。您无需再做任何事。", "有些银行最多需要四个工作日。银行答复后，本页会更新。"],
    payHint: "您在我们支付服务商的安全页面上付款。在您确认之前不会扣款。",
    toQuote: "查看金额明细",
    progress: "进度",
    signers: "签署人",
    signingLink: "如果您是其中一位，请打开电子邮件中发给您的签署链接。该链接仅供您本人使用。",
    retention: "文件保存期限",
    quote: "报价",
    quoteCaption: "所有金额均为美元",
    unpriced: "目前的报价",
    unpricedCaption: "目前已定价的部分，以美元计",
    totalSoFar: "目前合计",
    details: "详情",
    documents: "文件",
    paper: "此订单的页面",
    facts: {
      document: "文件名称",
      reference: "参考编号",
      firm: "下单公司",
      questions: "咨询",
      placed: "下单时间",
      client: "客户",
      code: "订单代码",
      copyCode: "订单代码",
      carrier: "承运商",
      tracking: "追踪号码",
    },
    share: "任何拥有此链接的人都能看到本页，请谨慎分享。",
    shareDocuments: "任何拥有此链接的人都能下载文件，请谨慎分享。",
  },
  fill,
  room,
  refusals: {
    notFound: {
      title: "找不到页面",
      text: "此网址没有任何内容。如果您是从消息中的链接进入的，请确认复制了完整的链接，包括末尾的长代码，且没有多余的内容。",
    },
    wrongMethod: {
      title: "此网址不接受该请求",
      text: "表单发送到了不接受表单的网址，或打开的并不是页面。请返回后重试。",
    },
    unavailable: {
      title: "暂时无法使用",
      text: "本服务的一部分目前无法使用。没有丢失任何内容：请几分钟后重试。",
    },
    unreadable: { title: "未能成功", text: "无法读取表单。" },
    broken: {
      title: "出了点问题",
      text: "这是我们的错误，与您无关。请稍后重新加载页面。",
    },
    busy: {
      title: "请稍等",
      text: (minutes) => `短时间内收到的请求过多。请等待 ${minutes > 1 ? minutes : 1} 分钟后重试。`,
    },
    home: "前往首页",
  },
  unknownCode: {
    page: "未知代码",
    verdict: {
      title: "我们不认识此代码",
      text: "请确认您复制了完整的链接，包括末尾的长代码。",
    },
    have: { document: "您有文件吗？", certificate: "您有证书吗？" },
    noCode: "那么您不需要代码：",
    check: "直接查验文件本身",
  },
  documentsMail: {
    button: "获取您的文件",
    hint: (email) => `我们会把文件链接发送到订单中的地址 ${email}。`,
    sent: {
      title: "电子邮件已发出",
      text: "我们已把文件链接发送到客户的地址。如果几分钟后仍未收到，请查看垃圾邮件文件夹。",
    },
    unsent: {
      title: "没有发送电子邮件",
      text: "链接在过去 24 小时内已发送多次，或者没有可发送的文件。请查找之前的电子邮件（包括垃圾邮件文件夹），或咨询下单的公司。",
    },
  },
  delivery: {
    title: "给您的文件",
    lead: (firm) => `${firm} 向您发送文件，并附上证明这些文件的证书。`,
    all: "全部下载（zip）",
    documents: "文件",
    download: "下载",
    about: "关于本次发送",
    closing: "交割",
    reference: "档案编号",
    recipient: "收件人",
    until: "链接有效至",
    check: "每个文件都可以不经过我们进行核验。zip 中有一个无需联网的核验页面，本网站也有：",
    listed: "每次下载都会告知发送方。",
  },
  payment: {
    leaving: {
      title: "正在打开付款页面",
      text: "正在为您转到支付服务商。如果没有反应，请使用下面的链接。",
      link: "前往付款页面",
    },
    returned: {
      title: "谢谢",
      text: "您的付款正在确认。支付服务商通知我们款项到账后，您的订单就会继续，通常不到一分钟。您可以关闭本页。",
    },
    cancelled: {
      title: "没有付款",
      text: "您离开了付款页面。您的订单没有变化，您可以稍后付款。",
    },
    unavailable: {
      title: "目前无法付款",
      text: "无法打开付款页面，没有付款。请几分钟后重试。",
    },
    back: "查看订单",
  },
};

import type { Language } from "../../kernel/platform/languages.ts";

const en = {
  title: "Your closing",
  lead: (count: number, firm: string) =>
    count === 1 ? `1 document from ${firm}.` : `${count} documents from ${firm}.`,
  documents: "Documents",
  due: "To pay",
  total: "Total",
  onePayment: "One payment covers all of them.",
  nothingDue: "There is nothing to pay now.",
  inProcess: (title: string) => `${title}: your bank payment is being processed. There is nothing to pay for it now.`,
  disputed: (title: string) => `${title}: a bank still decides about your payment. There is nothing to pay for it now.`,
  stuck: (title: string) =>
    `${title} can’t be paid now, because its notarization can’t be performed as quoted. Please ask the firm that sent it.`,
  firmPays: "The firm that placed these orders pays for them. There is nothing for you to pay.",
  price: "Price",
  handedOver: "Handed over",
  delivered: "Recorded as delivered",
  paper: "The page of your closing",
  share: "Anyone with this link can see this page and pay here, so share it with care.",
};

export type ClosingWords = typeof en;

const es: ClosingWords = {
  title: "Su cierre",
  lead: (count, firm) => (count === 1 ? `1 documento de ${firm}.` : `${count} documentos de ${firm}.`),
  documents: "Documentos",
  due: "Por pagar",
  total: "Total",
  onePayment: "Un solo pago cubre todos.",
  nothingDue: "Ahora no hay nada que pagar.",
  inProcess: (title) => `${title}: su pago bancario se está procesando. Ahora no tiene que pagarlo.`,
  disputed: (title) => `${title}: un banco todavía decide sobre su pago. Ahora no tiene que pagarlo.`,
  stuck: (title) =>
    `${title} no se puede pagar ahora porque su notarización no se puede hacer como se cotizó. Consulte a la empresa que lo envió.`,
  firmPays: "La empresa que hizo estos pedidos los paga. Usted no tiene que pagar nada.",
  price: "Precio",
  handedOver: "Entregado al transportista",
  delivered: "Entrega registrada",
  paper: "La página de su cierre",
  share: "Cualquiera que tenga este enlace puede ver esta página y pagar aquí; compártalo con cuidado.",
};

const fr: ClosingWords = {
  title: "Votre dossier",
  lead: (count, firm) => (count === 1 ? `1 document de ${firm}.` : `${count} documents de ${firm}.`),
  documents: "Documents",
  due: "À payer",
  total: "Total",
  onePayment: "Un seul paiement les couvre tous.",
  nothingDue: "Il n’y a rien à payer pour le moment.",
  inProcess: (title) =>
    `${title} : votre paiement bancaire est en cours. Il n’y a rien à payer pour ce document maintenant.`,
  disputed: (title) =>
    `${title} : une banque décide encore de votre paiement. Il n’y a rien à payer pour ce document maintenant.`,
  stuck: (title) =>
    `${title} ne peut pas être payé maintenant, car sa notarisation ne peut pas être faite comme prévu au devis. Demandez à la société qui l’a envoyé.`,
  firmPays: "La société qui a passé ces commandes les paie. Vous n’avez rien à payer.",
  price: "Prix",
  handedOver: "Remis au transporteur",
  delivered: "Livraison enregistrée",
  paper: "La page de votre dossier",
  share: "Toute personne qui a ce lien peut voir cette page et payer ici : partagez-le avec précaution.",
};

const pt: ClosingWords = {
  title: "Seu fechamento",
  lead: (count, firm) => (count === 1 ? `1 documento de ${firm}.` : `${count} documentos de ${firm}.`),
  documents: "Documentos",
  due: "A pagar",
  total: "Total",
  onePayment: "Um único pagamento cobre todos.",
  nothingDue: "Não há nada a pagar agora.",
  inProcess: (title) => `${title}: seu pagamento bancário está sendo processado. Não há nada a pagar por ele agora.`,
  disputed: (title) => `${title}: um banco ainda decide sobre o seu pagamento. Não há nada a pagar por ele agora.`,
  stuck: (title) =>
    `${title} não pode ser pago agora, porque o ato notarial não pode ser feito como orçado. Fale com a empresa que o enviou.`,
  firmPays: "A empresa que fez estes pedidos paga por eles. Você não precisa pagar nada.",
  price: "Preço",
  handedOver: "Entregue à transportadora",
  delivered: "Entrega registrada",
  paper: "A página do seu fechamento",
  share: "Qualquer pessoa com este link pode ver esta página e pagar aqui; compartilhe-o com cuidado.",
};

const zh: ClosingWords = {
  title: "您的过户交易",
  lead: (count, firm) => `${firm} 的 ${count} 份文件。`,
  documents: "文件",
  due: "应付",
  total: "合计",
  onePayment: "一次付款即可支付全部文件。",
  nothingDue: "现在无需付款。",
  inProcess: (title) => `${title}：您的银行付款正在处理中，现在无需为其付款。`,
  disputed: (title) => `${title}：银行仍在对您的付款作出决定，现在无需为其付款。`,
  stuck: (title) => `${title} 现在无法付款，因为其公证无法按报价办理。请联系发送该文件的公司。`,
  firmPays: "下单的公司支付这些订单的费用。您无需付款。",
  price: "价格",
  handedOver: "交寄日期",
  delivered: "记录的送达日期",
  paper: "您的过户交易页面",
  share: "任何拥有此链接的人都可以查看此页面并在此付款，请谨慎分享。",
};

const vi: ClosingWords = {
  title: "Giao dịch của quý vị",
  lead: (count, firm) => `${count} tài liệu từ ${firm}.`,
  documents: "Tài liệu",
  due: "Cần thanh toán",
  total: "Tổng cộng",
  onePayment: "Một lần thanh toán cho tất cả.",
  nothingDue: "Hiện không có khoản nào cần thanh toán.",
  inProcess: (title) =>
    `${title}: khoản thanh toán qua ngân hàng đang được xử lý. Hiện không cần trả gì cho tài liệu này.`,
  disputed: (title) =>
    `${title}: ngân hàng vẫn đang quyết định về khoản thanh toán. Hiện không cần trả gì cho tài liệu này.`,
  stuck: (title) =>
    `Hiện không thể thanh toán ${title}, vì không thể công chứng như đã báo giá. Vui lòng hỏi công ty đã gửi tài liệu.`,
  firmPays: "Công ty đã đặt các đơn này sẽ thanh toán. Quý vị không cần trả gì.",
  price: "Giá",
  handedOver: "Đã giao cho hãng vận chuyển",
  delivered: "Ngày giao hàng được ghi nhận",
  paper: "Trang giao dịch của quý vị",
  share: "Bất kỳ ai có liên kết này đều có thể xem trang này và thanh toán tại đây, vì vậy hãy chia sẻ cẩn thận.",
};

const ko: ClosingWords = {
  title: "고객님의 클로징",
  lead: (count, firm) => `${firm}의 문서 ${count}건입니다.`,
  documents: "문서",
  due: "결제할 금액",
  total: "합계",
  onePayment: "한 번의 결제로 모두 지불됩니다.",
  nothingDue: "지금 결제할 금액이 없습니다.",
  inProcess: (title) => `${title}: 은행 결제가 처리되고 있습니다. 지금 결제할 금액이 없습니다.`,
  disputed: (title) => `${title}: 은행이 아직 결제에 대해 결정하고 있습니다. 지금 결제할 금액이 없습니다.`,
  stuck: (title) => `${title}: 견적대로 공증할 수 없어 지금은 결제할 수 없습니다. 문서를 보낸 회사에 문의하십시오.`,
  firmPays: "주문한 회사가 비용을 지불합니다. 고객님이 결제할 금액은 없습니다.",
  price: "가격",
  handedOver: "운송사에 인계한 날",
  delivered: "기록된 배송 완료일",
  paper: "고객님의 클로징 페이지",
  share: "이 링크가 있는 사람은 누구나 이 페이지를 보고 결제할 수 있으니 주의해서 공유하십시오.",
};

const tl: ClosingWords = {
  title: "Ang inyong closing",
  lead: (count, firm) => `${count} dokumento mula sa ${firm}.`,
  documents: "Mga dokumento",
  due: "Babayaran",
  total: "Kabuuan",
  onePayment: "Isang bayad para sa lahat ng ito.",
  nothingDue: "Wala kayong babayaran ngayon.",
  inProcess: (title) => `${title}: pinoproseso ang inyong bayad sa bangko. Wala kayong babayaran para dito ngayon.`,
  disputed: (title) =>
    `${title}: nagpapasya pa ang bangko tungkol sa inyong bayad. Wala kayong babayaran para dito ngayon.`,
  stuck: (title) =>
    `Hindi mababayaran ngayon ang ${title} dahil hindi magagawa ang notaryo ayon sa presyong ibinigay. Magtanong sa kompanyang nagpadala nito.`,
  firmPays: "Ang kompanyang naglagay ng mga order na ito ang nagbabayad. Wala kayong babayaran.",
  price: "Presyo",
  handedOver: "Ipinasa sa carrier",
  delivered: "Naitalang naihatid",
  paper: "Ang pahina ng inyong closing",
  share:
    "Sinumang may link na ito ay makakakita sa pahinang ito at makapagbabayad dito, kaya mag-ingat sa pagbabahagi.",
};

export const closingWords: Readonly<Record<Language, ClosingWords>> = { en, es, fr, pt, zh, vi, ko, tl };

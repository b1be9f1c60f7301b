import type { Language } from "../../../kernel/platform/languages.ts";

export type QueueMoment = "called" | "expired";

type MomentWords = { subject: string; line: (notary: string | null) => string; link: string };
type QueueWords = Record<QueueMoment, MomentWords>;

const en: QueueWords = {
  called: {
    subject: "A notary is ready for you now",
    line: (notary) =>
      `${notary ? `The notary ${notary}` : "A notary"} has taken your request and opens the room within minutes. The link of your room follows by email.`,
    link: "See your place",
  },
  expired: {
    subject: "No notary was free",
    line: () => "No notary was free in time, so your request has ended. Choose a time, or ask again.",
    link: "Choose a time",
  },
};

const es: QueueWords = {
  called: {
    subject: "Un notario está listo para usted ahora",
    line: (notary) =>
      `${notary ? `El notario ${notary}` : "Un notario"} ha tomado su solicitud y abre la sala en unos minutos. El enlace de su sala llega por correo.`,
    link: "Ver su lugar",
  },
  expired: {
    subject: "Ningún notario estaba libre",
    line: () => "Ningún notario estuvo libre a tiempo, así que su solicitud terminó. Elija una hora, o pida de nuevo.",
    link: "Elegir una hora",
  },
};

const fr: QueueWords = {
  called: {
    subject: "Un notaire est prêt à vous recevoir maintenant",
    line: (notary) =>
      `${notary ? `Le notaire ${notary}` : "Un notaire"} a pris votre demande et ouvre la salle dans quelques minutes. Le lien de votre salle suit par courriel.`,
    link: "Voir votre place",
  },
  expired: {
    subject: "Aucun notaire n’était libre",
    line: () => "Aucun notaire n’a été libre à temps : votre demande a pris fin. Choisissez une heure ou redemandez.",
    link: "Choisir une heure",
  },
};

const pt: QueueWords = {
  called: {
    subject: "Um tabelião está pronto para você agora",
    line: (notary) =>
      `${notary ? `O tabelião ${notary}` : "Um tabelião"} assumiu seu pedido e abre a sala em alguns minutos. O link da sua sala chega por e-mail.`,
    link: "Ver seu lugar",
  },
  expired: {
    subject: "Nenhum tabelião estava livre",
    line: () => "Nenhum tabelião ficou livre a tempo, então seu pedido terminou. Escolha um horário ou peça de novo.",
    link: "Escolher um horário",
  },
};

const zh: QueueWords = {
  called: {
    subject: "公证人现在可以与您见面",
    line: (notary) =>
      `${notary ? `公证人 ${notary} ` : "一位公证人"}已接受您的请求，几分钟内会打开会议室。会议室链接将通过邮件发送。`,
    link: "查看您的位置",
  },
  expired: {
    subject: "没有空闲的公证人",
    line: () => "没有公证人能及时与您见面，您的请求已结束。请选择时间，或再次请求。",
    link: "选择时间",
  },
};

const vi: QueueWords = {
  called: {
    subject: "Công chứng viên sẵn sàng gặp quý vị ngay",
    line: (notary) =>
      `${notary ? `Công chứng viên ${notary}` : "Một công chứng viên"} đã nhận yêu cầu của quý vị và sẽ mở phòng trong vài phút. Liên kết vào phòng sẽ được gửi qua email.`,
    link: "Xem vị trí của quý vị",
  },
  expired: {
    subject: "Không có công chứng viên nào rảnh",
    line: () =>
      "Không có công chứng viên nào rảnh kịp thời nên yêu cầu của quý vị đã kết thúc. Hãy chọn giờ hoặc yêu cầu lại.",
    link: "Chọn giờ",
  },
};

const ko: QueueWords = {
  called: {
    subject: "공증인이 지금 만날 준비가 되었습니다",
    line: (notary) =>
      `${notary ? `공증인 ${notary} 님이` : "공증인이"} 요청을 받았으며 몇 분 안에 방을 엽니다. 방 링크는 이메일로 보내 드립니다.`,
    link: "내 순서 보기",
  },
  expired: {
    subject: "가능한 공증인이 없었습니다",
    line: () => "제때 가능한 공증인이 없어 요청이 종료되었습니다. 시간을 선택하거나 다시 요청하세요.",
    link: "시간 선택",
  },
};

const tl: QueueWords = {
  called: {
    subject: "May notaryong handa para sa inyo ngayon",
    line: (notary) =>
      `Kinuha ${notary ? `ng notaryong si ${notary}` : "ng isang notaryo"} ang inyong hiling at bubuksan ang silid sa loob ng ilang minuto. Susunod sa email ang link ng inyong silid.`,
    link: "Tingnan ang inyong puwesto",
  },
  expired: {
    subject: "Walang libreng notaryo",
    line: () =>
      "Walang notaryong naging libre sa tamang oras, kaya natapos ang inyong hiling. Pumili ng oras, o humiling muli.",
    link: "Pumili ng oras",
  },
};

/** Mails of the queue for meetings “now”. */
export const queueMailWords: Readonly<Record<Language, QueueWords>> = { en, es, fr, pt, zh, vi, ko, tl };

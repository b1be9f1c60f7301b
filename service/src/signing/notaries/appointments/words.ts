import type { Language } from "../../../kernel/platform/languages.ts";

export type AppointmentMoment = "booked" | "moved" | "canceled" | "reminder" | "again";

type By = (when: string, notary: string | null) => string;

export type BookingWords = {
  subjects: Record<AppointmentMoment, string>;
  lines: Record<AppointmentMoment, By>;
  modes: Record<"ron" | "ipen", string>;
  hello: (name: string | null) => string;
  invite: { subject: string; line: string; link: string };
  summary: string;
  when: string;
  have: string;
  /** The words for the meeting place when people meet in a room of this service. */
  room: string;
  check: string;
  link: string;
  caution: string;
};

const en: BookingWords = {
  subjects: {
    booked: "Your appointment with the notary",
    moved: "Your appointment with the notary was moved",
    canceled: "Your appointment with the notary is canceled",
    reminder: "Your appointment with the notary is soon",
    again: "Choose another time with the notary",
  },
  lines: {
    booked: (when, notary) => `You meet ${notary ? `the notary ${notary}` : "a notary"} on ${when}.`,
    moved: (when, notary) => `The new time: you meet ${notary ? `the notary ${notary}` : "a notary"} on ${when}.`,
    canceled: (when) => `The appointment on ${when} does not take place.`,
    reminder: (when, notary) => `You meet ${notary ? `the notary ${notary}` : "a notary"} on ${when}.`,
    again: (when) => `The appointment on ${when} came to nothing. Choose another time by the link below.`,
  },
  modes: { ron: "By audio and video", ipen: "In person" },
  hello: (name) => (name ? `Hello ${name},` : "Hello,"),
  invite: {
    subject: "Choose a time with the notary",
    line: "Your document waits for a notary. Choose when you meet.",
    link: "Choose a time",
  },
  summary: "Appointment with the notary",
  when: "When",
  have: "Have the credential at hand that you identify yourself with.",
  room: "In the notary’s room of this service. The link below leads there.",
  check: "Check your camera, microphone and connection beforehand: the page of the link below tries them.",
  link: "See the appointment",
  caution: "If you expect no notarization, ignore this email.",
};

const es: BookingWords = {
  subjects: {
    booked: "Su cita con el notario",
    moved: "Se cambió su cita con el notario",
    canceled: "Se canceló su cita con el notario",
    reminder: "Su cita con el notario es pronto",
    again: "Elija otra hora con el notario",
  },
  lines: {
    booked: (when, notary) => `Se reúne con ${notary ? `el notario ${notary}` : "un notario"}: ${when}.`,
    moved: (when, notary) => `La nueva hora: se reúne con ${notary ? `el notario ${notary}` : "un notario"}: ${when}.`,
    canceled: (when) => `La cita del ${when} no tendrá lugar.`,
    reminder: (when, notary) => `Se reúne con ${notary ? `el notario ${notary}` : "un notario"}: ${when}.`,
    again: (when) => `La cita del ${when} no se realizó. Elija otra hora con el enlace de abajo.`,
  },
  modes: { ron: "Por audio y video", ipen: "En persona" },
  hello: (name) => (name ? `Hola, ${name}:` : "Hola:"),
  invite: {
    subject: "Elija una hora con el notario",
    line: "Su documento espera a un notario. Elija cuándo se reúnen.",
    link: "Elegir una hora",
  },
  summary: "Cita con el notario",
  when: "Cuándo",
  have: "Tenga a mano el documento con el que se identifica.",
  room: "En la sala del notario de este servicio. El enlace de abajo lleva allí.",
  check: "Pruebe antes su cámara, su micrófono y su conexión: la página del enlace de abajo los comprueba.",
  link: "Ver la cita",
  caution: "Si no espera ninguna notarización, ignore este correo.",
};

const fr: BookingWords = {
  subjects: {
    booked: "Votre rendez-vous avec le notaire",
    moved: "Votre rendez-vous avec le notaire est déplacé",
    canceled: "Votre rendez-vous avec le notaire est annulé",
    reminder: "Votre rendez-vous avec le notaire approche",
    again: "Choisissez une autre heure avec le notaire",
  },
  lines: {
    booked: (when, notary) => `Vous rencontrez ${notary ? `le notaire ${notary}` : "un notaire"} : ${when}.`,
    moved: (when, notary) =>
      `La nouvelle heure : vous rencontrez ${notary ? `le notaire ${notary}` : "un notaire"} : ${when}.`,
    canceled: (when) => `Le rendez-vous du ${when} n’aura pas lieu.`,
    reminder: (when, notary) => `Vous rencontrez ${notary ? `le notaire ${notary}` : "un notaire"} : ${when}.`,
    again: (when) => `Le rendez-vous du ${when} n’a pas abouti. Choisissez une autre heure par le lien ci-dessous.`,
  },
  modes: { ron: "Par audio et vidéo", ipen: "En personne" },
  hello: (name) => (name ? `Bonjour ${name},` : "Bonjour,"),
  invite: {
    subject: "Choisissez une heure avec le notaire",
    line: "Votre document attend un notaire. Choisissez quand vous vous rencontrez.",
    link: "Choisir une heure",
  },
  summary: "Rendez-vous avec le notaire",
  when: "Quand",
  have: "Ayez à portée de main la pièce avec laquelle vous vous identifiez.",
  room: "Dans la salle du notaire de ce service. Le lien ci-dessous y mène.",
  check: "Essayez avant votre caméra, votre microphone et votre connexion : la page du lien ci-dessous les vérifie.",
  link: "Voir le rendez-vous",
  caution: "Si vous n’attendez aucun acte notarié, ignorez ce courriel.",
};

const pt: BookingWords = {
  subjects: {
    booked: "Sua hora marcada com o tabelião",
    moved: "Sua hora com o tabelião foi alterada",
    canceled: "Sua hora com o tabelião foi cancelada",
    reminder: "Sua hora com o tabelião está próxima",
    again: "Escolha outra hora com o tabelião",
  },
  lines: {
    booked: (when, notary) => `Você se encontra com ${notary ? `o tabelião ${notary}` : "um tabelião"}: ${when}.`,
    moved: (when, notary) =>
      `A nova hora: você se encontra com ${notary ? `o tabelião ${notary}` : "um tabelião"}: ${when}.`,
    canceled: (when) => `O encontro de ${when} não vai acontecer.`,
    reminder: (when, notary) => `Você se encontra com ${notary ? `o tabelião ${notary}` : "um tabelião"}: ${when}.`,
    again: (when) => `O encontro de ${when} não se realizou. Escolha outra hora pelo link abaixo.`,
  },
  modes: { ron: "Por áudio e vídeo", ipen: "Presencial" },
  hello: (name) => (name ? `Olá, ${name},` : "Olá,"),
  invite: {
    subject: "Escolha um horário com o tabelião",
    line: "Seu documento espera um tabelião. Escolha quando vocês se encontram.",
    link: "Escolher um horário",
  },
  summary: "Encontro com o tabelião",
  when: "Quando",
  have: "Tenha à mão o documento com que você se identifica.",
  room: "Na sala do tabelião neste serviço. O link abaixo leva até lá.",
  check: "Teste antes sua câmera, seu microfone e sua conexão: a página do link abaixo faz o teste.",
  link: "Ver o encontro",
  caution: "Se você não espera nenhum ato notarial, ignore este e-mail.",
};

const zh: BookingWords = {
  subjects: {
    booked: "您与公证人的预约",
    moved: "您与公证人的预约已改期",
    canceled: "您与公证人的预约已取消",
    reminder: "您与公证人的预约即将开始",
    again: "请选择与公证人见面的其他时间",
  },
  lines: {
    booked: (when, notary) => `您将与${notary ? `公证人 ${notary} ` : "公证人"}见面：${when}。`,
    moved: (when, notary) => `新的时间：您将与${notary ? `公证人 ${notary} ` : "公证人"}见面：${when}。`,
    canceled: (when) => `${when} 的预约不再进行。`,
    reminder: (when, notary) => `您将与${notary ? `公证人 ${notary} ` : "公证人"}见面：${when}。`,
    again: (when) => `${when} 的预约未能完成。请通过下面的链接选择其他时间。`,
  },
  modes: { ron: "通过音视频", ipen: "当面" },
  hello: (name) => (name ? `${name}，您好：` : "您好："),
  invite: { subject: "请选择与公证人见面的时间", line: "您的文件正等待公证人。请选择见面时间。", link: "选择时间" },
  summary: "与公证人的预约",
  when: "时间",
  have: "请准备好您用于证明身份的证件。",
  room: "在本服务的公证人会议室。下面的链接通向那里。",
  check: "请提前测试您的摄像头、麦克风和网络：下面链接的页面可以测试。",
  link: "查看预约",
  caution: "如果您没有等待公证，请忽略此邮件。",
};

const vi: BookingWords = {
  subjects: {
    booked: "Cuộc hẹn của quý vị với công chứng viên",
    moved: "Cuộc hẹn với công chứng viên đã được dời",
    canceled: "Cuộc hẹn với công chứng viên đã bị hủy",
    reminder: "Cuộc hẹn với công chứng viên sắp đến",
    again: "Hãy chọn giờ khác với công chứng viên",
  },
  lines: {
    booked: (when, notary) => `Quý vị gặp ${notary ? `công chứng viên ${notary}` : "công chứng viên"}: ${when}.`,
    moved: (when, notary) =>
      `Giờ mới: quý vị gặp ${notary ? `công chứng viên ${notary}` : "công chứng viên"}: ${when}.`,
    canceled: (when) => `Cuộc hẹn ${when} sẽ không diễn ra.`,
    reminder: (when, notary) => `Quý vị gặp ${notary ? `công chứng viên ${notary}` : "công chứng viên"}: ${when}.`,
    again: (when) => `Cuộc hẹn ${when} đã không thành. Hãy chọn giờ khác bằng liên kết bên dưới.`,
  },
  modes: { ron: "Qua âm thanh và hình ảnh", ipen: "Gặp trực tiếp" },
  hello: (name) => (name ? `Xin chào ${name},` : "Xin chào,"),
  invite: {
    subject: "Hãy chọn giờ với công chứng viên",
    line: "Tài liệu của quý vị đang chờ công chứng viên. Hãy chọn giờ gặp.",
    link: "Chọn giờ",
  },
  summary: "Cuộc hẹn với công chứng viên",
  when: "Thời gian",
  have: "Hãy chuẩn bị sẵn giấy tờ dùng để chứng minh danh tính.",
  room: "Trong phòng của công chứng viên trên dịch vụ này. Liên kết bên dưới dẫn đến đó.",
  check: "Hãy thử trước máy ảnh, micrô và đường truyền: trang của liên kết bên dưới sẽ kiểm tra.",
  link: "Xem cuộc hẹn",
  caution: "Nếu quý vị không chờ việc công chứng nào, hãy bỏ qua email này.",
};

const ko: BookingWords = {
  subjects: {
    booked: "공증인과의 예약",
    moved: "공증인과의 예약이 변경되었습니다",
    canceled: "공증인과의 예약이 취소되었습니다",
    reminder: "공증인과의 예약이 곧 시작됩니다",
    again: "공증인과 만날 다른 시간을 선택하세요",
  },
  lines: {
    booked: (when, notary) => `${notary ? `공증인 ${notary} 님과` : "공증인과"} 만납니다: ${when}.`,
    moved: (when, notary) => `새 시간: ${notary ? `공증인 ${notary} 님과` : "공증인과"} 만납니다: ${when}.`,
    canceled: (when) => `${when} 예약은 진행되지 않습니다.`,
    reminder: (when, notary) => `${notary ? `공증인 ${notary} 님과` : "공증인과"} 만납니다: ${when}.`,
    again: (when) => `${when} 예약이 이루어지지 않았습니다. 아래 링크에서 다른 시간을 선택하세요.`,
  },
  modes: { ron: "음성과 영상", ipen: "대면" },
  hello: (name) => (name ? `${name} 님, 안녕하세요.` : "안녕하세요."),
  invite: {
    subject: "공증인과 만날 시간을 선택하세요",
    line: "문서가 공증인을 기다리고 있습니다. 만날 시간을 선택하세요.",
    link: "시간 선택",
  },
  summary: "공증인과의 예약",
  when: "시간",
  have: "신원을 증명할 신분증을 준비해 주세요.",
  room: "이 서비스의 공증인 방입니다. 아래 링크로 들어갑니다.",
  check: "미리 카메라, 마이크, 회선을 확인하세요. 아래 링크의 페이지에서 확인할 수 있습니다.",
  link: "예약 보기",
  caution: "예정된 공증이 없다면 이 메일을 무시하세요.",
};

const tl: BookingWords = {
  subjects: {
    booked: "Ang inyong appointment sa notaryo",
    moved: "Nailipat ang inyong appointment sa notaryo",
    canceled: "Kinansela ang inyong appointment sa notaryo",
    reminder: "Malapit na ang inyong appointment sa notaryo",
    again: "Pumili ng ibang oras sa notaryo",
  },
  lines: {
    booked: (when, notary) => `Makikipagkita kayo sa ${notary ? `notaryong si ${notary}` : "notaryo"}: ${when}.`,
    moved: (when, notary) =>
      `Bagong oras: makikipagkita kayo sa ${notary ? `notaryong si ${notary}` : "notaryo"}: ${when}.`,
    canceled: (when) => `Hindi matutuloy ang appointment noong ${when}.`,
    reminder: (when, notary) => `Makikipagkita kayo sa ${notary ? `notaryong si ${notary}` : "notaryo"}: ${when}.`,
    again: (when) => `Hindi natuloy ang appointment noong ${when}. Pumili ng ibang oras sa link sa ibaba.`,
  },
  modes: { ron: "Sa audio at video", ipen: "Nang personal" },
  hello: (name) => (name ? `Kumusta ${name},` : "Kumusta,"),
  invite: {
    subject: "Pumili ng oras sa notaryo",
    line: "Naghihintay ng notaryo ang inyong dokumento. Piliin kung kailan kayo magkikita.",
    link: "Pumili ng oras",
  },
  summary: "Appointment sa notaryo",
  when: "Kailan",
  have: "Ihanda ang ID na gagamitin ninyo sa pagpapakilala.",
  room: "Sa silid ng notaryo sa serbisyong ito. Dito papunta ang link sa ibaba.",
  check: "Subukan muna ang inyong kamera, mikropono at linya: sinusubukan ang mga ito ng page ng link sa ibaba.",
  link: "Tingnan ang appointment",
  caution: "Kung wala kayong inaasahang notaryo, huwag pansinin ang email na ito.",
};

export const bookingWords: Readonly<Record<Language, BookingWords>> = { en, es, fr, pt, zh, vi, ko, tl };

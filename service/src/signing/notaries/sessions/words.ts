import type { Language } from "../../../kernel/platform/languages.ts";

/** Mails of live sessions: the link of a person's room, and the code that binds it to one browser. */
type LiveMailWords = {
  link: { subject: string; line: (notary: string | null) => string; have: string; open: string };
  code: { subject: string; line: (code: string) => string; minutes: string };
  hello: (name: string | null) => string;
  caution: string;
};

const en: LiveMailWords = {
  link: {
    subject: "The notary is ready to meet you",
    line: (notary) => `${notary ? `The notary ${notary}` : "The notary"} waits for you by audio and video.`,
    have: "You need a camera and a microphone, and your identity document at hand. The link is yours alone: do not pass it on.",
    open: "Go to the waiting room",
  },
  code: {
    subject: "Your code for the notary’s room",
    line: (code) => `Your code is ${code}.`,
    minutes: "It works for 10 minutes, in the browser where you asked for it.",
  },
  hello: (name) => (name ? `Hello ${name},` : "Hello,"),
  caution: "If you expect no notarization, ignore this email.",
};

const es: LiveMailWords = {
  link: {
    subject: "El notario está listo para reunirse con usted",
    line: (notary) => `${notary ? `El notario ${notary}` : "El notario"} le espera por audio y video.`,
    have: "Necesita cámara y micrófono, y su documento de identidad a mano. El enlace es solo suyo: no lo comparta.",
    open: "Ir a la sala de espera",
  },
  code: {
    subject: "Su código para la sala del notario",
    line: (code) => `Su código es ${code}.`,
    minutes: "Funciona durante 10 minutos, en el navegador en que lo pidió.",
  },
  hello: (name) => (name ? `Hola, ${name}:` : "Hola:"),
  caution: "Si no espera ninguna notarización, ignore este correo.",
};

const fr: LiveMailWords = {
  link: {
    subject: "Le notaire est prêt à vous recevoir",
    line: (notary) => `${notary ? `Le notaire ${notary}` : "Le notaire"} vous attend en audio et vidéo.`,
    have: "Il vous faut une caméra, un microphone et votre pièce d’identité. Le lien est personnel : ne le transmettez pas.",
    open: "Aller à la salle d’attente",
  },
  code: {
    subject: "Votre code pour la salle du notaire",
    line: (code) => `Votre code est ${code}.`,
    minutes: "Il est valable 10 minutes, dans le navigateur où vous l’avez demandé.",
  },
  hello: (name) => (name ? `Bonjour ${name},` : "Bonjour,"),
  caution: "Si vous n’attendez aucun acte notarié, ignorez ce message.",
};

const pt: LiveMailWords = {
  link: {
    subject: "O tabelião está pronto para encontrar você",
    line: (notary) => `${notary ? `O tabelião ${notary}` : "O tabelião"} espera você por áudio e vídeo.`,
    have: "Você precisa de câmera, microfone e seu documento de identidade à mão. O link é só seu: não o repasse.",
    open: "Ir para a sala de espera",
  },
  code: {
    subject: "Seu código para a sala do tabelião",
    line: (code) => `Seu código é ${code}.`,
    minutes: "Ele funciona por 10 minutos, no navegador em que você o pediu.",
  },
  hello: (name) => (name ? `Olá, ${name},` : "Olá,"),
  caution: "Se você não espera nenhum ato notarial, ignore este e-mail.",
};

const zh: LiveMailWords = {
  link: {
    subject: "公证人已准备好与您会面",
    line: (notary) => `${notary ? `公证人 ${notary} ` : "公证人"}正通过音视频等候您。`,
    have: "您需要摄像头和麦克风，并准备好身份证件。此链接仅供您本人使用，请勿转发。",
    open: "进入等候室",
  },
  code: {
    subject: "公证室的验证码",
    line: (code) => `您的验证码是 ${code}。`,
    minutes: "10 分钟内有效，请在申请验证码的浏览器中使用。",
  },
  hello: (name) => (name ? `${name}，您好：` : "您好："),
  caution: "如果您没有等待公证，请忽略此邮件。",
};

const vi: LiveMailWords = {
  link: {
    subject: "Công chứng viên đã sẵn sàng gặp quý vị",
    line: (notary) =>
      `${notary ? `Công chứng viên ${notary}` : "Công chứng viên"} đang chờ quý vị qua âm thanh và hình ảnh.`,
    have: "Quý vị cần máy ảnh, micrô và giấy tờ tùy thân. Liên kết chỉ dành cho quý vị: đừng chuyển cho người khác.",
    open: "Vào phòng chờ",
  },
  code: {
    subject: "Mã vào phòng công chứng",
    line: (code) => `Mã của quý vị là ${code}.`,
    minutes: "Mã có hiệu lực trong 10 phút, trên trình duyệt nơi quý vị yêu cầu mã.",
  },
  hello: (name) => (name ? `Xin chào ${name},` : "Xin chào,"),
  caution: "Nếu quý vị không chờ việc công chứng nào, hãy bỏ qua email này.",
};

const ko: LiveMailWords = {
  link: {
    subject: "공증인이 기다리고 있습니다",
    line: (notary) => `${notary ? `공증인 ${notary} 님이` : "공증인이"} 음성과 영상으로 기다리고 있습니다.`,
    have: "카메라와 마이크, 신분증을 준비해 주세요. 링크는 본인만 사용할 수 있으니 전달하지 마세요.",
    open: "대기실로 가기",
  },
  code: {
    subject: "공증실 인증 코드",
    line: (code) => `인증 코드는 ${code}입니다.`,
    minutes: "코드를 요청한 브라우저에서 10분 동안 유효합니다.",
  },
  hello: (name) => (name ? `${name} 님, 안녕하세요.` : "안녕하세요."),
  caution: "예정된 공증이 없다면 이 이메일을 무시하세요.",
};

const tl: LiveMailWords = {
  link: {
    subject: "Handa na ang notaryo na makipagkita sa inyo",
    line: (notary) => `Naghihintay sa inyo ang ${notary ? `notaryong si ${notary}` : "notaryo"} sa audio at video.`,
    have: "Kailangan ninyo ng kamera at mikropono, at ang inyong ID. Para sa inyo lang ang link: huwag itong ipasa.",
    open: "Pumunta sa silid-hintayan",
  },
  code: {
    subject: "Ang code ninyo para sa silid ng notaryo",
    line: (code) => `Ang code ninyo ay ${code}.`,
    minutes: "Gumagana ito nang 10 minuto, sa browser kung saan ninyo ito hiningi.",
  },
  hello: (name) => (name ? `Kumusta ${name},` : "Kumusta,"),
  caution: "Kung wala kayong inaasahang notaryo, balewalain ang email na ito.",
};

export const liveMailWords: Readonly<Record<Language, LiveMailWords>> = { en, es, fr, pt, zh, vi, ko, tl };

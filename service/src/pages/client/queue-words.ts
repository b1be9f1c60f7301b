import type { Language } from "../../kernel/platform/languages.ts";

/** The texts about the queue for meeting a notary without an appointment. */
type QueueWords = {
  title: string;
  offer: string;
  ask: string;
  place: (place: number) => string;
  free: string;
  minutes: (minutes: number, sessions: number) => string;
  unknown: string;
  nobody: string;
  until: (when: string) => string;
  leave: string;
  accepted: (notary: string) => string;
  aNotary: string;
  open: string;
  enter: string;
  expired: string;
  refused: string;
  /** The title while a meeting room is open, or while an appointment for a meeting room is booked. */
  room: string;
  booked: string;
};

const en: QueueWords = {
  title: "Meet a notary now",
  offer:
    "Notaries are on duty. Ask now, and one of them calls you by audio and video. You need a camera, a microphone and your identity document.",
  ask: "Ask to meet now",
  place: (place) => `You are number ${place} in the queue.`,
  free: "A notary who may meet you is free now.",
  minutes: (minutes, sessions) =>
    `A rough estimate is ${minutes} minutes, from the last ${sessions} sessions. Nobody can promise it.`,
  unknown: "All notaries are busy. Too few sessions were held here to estimate the wait.",
  nobody: "No notary who may meet you is on duty any more. You can choose a time instead.",
  until: (when) =>
    `Keep this page open, or wait for the email. Your request ends at ${when}; then you can choose a time.`,
  leave: "Leave the queue",
  accepted: (notary) => `${notary} has taken your request and opens the room now. Stay here.`,
  aNotary: "A notary",
  open: "The notary’s room is open.",
  enter: "Go to the room",
  expired: "No notary was free in time. Choose a time below, or ask again.",
  refused: "That can’t be asked now. Choose a time below.",
  room: "The notary’s room",
  booked:
    "The room is not open yet. The notary opens it at the time of your appointment. Keep this page open then: it shows the button to the room.",
};

const es: QueueWords = {
  title: "Reunirse ahora con un notario",
  offer:
    "Hay notarios de guardia. Pídalo ahora y uno de ellos le llama por audio y video. Necesita cámara, micrófono y su documento de identidad.",
  ask: "Pedir una reunión ahora",
  place: (place) => `Usted es el número ${place} de la fila.`,
  free: "Un notario que puede reunirse con usted está libre ahora.",
  minutes: (minutes, sessions) =>
    `Una estimación aproximada es de ${minutes} minutos, según las últimas ${sessions} sesiones. Nadie puede prometerlo.`,
  unknown: "Todos los notarios están ocupados. Hubo muy pocas sesiones para estimar la espera.",
  nobody: "Ya no hay de guardia ningún notario que pueda reunirse con usted. Puede elegir una hora.",
  until: (when) =>
    `Mantenga esta página abierta o espere el correo. Su solicitud termina a las ${when}; después puede elegir una hora.`,
  leave: "Salir de la fila",
  accepted: (notary) => `${notary} ha tomado su solicitud y abre la sala ahora. Quédese aquí.`,
  aNotary: "Un notario",
  open: "La sala del notario está abierta.",
  enter: "Ir a la sala",
  expired: "Ningún notario estuvo libre a tiempo. Elija una hora abajo o pida de nuevo.",
  refused: "Ahora no se puede pedir. Elija una hora abajo.",
  room: "La sala del notario",
  booked:
    "La sala aún no está abierta. El notario la abre a la hora de su cita. Tenga abierta entonces esta página: mostrará el botón para entrar.",
};

const fr: QueueWords = {
  title: "Rencontrer un notaire maintenant",
  offer:
    "Des notaires sont de permanence. Demandez, et l’un d’eux vous appelle en audio et vidéo. Il vous faut une caméra, un microphone et votre pièce d’identité.",
  ask: "Demander à être reçu maintenant",
  place: (place) => `Vous êtes au numéro ${place} de la file.`,
  free: "Un notaire qui peut vous recevoir est libre maintenant.",
  minutes: (minutes, sessions) =>
    `L’estimation est d’environ ${minutes} minutes, d’après les ${sessions} dernières séances. Personne ne peut le promettre.`,
  unknown: "Tous les notaires sont occupés. Trop peu de séances ont eu lieu pour estimer l’attente.",
  nobody: "Plus aucun notaire qui puisse vous recevoir n’est de permanence. Vous pouvez choisir une heure.",
  until: (when) =>
    `Gardez cette page ouverte ou attendez le courriel. Votre demande prend fin à ${when} ; vous pourrez alors choisir une heure.`,
  leave: "Quitter la file",
  accepted: (notary) => `${notary} a pris votre demande et ouvre la salle. Restez ici.`,
  aNotary: "Un notaire",
  open: "La salle du notaire est ouverte.",
  enter: "Aller à la salle",
  expired: "Aucun notaire n’a été libre à temps. Choisissez une heure ci-dessous ou redemandez.",
  refused: "La demande n’est pas possible maintenant. Choisissez une heure ci-dessous.",
  room: "La salle du notaire",
  booked:
    "La salle n’est pas encore ouverte. Le notaire l’ouvre à l’heure du rendez-vous. Gardez alors cette page ouverte : elle montrera le bouton pour entrer.",
};

const pt: QueueWords = {
  title: "Encontrar um tabelião agora",
  offer:
    "Há tabeliães de plantão. Peça agora, e um deles chama você por áudio e vídeo. Você precisa de câmera, microfone e seu documento de identidade.",
  ask: "Pedir um encontro agora",
  place: (place) => `Você é o número ${place} da fila.`,
  free: "Um tabelião que pode atender você está livre agora.",
  minutes: (minutes, sessions) =>
    `Uma estimativa aproximada é de ${minutes} minutos, pelas últimas ${sessions} sessões. Ninguém pode prometer isso.`,
  unknown: "Todos os tabeliães estão ocupados. Houve sessões de menos para estimar a espera.",
  nobody: "Não há mais de plantão nenhum tabelião que possa atender você. Você pode escolher um horário.",
  until: (when) =>
    `Deixe esta página aberta ou espere o e-mail. Seu pedido termina às ${when}; depois você pode escolher um horário.`,
  leave: "Sair da fila",
  accepted: (notary) => `${notary} assumiu seu pedido e abre a sala agora. Fique aqui.`,
  aNotary: "Um tabelião",
  open: "A sala do tabelião está aberta.",
  enter: "Ir para a sala",
  expired: "Nenhum tabelião ficou livre a tempo. Escolha um horário abaixo ou peça de novo.",
  refused: "Isso não pode ser pedido agora. Escolha um horário abaixo.",
  room: "A sala do tabelião",
  booked:
    "A sala ainda não está aberta. O tabelião a abre na hora do encontro. Deixe esta página aberta nessa hora: ela mostrará o botão para entrar.",
};

const zh: QueueWords = {
  title: "现在与公证人见面",
  offer: "现在有公证人值班。请提出请求，其中一位会通过音视频与您见面。您需要摄像头、麦克风和身份证件。",
  ask: "请求现在见面",
  place: (place) => `您排在第 ${place} 位。`,
  free: "现在有一位可以与您见面的公证人空闲。",
  minutes: (minutes, sessions) => `按最近 ${sessions} 次会面粗略估计需要 ${minutes} 分钟，但无法保证。`,
  unknown: "所有公证人都在忙。以往的会面太少，无法估计等待时间。",
  nobody: "已没有可以与您见面的公证人值班。您可以选择时间。",
  until: (when) => `请保持此页面打开，或等待邮件。您的请求将于 ${when} 结束，之后可以选择时间。`,
  leave: "离开队列",
  accepted: (notary) => `${notary}已接受您的请求，正在打开会议室。请留在此页面。`,
  aNotary: "公证人",
  open: "公证人的会议室已打开。",
  enter: "进入会议室",
  expired: "没有公证人能及时与您见面。请在下面选择时间，或再次请求。",
  refused: "现在无法提出请求。请在下面选择时间。",
  room: "公证人的会议室",
  booked: "会议室尚未打开。公证人会在预约时间打开。届时请保持此页面打开，页面会显示进入按钮。",
};

const vi: QueueWords = {
  title: "Gặp công chứng viên ngay",
  offer:
    "Có công chứng viên đang trực. Hãy yêu cầu, và một người sẽ gặp quý vị qua âm thanh và hình ảnh. Quý vị cần máy quay, micrô và giấy tờ tùy thân.",
  ask: "Yêu cầu gặp ngay",
  place: (place) => `Quý vị ở vị trí số ${place} trong hàng chờ.`,
  free: "Một công chứng viên có thể gặp quý vị đang rảnh.",
  minutes: (minutes, sessions) =>
    `Ước tính khoảng ${minutes} phút, theo ${sessions} phiên gần nhất. Không ai có thể hứa chắc.`,
  unknown: "Tất cả công chứng viên đều bận. Có quá ít phiên để ước tính thời gian chờ.",
  nobody: "Không còn công chứng viên nào có thể gặp quý vị đang trực. Quý vị có thể chọn giờ.",
  until: (when) =>
    `Hãy để trang này mở, hoặc chờ email. Yêu cầu của quý vị kết thúc lúc ${when}; sau đó quý vị có thể chọn giờ.`,
  leave: "Rời hàng chờ",
  accepted: (notary) => `${notary} đã nhận yêu cầu của quý vị và đang mở phòng. Xin ở lại đây.`,
  aNotary: "Một công chứng viên",
  open: "Phòng của công chứng viên đã mở.",
  enter: "Vào phòng",
  expired: "Không có công chứng viên nào rảnh kịp thời. Hãy chọn giờ bên dưới hoặc yêu cầu lại.",
  refused: "Hiện không thể yêu cầu. Hãy chọn giờ bên dưới.",
  room: "Phòng của công chứng viên",
  booked: "Phòng chưa mở. Công chứng viên mở phòng vào giờ hẹn. Khi đó hãy để trang này mở: trang sẽ hiện nút để vào.",
};

const ko: QueueWords = {
  title: "지금 공증인 만나기",
  offer:
    "근무 중인 공증인이 있습니다. 지금 요청하면 공증인이 음성과 영상으로 연결합니다. 카메라, 마이크, 신분증이 필요합니다.",
  ask: "지금 만남 요청",
  place: (place) => `대기 순서는 ${place}번입니다.`,
  free: "지금 만날 수 있는 공증인이 있습니다.",
  minutes: (minutes, sessions) =>
    `최근 ${sessions}회 세션 기준으로 약 ${minutes}분으로 추정되며, 보장할 수는 없습니다.`,
  unknown: "모든 공증인이 바쁩니다. 세션이 너무 적어 대기 시간을 추정할 수 없습니다.",
  nobody: "만날 수 있는 공증인이 더 이상 근무 중이 아닙니다. 시간을 선택할 수 있습니다.",
  until: (when) =>
    `이 페이지를 열어 두거나 이메일을 기다리세요. 요청은 ${when}에 종료되며, 그 후 시간을 선택할 수 있습니다.`,
  leave: "대기열에서 나가기",
  accepted: (notary) => `${notary} 님이 요청을 받고 방을 열고 있습니다. 이 페이지에 계세요.`,
  aNotary: "공증인",
  open: "공증인의 방이 열렸습니다.",
  enter: "방으로 가기",
  expired: "제때 가능한 공증인이 없었습니다. 아래에서 시간을 선택하거나 다시 요청하세요.",
  refused: "지금은 요청할 수 없습니다. 아래에서 시간을 선택하세요.",
  room: "공증인의 방",
  booked:
    "방이 아직 열리지 않았습니다. 공증인이 예약 시간에 방을 엽니다. 그때 이 페이지를 열어 두면 들어가는 버튼이 나타납니다.",
};

const tl: QueueWords = {
  title: "Makipagkita sa notaryo ngayon",
  offer:
    "May mga notaryong naka-duty. Humiling ngayon, at tatawagan kayo ng isa sa kanila sa audio at video. Kailangan ninyo ng camera, mikropono at ID.",
  ask: "Humiling na makipagkita ngayon",
  place: (place) => `Kayo ang numero ${place} sa pila.`,
  free: "May notaryong maaaring humarap sa inyo na libre ngayon.",
  minutes: (minutes, sessions) =>
    `Tinatayang ${minutes} minuto, ayon sa huling ${sessions} sesyon. Walang makapangangako nito.`,
  unknown: "Abala ang lahat ng notaryo. Kakaunti pa ang mga sesyon para matantiya ang paghihintay.",
  nobody: "Wala nang naka-duty na notaryong maaaring humarap sa inyo. Maaari kayong pumili ng oras.",
  until: (when) =>
    `Panatilihing bukas ang pahinang ito, o hintayin ang email. Matatapos ang inyong hiling sa ${when}; maaari na kayong pumili ng oras noon.`,
  leave: "Umalis sa pila",
  accepted: (notary) => `Kinuha ni ${notary} ang inyong hiling at binubuksan na ang silid. Manatili rito.`,
  aNotary: "isang notaryo",
  open: "Bukas na ang silid ng notaryo.",
  enter: "Pumunta sa silid",
  expired: "Walang notaryong naging libre sa tamang oras. Pumili ng oras sa ibaba o humiling muli.",
  refused: "Hindi ito mahihiling ngayon. Pumili ng oras sa ibaba.",
  room: "Ang silid ng notaryo",
  booked:
    "Hindi pa bukas ang silid. Bubuksan ito ng notaryo sa oras ng inyong appointment. Panatilihing bukas ang page na ito sa oras na iyon: lalabas dito ang button papasok.",
};

export const queueWords: Readonly<Record<Language, QueueWords>> = { en, es, fr, pt, zh, vi, ko, tl };

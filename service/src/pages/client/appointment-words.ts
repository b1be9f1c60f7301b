import type { Language } from "../../kernel/platform/languages.ts";

const en = {
  title: "Appointment with the notary",
  lead: "The times are the notary’s local times, with their zone, and UTC.",
  booked: "Your appointment",
  choose: "Choose a time",
  move: "Move the appointment",
  time: "Time",
  book: "Book",
  moveIt: "Move",
  cancel: "Cancel the appointment",
  none: "No time can be booked here now. The notary will write to you.",
  fixed: "It begins in less than 2 hours, so it can’t be changed here.",
  byMail: "The link is in the email.",
  refused: "That did not work",
  taken: "This time can’t be booked any more, or the appointment can’t be changed now. See the times below.",
};

export type AppointmentWords = typeof en;

const es: AppointmentWords = {
  title: "Cita con el notario",
  lead: "Las horas son las locales del notario, con su zona horaria, y UTC.",
  booked: "Su cita",
  choose: "Elija una hora",
  move: "Cambiar la cita",
  time: "Hora",
  book: "Reservar",
  moveIt: "Cambiar",
  cancel: "Cancelar la cita",
  none: "Ahora no se puede reservar ninguna hora aquí. El notario le escribirá.",
  fixed: "Comienza en menos de 2 horas, así que no se puede cambiar aquí.",
  byMail: "El enlace está en el correo.",
  refused: "No funcionó",
  taken: "Esta hora ya no se puede reservar, o la cita no se puede cambiar ahora. Vea las horas abajo.",
};

const fr: AppointmentWords = {
  title: "Rendez-vous avec le notaire",
  lead: "Les heures sont celles du notaire, avec leur fuseau, et en UTC.",
  booked: "Votre rendez-vous",
  choose: "Choisissez une heure",
  move: "Déplacer le rendez-vous",
  time: "Heure",
  book: "Réserver",
  moveIt: "Déplacer",
  cancel: "Annuler le rendez-vous",
  none: "Aucune heure ne peut être réservée ici. Le notaire vous écrira.",
  fixed: "Il commence dans moins de 2 heures et ne peut plus être changé ici.",
  byMail: "Le lien est dans le courriel.",
  refused: "Cela n’a pas marché",
  taken:
    "Cette heure ne peut plus être réservée, ou le rendez-vous ne peut pas être changé. Voyez les heures ci-dessous.",
};

const pt: AppointmentWords = {
  title: "Encontro com o tabelião",
  lead: "Os horários são os locais do tabelião, com o fuso, e em UTC.",
  booked: "Seu encontro",
  choose: "Escolha um horário",
  move: "Mudar o encontro",
  time: "Horário",
  book: "Marcar",
  moveIt: "Mudar",
  cancel: "Cancelar o encontro",
  none: "Nenhum horário pode ser marcado aqui agora. O tabelião escreverá para você.",
  fixed: "Começa em menos de 2 horas, então não pode ser mudado aqui.",
  byMail: "O link está no e-mail.",
  refused: "Não funcionou",
  taken: "Este horário não pode mais ser marcado, ou o encontro não pode ser mudado agora. Veja os horários abaixo.",
};

const zh: AppointmentWords = {
  title: "与公证人的预约",
  lead: "时间为公证人的当地时间（注明时区）以及 UTC。",
  booked: "您的预约",
  choose: "选择时间",
  move: "更改预约",
  time: "时间",
  book: "预约",
  moveIt: "更改",
  cancel: "取消预约",
  none: "目前无法在此预约。公证人会写信给您。",
  fixed: "距开始不到 2 小时，无法在此更改。",
  byMail: "链接在邮件中。",
  refused: "没有成功",
  taken: "此时间已无法预约，或目前无法更改预约。请查看下面的时间。",
};

const vi: AppointmentWords = {
  title: "Cuộc hẹn với công chứng viên",
  lead: "Giờ là giờ địa phương của công chứng viên, có ghi múi giờ, và giờ UTC.",
  booked: "Cuộc hẹn của quý vị",
  choose: "Chọn giờ",
  move: "Dời cuộc hẹn",
  time: "Giờ",
  book: "Đặt hẹn",
  moveIt: "Dời",
  cancel: "Hủy cuộc hẹn",
  none: "Hiện không thể đặt giờ nào ở đây. Công chứng viên sẽ viết thư cho quý vị.",
  fixed: "Cuộc hẹn bắt đầu trong vòng chưa đến 2 giờ nên không thể thay đổi ở đây.",
  byMail: "Liên kết ở trong email.",
  refused: "Chưa được",
  taken: "Giờ này không còn đặt được, hoặc hiện không thể đổi cuộc hẹn. Hãy xem các giờ bên dưới.",
};

const ko: AppointmentWords = {
  title: "공증인과의 예약",
  lead: "시간은 시간대가 표시된 공증인의 현지 시간과 UTC입니다.",
  booked: "내 예약",
  choose: "시간 선택",
  move: "예약 변경",
  time: "시간",
  book: "예약하기",
  moveIt: "변경",
  cancel: "예약 취소",
  none: "지금은 여기에서 예약할 수 있는 시간이 없습니다. 공증인이 연락드립니다.",
  fixed: "시작까지 2시간이 남지 않아 여기에서 변경할 수 없습니다.",
  byMail: "링크는 이메일에 있습니다.",
  refused: "실패했습니다",
  taken: "이 시간은 더 이상 예약할 수 없거나 지금은 예약을 변경할 수 없습니다. 아래 시간을 확인하세요.",
};

const tl: AppointmentWords = {
  title: "Appointment sa notaryo",
  lead: "Ang mga oras ay lokal na oras ng notaryo, may nakasulat na time zone, at UTC.",
  booked: "Ang inyong appointment",
  choose: "Pumili ng oras",
  move: "Ilipat ang appointment",
  time: "Oras",
  book: "Magpa-appointment",
  moveIt: "Ilipat",
  cancel: "Kanselahin ang appointment",
  none: "Walang oras na mapipili rito ngayon. Susulatan kayo ng notaryo.",
  fixed: "Magsisimula ito sa loob ng wala pang 2 oras, kaya hindi na mababago rito.",
  byMail: "Nasa email ang link.",
  refused: "Hindi gumana",
  taken: "Hindi na mapipili ang oras na ito, o hindi mababago ngayon ang appointment. Tingnan ang mga oras sa ibaba.",
};

export const appointmentWords: Readonly<Record<Language, AppointmentWords>> = { en, es, fr, pt, zh, vi, ko, tl };

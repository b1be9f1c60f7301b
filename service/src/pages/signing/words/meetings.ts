import type { Language } from "../../../kernel/platform/languages.ts";

/** The words about a document that is signed in front of a notary, in the list of a closing's documents. */
type MeetingWords = {
  readonly none: string;
  readonly at: (when: string) => string;
  readonly choose: string;
  readonly see: string;
};

export const meetingWords: Readonly<Record<Language, MeetingWords>> = {
  en: {
    none: "with the notary: no time chosen yet",
    at: (when) => `with the notary, ${when}`,
    choose: "Choose a time with the notary",
    see: "See the appointment with the notary",
  },
  es: {
    none: "con el notario: aún no se ha elegido la hora",
    at: (when) => `con el notario, ${when}`,
    choose: "Elegir una hora con el notario",
    see: "Ver la cita con el notario",
  },
  fr: {
    none: "chez le notaire : aucune heure n’est encore choisie",
    at: (when) => `chez le notaire, ${when}`,
    choose: "Choisir une heure avec le notaire",
    see: "Voir le rendez-vous avec le notaire",
  },
  pt: {
    none: "com o notário: ainda sem horário escolhido",
    at: (when) => `com o notário, ${when}`,
    choose: "Escolher um horário com o notário",
    see: "Ver o encontro com o notário",
  },
  zh: {
    none: "由公证人办理：尚未选择时间",
    at: (when) => `由公证人办理，${when}`,
    choose: "选择与公证人会面的时间",
    see: "查看与公证人的预约",
  },
  vi: {
    none: "với công chứng viên: chưa chọn giờ",
    at: (when) => `với công chứng viên, ${when}`,
    choose: "Chọn giờ gặp công chứng viên",
    see: "Xem lịch hẹn với công chứng viên",
  },
  ko: {
    none: "공증인과 함께: 아직 시간을 정하지 않음",
    at: (when) => `공증인과 함께, ${when}`,
    choose: "공증인과 만날 시간 정하기",
    see: "공증인과의 약속 보기",
  },
  tl: {
    none: "kasama ang notaryo: wala pang napiling oras",
    at: (when) => `kasama ang notaryo, ${when}`,
    choose: "Pumili ng oras kasama ang notaryo",
    see: "Tingnan ang appointment sa notaryo",
  },
};

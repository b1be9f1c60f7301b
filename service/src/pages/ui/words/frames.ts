import type { Language } from "../../../kernel/platform/languages.ts";
import { englishFrame, type FrameLanguage } from "../layout.ts";

/** The words of the frame around a page. */
export const frames: Readonly<Record<Language, FrameLanguage>> = {
  en: englishFrame,
  es: {
    code: "es",
    skip: "Ir al contenido",
    footer:
      "Firma, certifica ante notario, envía por correo y por fax documentos, y deja pruebas que cualquiera puede comprobar.",
    about: "Acerca de",
    aboutUs: "Acerca de SignSealShip",
    verify: "Comprobar un documento",
    previewTitle: "Una página privada",
    previewText: "Quien tenga este enlace puede abrir la página. Compártalo solo con quien deba verla.",
  },
  fr: {
    code: "fr",
    skip: "Aller au contenu",
    footer:
      "Signe, notarie, envoie par courrier et par fax des documents, et laisse des preuves que chacun peut vérifier.",
    about: "À propos",
    aboutUs: "À propos de SignSealShip",
    verify: "Vérifier un document",
    previewTitle: "Une page privée",
    previewText: "Toute personne qui a ce lien peut ouvrir la page. Ne le transmettez qu’à ceux qui doivent la voir.",
  },
  pt: {
    code: "pt-BR",
    skip: "Ir para o conteúdo",
    footer:
      "Assina, notariza, envia pelo correio e por fax documentos, e deixa provas que qualquer pessoa pode verificar.",
    about: "Sobre",
    aboutUs: "Sobre a SignSealShip",
    verify: "Verificar um documento",
    previewTitle: "Uma página privada",
    previewText: "Quem tiver este link pode abrir a página. Compartilhe-o só com quem deve vê-la.",
  },
  zh: {
    code: "zh-Hans",
    skip: "跳到内容",
    footer: "签署、公证、寄送和传真文件，并留下任何人都能查验的证据。",
    about: "关于",
    aboutUs: "关于 SignSealShip",
    verify: "查验文件",
    previewTitle: "私人页面",
    previewText: "任何拥有此链接的人都能打开本页。请只分享给应该看到的人。",
  },
  vi: {
    code: "vi",
    skip: "Đến nội dung",
    footer: "Ký, công chứng, gửi thư và gửi fax tài liệu, và để lại bằng chứng mà ai cũng kiểm tra được.",
    about: "Giới thiệu",
    aboutUs: "Giới thiệu SignSealShip",
    verify: "Kiểm tra một tài liệu",
    previewTitle: "Một trang riêng tư",
    previewText: "Ai có liên kết này đều mở được trang. Chỉ chia sẻ với những người nên xem.",
  },
  ko: {
    code: "ko",
    skip: "본문으로 건너뛰기",
    footer: "문서에 서명하고, 공증하고, 우편과 팩스로 보내며, 누구나 확인할 수 있는 증거를 남깁니다.",
    about: "소개",
    aboutUs: "SignSealShip 소개",
    verify: "문서 확인",
    previewTitle: "비공개 페이지",
    previewText: "이 링크가 있으면 누구나 페이지를 열 수 있습니다. 보아야 할 사람에게만 전달하십시오.",
  },
  tl: {
    code: "tl",
    skip: "Pumunta sa nilalaman",
    footer:
      "Pumipirma, nagnonotaryo, nagpapadala sa koreo at fax ng mga dokumento, at nag-iiwan ng ebidensiyang masusuri ng sinuman.",
    about: "Tungkol",
    aboutUs: "Tungkol sa SignSealShip",
    verify: "Suriin ang dokumento",
    previewTitle: "Isang pribadong pahina",
    previewText: "Mabubuksan ng sinumang may link na ito ang pahina. Ibahagi lamang ito sa mga dapat makakita.",
  },
};

import type { Language } from "../../../signing/envelopes/envelopes.ts";
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
};

import { html } from "../../render.ts";
import type { Words } from "../words.ts";
import { components } from "./components.ts";
import { orderPage } from "./order-page.ts";
import { orders } from "./orders.ts";
import { refusals } from "./refusals.ts";
import { room } from "./room.ts";

export const es: Words = {
  language: "es",
  nav: { label: "Principal", verify: "Comprobar" },
  other: { language: "en", name: "English" },
  preparedBy: "Preparado por",
  aboutUs: (firm) => `${firm} encarga a SignSealShip la firma, la notarización y la entrega de documentos.`,
  updates: "Esta página se actualiza cada 15 segundos.",
  reload: "Cargue de nuevo esta página para ver las novedades.",
  components,
  retention: {
    orderDeleted: (at) =>
      html`El documento de este pedido se borró el ${at}, según el plan de conservación. Su hash sigue registrado.`,
    ofTestOrder: (days) =>
      `Los documentos de prueba se borran ${days} días después del último cambio. Sus hashes siguen registrados.`,
    ofTestRoom: (days) =>
      `Los documentos de prueba y los certificados de los pasaportes de cierre de prueba se borran ${days} días después del último cambio. Sus hashes siguen registrados.`,
  },
  orders,
  orderPage,
  room,
  refusals,
  unknownCode: {
    page: "Código desconocido",
    verdict: {
      title: "No conocemos este código",
      text: "Compruebe que copió el enlace entero, con el código largo del final.",
    },
    have: { document: "¿Tiene usted el documento?", certificate: "¿Tiene usted el certificado?" },
    noCode: "Entonces no necesita un código:",
    check: "compruebe el archivo mismo",
  },
  payment: {
    returned: {
      title: "Gracias",
      text: "Se está confirmando su pago. Su pedido avanza en cuanto nuestro procesador de pagos nos avise de que llegó el dinero, por lo general en menos de un minuto. Puede cerrar esta página.",
    },
    cancelled: {
      title: "No se pagó nada",
      text: "Usted salió de la página de pago. Su pedido no cambió, y puede pagarlo más tarde.",
    },
    unavailable: {
      title: "En este momento no es posible pagar",
      text: "No se pudo abrir la página de pago, y no se pagó nada. Inténtelo de nuevo en unos minutos.",
    },
    back: "Ver el pedido",
  },
};

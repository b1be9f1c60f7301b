import { html } from "../../render.ts";
import type { Words } from "../en/en.ts";
import { fill, orders } from "./orders.ts";
import { room } from "./room.ts";

export const es: Words = {
  language: "es",
  nav: { label: "Principal", verify: "Comprobar", language: "Idioma" },
  preparedBy: "Preparado por",
  aboutUs: (firm) => `${firm} encarga a SignSealShip la firma, la notarización y la entrega de documentos.`,
  updates: "Esta página se actualiza cada 15 segundos.",
  reload: "Cargue de nuevo esta página para ver las novedades.",
  components: {
    steps: {
      done: "Hecho",
      current: "En curso",
      attention: "Requiere atención",
      stopped: "Detenido",
      upcoming: "Más adelante",
    },
    money: {
      item: "Concepto",
      amount: "Importe",
      subtotal: "Subtotal",
      discount: "Descuento de la empresa",
      total: "Total",
    },
    copy: { go: "Copiar", done: "Copiado", what: (what) => `Copiar ${what}` },
    paper: {
      page: "Esta página, con todo lo que se puede comprobar",
      qr: "Código QR de la dirección de esta página",
      printed: "Impreso el",
    },
  },
  retention: {
    orderDeleted: (at) =>
      html`El documento de este pedido se borró el ${at}, según el plan de conservación. Su hash sigue registrado.`,
    ofTestOrder: (days) =>
      `Los documentos de prueba se borran ${days} días después del último cambio. Sus hashes siguen registrados.`,
    ofTestRoom: (days) =>
      `Los documentos de prueba y los certificados de cierre de prueba se borran ${days} días después del último cambio. Sus hashes siguen registrados.`,
  },
  orders,
  test: {
    title: "Esto es una prueba",
    text: "Nada de esto es real: no se mueve dinero, no se envía nada por correo ni por fax, y ninguna firma o notarización obliga a nadie.",
    pay: "Un pedido de prueba no se puede pagar aquí: la empresa que hizo el pedido simula el pago en su entorno de pruebas.",
  },
  orderPage: {
    next: "Qué sigue",
    begin: "Iniciar el pedido: no hay nada que pagar",
    pay: (amount) => `Pagar ${amount}`,
    payAll: (count, amount) => `Pagar juntos los ${count} documentos: ${amount}`,
    payThis: (amount) => `Pagar solo este documento: ${amount}`,
    payWithheld: (count) =>
      count === 1
        ? "Otro documento de este cierre no se puede pagar en este momento y queda fuera. Su firma lo está revisando."
        : `Otros ${count} documentos de este cierre no se pueden pagar en este momento y quedan fuera. Su firma los está revisando.`,
    firmsTurn: "Su pedido está registrado",
    nothingToPay:
      "Usted no tiene que pagar nada. El trabajo empieza cuando la empresa que hizo el pedido lo haya pagado.",
    firmPays: "Esta página cambia en cuanto empiece el trabajo.",
    bankPayment: [
      "Su pago bancario se está procesando. No tiene que hacer nada más.",
      "Algunos bancos tardan hasta cuatro días hábiles. Esta página cambia cuando el banco responda.",
    ],
    payAgain: (amount) =>
      `Su banco retiró el pago de este pedido. Aún se deben ${amount}, y puede pagarlos de nuevo aquí.`,
    supplement: (amount) =>
      `El paquete va a una dirección corregida y el envío cuesta más. Espera hasta que se paguen ${amount} más.`,
    payHint:
      "Usted paga en la página segura de nuestro procesador de pagos. No se le cobra nada antes de que lo confirme allí.",
    toQuote: "Ver a qué corresponde el importe",
    progress: "Progreso",
    signers: "Quiénes firman",
    signingLink: "Si usted es una de estas personas, abra el enlace para firmar que le llegó por correo. Es solo suyo.",
    retention: "Cuánto tiempo se conservan los documentos",
    quote: "Cotización",
    quoteCaption: "Todos los importes en dólares de EE. UU.",
    unpriced: "Cotización hasta ahora",
    unpricedCaption: "Lo que ya tiene precio, en dólares de EE. UU.",
    totalSoFar: "Total hasta ahora",
    details: "Detalles",
    receipts: "Recibos",
    receiptsAltered:
      "Algunos recibos no se pueden mostrar: se alteró el registro de un pago. El operador de este servicio debe revisarlo.",
    receipt: "Recibo",
    creditNote: "Nota de crédito",
    creditReversal: "Nota de crédito anulada",
    loss: "Pago devuelto por su banco",
    lossReversal: "Devolución de su banco anulada",
    documents: "Documentos",
    paper: "La página de este pedido",
    facts: {
      document: "Documento",
      reference: "Referencia",
      firm: "Empresa",
      questions: "Preguntas",
      placed: "Fecha del pedido",
      client: "Cliente",
      code: "Código del pedido",
      copyCode: "el código del pedido",
      carrier: "Transportista",
      tracking: "Número de rastreo",
    },
    share: "Cualquiera que tenga este enlace puede verla, así que compártalo con cuidado.",
    shareDocuments: "Cualquiera que tenga este enlace puede descargar los documentos, así que compártalo con cuidado.",
  },
  fill,
  room,
  refusals: {
    notFound: {
      title: "Página no encontrada",
      text: "En esta dirección no hay nada. Si siguió un enlace de un mensaje, compruebe que lo copió entero, con el código largo del final, y nada más.",
    },
    wrongMethod: {
      title: "Esta dirección no admite esa solicitud",
      text: "Se envió un formulario a una dirección que no los recibe, o se abrió una página que no lo es. Vuelva atrás e inténtelo de nuevo.",
    },
    unavailable: {
      title: "No disponible en este momento",
      text: "Una parte de este servicio no está disponible ahora. No se perdió nada: inténtelo de nuevo en unos minutos.",
    },
    altered: {
      title: "El documento guardado fue alterado",
      text: "Ya no coincide con el hash registrado, por lo que no se le entrega. El operador de este servicio debe revisarlo.",
    },
    unreadable: { title: "No funcionó", text: "No se pudo leer el formulario." },
    broken: {
      title: "Algo salió mal",
      text: "Es culpa nuestra, no suya. Vuelva a cargar la página en un momento.",
    },
    busy: {
      title: "Un momento, por favor",
      text: (minutes) =>
        `Llegaron demasiadas solicitudes en poco tiempo. Espere ${minutes > 1 ? `${minutes} minutos` : "un minuto"} e inténtelo de nuevo.`,
    },
    home: "Ir a la página de inicio",
  },
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
  documentsMail: {
    button: "Recibir sus documentos",
    hint: (email) => `Enviamos un enlace a ${email}, la dirección que tiene el pedido.`,
    sent: {
      title: "El correo se está enviando",
      text: "Estamos enviando el enlace a los documentos a la dirección del cliente. Si no llega en unos minutos, mire en la carpeta de correo no deseado.",
    },
    test: {
      title: "En una prueba no se envía ningún correo",
      text: "Este pedido es una prueba, así que el correo con el enlace se guarda en este servicio y no se envía a nadie.",
    },
    unsent: {
      title: "No se envió ningún correo",
      text: "El enlace ya se envió varias veces en las últimas 24 horas, o no hay documentos que enviar. Busque un correo anterior, también en la carpeta de correo no deseado, o pregunte a la empresa que hizo el pedido.",
    },
  },
  delivery: {
    title: "Documentos para usted",
    lead: (firm) => `${firm} le envía documentos.`,
    all: "Descargar todo (zip)",
    documents: "Documentos",
    download: "Descargar",
    about: "Sobre esta entrega",
    closing: "Cierre",
    reference: "Número de expediente",
    recipient: "Para",
    until: "El enlace funciona hasta",
    check:
      "Cada archivo se puede comprobar sin nosotros. El zip tiene una página para ello que no necesita red, y este sitio también:",
    listed: "Cada descarga se muestra al remitente.",
    code: {
      title: "Escriba su código",
      intro: (email) => `Enviamos un código a ${email} para que nadie más abra los documentos.`,
      send: "Enviar el código",
      again: "Enviar otro código",
      label: "Código",
      hint: "Seis dígitos. Sirve durante 10 minutos.",
      enter: "Abrir los documentos",
      wrong: "Este código es incorrecto o ha caducado.",
      ended: "En este momento no hay un código válido. Pida uno nuevo.",
      sent: "El código se está enviando. Búsquelo también en la carpeta de correo no deseado.",
      wait: "Se acaba de enviar un código, o se enviaron demasiados. Busque el más reciente, también en el correo no deseado.",
      locked: "Se escribió un código incorrecto cinco veces y el enlace está bloqueado. Pida otro al remitente.",
    },
  },
  payment: {
    leaving: {
      title: "Se abre la página de pago",
      text: "Le llevamos a nuestro procesador de pagos. Si no pasa nada, use el enlace de abajo.",
      link: "Ir a la página de pago",
    },
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

import type { Words } from "../en/en.ts";

const askFirm = "¿Tiene preguntas? Consulte a la empresa que hizo el pedido. Puede ver todo lo que hay en esta página.";
const allPaused = "No se pierde nada: conservamos los documentos y el trabajo hecho hasta ahora.";

export const statuses: Words["orders"]["statuses"] = {
  Created: {
    headline: "Recibimos su pedido",
    summary: "Tenemos el documento y estamos calculando el precio.",
    next: ["Su cotización aparecerá en esta página, por lo general en unos instantes."],
  },
  QuoteReady: {
    headline: "Su cotización está lista",
    summary: "Tenemos el documento y todo tiene precio. El trabajo empieza en cuanto se confirme el pago.",
    next: ["Revise en la cotización qué se pidió, y pague el total.", "Empezamos en cuanto se confirme el pago."],
  },
  AwaitingPayment: {
    headline: "En espera del pago",
    summary: "El pago aún no se ha confirmado. Algunos bancos tardan unos días hábiles.",
    next: [
      "Si ya pagó, no tiene que hacer nada más. Esta página cambia cuando llegue el dinero.",
      "Si cerró la página de pago o esta venció, no se le cobró nada. Puede abrirla de nuevo.",
    ],
  },
  Paid: {
    headline: "Pagado por completo, gracias",
    summary: "El pago se confirmó y estamos empezando a trabajar en el documento.",
    next: ["El primer paso de abajo empieza automáticamente."],
  },
  EsignPending: {
    headline: "El documento se envió para firmar",
    summary: "A cada persona se le pide que firme en línea cuando llega su turno.",
    next: [
      "Cada persona lee el documento y lo firma.",
      "El siguiente paso empieza cuando todas las personas hayan firmado.",
    ],
  },
  EsignComplete: {
    headline: "El documento firmado está sellado",
    summary: "La firma ha terminado. El documento está sellado: cualquier cambio se notaría.",
    next: ["El siguiente paso empieza automáticamente."],
  },
  NotarizationPending: {
    headline: "El documento está en notarización",
    summary: "Se comprueba la identidad de quien firma y se notariza el documento.",
    next: [
      "Si usted firma: si hay una cita, acuda a ella y tenga a mano una identificación oficial con fotografía.",
      "El siguiente paso empieza cuando tengamos el documento notarizado.",
    ],
  },
  NotarizationComplete: {
    headline: "El documento está notarizado",
    summary: "El documento tiene el sello de la notarización, y lo guardamos.",
    next: ["El siguiente paso empieza automáticamente."],
  },
  ShippingPending: {
    headline: "Se está preparando su envío",
    summary: "Estamos entregando el documento terminado a la empresa de transporte.",
    next: ["Esta página cambia cuando la empresa de transporte lo tenga."],
  },
  Shipped: {
    headline: "El documento está en camino",
    summary: "La empresa de transporte tiene el documento.",
    next: ["Esta página cambia cuando se registre la entrega."],
  },
  Delivered: {
    headline: "Registrado como entregado",
    summary: "La entrega quedó registrada.",
    next: ["Los pasos que falten aparecen abajo. Usted no tiene que hacer nada."],
  },
  FaxPending: {
    headline: "Se está enviando el fax",
    summary: "El documento terminado está en la cola de la línea de fax.",
    next: ["Esta página cambia cuando el resultado del fax quede registrado."],
  },
  FaxSent: {
    headline: "El fax se envió",
    summary: "Su resultado aún no está registrado.",
    next: ["Esta página cambia cuando el resultado del fax quede registrado."],
  },
  FaxDelivered: {
    headline: "Registrado como enviado por fax",
    summary: "La entrega del fax quedó registrada.",
    next: ["Los pasos que falten aparecen abajo. Usted no tiene que hacer nada."],
  },
  Completed: {
    headline: "Todo listo",
    summary: "Todo lo que se pidió está terminado.",
    next: [
      "No queda nada por hacer.",
      "Enviamos el enlace a los documentos por correo. Puede volver a esta página cuando quiera.",
    ],
  },
  PaymentFailed: {
    headline: "No se pudo hacer el pago",
    summary: "El pedido todavía no está pagado. Suele ocurrir y es fácil de resolver.",
    next: ["Intente pagar de nuevo o use otra tarjeta o cuenta.", askFirm],
  },
  EsignDeclined: {
    headline: "La firma se detuvo",
    summary:
      "Una de las personas no firmó en línea, por lo que la firma se detuvo para todos. Por ahora no hacemos nada más con el documento.",
    next: [
      "Hable con esa persona sobre lo que necesita.",
      "Cuando eso esté resuelto, la empresa que hizo el pedido puede pedirnos que enviemos de nuevo el documento para firmar, o hacer que se firme en papel.",
    ],
  },
  EsignExpired: {
    headline: "El plazo para firmar terminó",
    summary: "No todas las personas firmaron a tiempo, así que ya no se puede firmar.",
    next: ["Pida a la empresa que hizo el pedido que se envíe de nuevo el documento para firmar.", allPaused],
  },
  NotarizationFailed: {
    headline: "No se pudo completar la notarización",
    summary:
      "La sesión no se pudo terminar. Las causas más comunes son una mala conexión, un problema con la identificación o la falta de alguna persona.",
    next: ["La empresa que hizo el pedido puede solicitar una nueva sesión.", allPaused],
  },
  IdentityLocked: {
    headline: "No se pudo confirmar la identidad de quien firma",
    summary:
      "La comprobación de identidad se intentó tantas veces como permiten las reglas. Protege a quienes firman de los impostores.",
    next: [
      "Lo estamos revisando. La empresa que hizo el pedido puede pedirnos que abramos de nuevo la comprobación.",
      "Tenga a mano una identificación oficial vigente con fotografía para el próximo intento.",
    ],
  },
  ManualQuoteRequired: {
    headline: "Estamos calculando el precio de este pedido",
    summary:
      "A una parte, por lo general el franqueo, no se le pudo poner precio automáticamente. La cotización muestra lo que sabemos hasta ahora.",
    next: [
      "Una persona de nuestro equipo completa la cotización, que aparecerá en esta página.",
      "Hasta entonces no hay nada que pagar.",
    ],
  },
  OnHold: {
    headline: "Este pedido está en pausa",
    summary: "Estamos aclarando una cuestión, y el trabajo está detenido hasta que se resuelva.",
    next: ["Usted no tiene que hacer nada, a menos que se lo pidamos. El trabajo continuará donde se detuvo.", askFirm],
  },
  ShippingFailed: {
    headline: "El envío no llegó",
    summary: "La empresa de transporte no pudo aceptarlo o entregarlo. El documento terminado está a salvo.",
    next: ["Revisaremos la dirección con la empresa que hizo el pedido y lo intentaremos de nuevo.", askFirm],
  },
  RefundPending: {
    headline: "El pago se está reembolsando",
    summary: "Lo estamos devolviendo por medio del procesador de pagos. El trabajo en este pedido se detuvo.",
    next: ["Los bancos suelen tardar de 5 a 10 días hábiles en mostrarlo."],
  },
  Refunded: {
    headline: "Este pedido fue reembolsado",
    summary: "El pago volvió a su origen y el pedido está cerrado.",
    next: ["No queda nada por hacer. Para empezar de nuevo, se puede hacer otro pedido."],
  },
  Cancelled: {
    headline: "Este pedido fue cancelado",
    summary: "Se canceló y no hay nada que pagar.",
    next: [
      "Si un pago ya estaba en camino, se devuelve.",
      "No queda nada por hacer. Para empezar de nuevo, se puede hacer otro pedido.",
    ],
  },
  FaxFailed: {
    headline: "No se pudo enviar el fax",
    summary:
      "La línea que debía recibirlo no lo aceptó: puede estar ocupada, sin papel o no ser una línea de fax. El documento está a salvo.",
    next: ["La empresa que hizo el pedido puede corregir el número y pedir otro envío.", askFirm],
  },
};

export const otherStatus: Words["orders"]["otherStatus"] = (status) => ({
  headline: "Este pedido está en curso",
  summary: `Su estado es ${status}.`,
  next: ["Usted no tiene que hacer nada, a menos que se lo pidamos.", askFirm],
});

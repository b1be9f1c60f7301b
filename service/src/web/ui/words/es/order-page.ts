import type { OrderPageWords } from "../words.ts";

export const orderPage: OrderPageWords = {
  test: {
    title: "Un pedido de prueba",
    text: "Nada de lo que contiene es real: no se mueve dinero y no se firma, notariza ni envía nada.",
  },
  next: "Qué sigue",
  pay: (amount) => `Pagar ${amount}`,
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
};

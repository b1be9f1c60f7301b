import { feeLabels, type LineType } from "../../../../orders/pricing/pricing.ts";
import type { Words } from "../en/en.ts";
import { otherStatus, statuses } from "./statuses.ts";

const names: Readonly<Record<LineType, string>> = {
  WorkflowFee: "Gestión del documento",
  NotaryFee: "Notarización en línea",
  TechFee: "Tecnología de notarización",
  RushFee: "Trámite urgente",
  ExtraSignerFee: "Firmante adicional",
  ExtraSealFee: "Sello notarial adicional",
  WitnessFee: "Testigo",
  ScanbackFee: "Escaneo del documento firmado",
  StorageFee: "Almacenamiento prolongado",
  ShippingCarrierRate: "Franqueo",
  ShippingHandlingFee: "Manejo del envío",
  PrintMailFee: "Impresión y correo",
  FaxFee: "Envío por fax sellado",
  ServiceAdjustment: "Ajuste del servicio",
  Discount: "Descuento",
};

const isKnown = (type: string): type is LineType => Object.hasOwn(names, type);
const ownLabels: Readonly<Partial<Record<LineType, string>>> = feeLabels;

/** Translates by the line's type. Keeps quantities, carriers, zones, and a label that an operator wrote. */
const lineLabel: Words["orders"]["lineLabel"] = ({ type, label }) => {
  if (!isKnown(type)) return label;
  const [, postage, zone] = type === "ShippingCarrierRate" ? (/^(.+) postage(?:, zone (\d+))?$/.exec(label) ?? []) : [];
  if (postage) return `${names[type]} de ${postage}${zone ? `, zona\u00a0${zone}` : ""}`;
  const own = ownLabels[type];
  const isOwn = own !== undefined && label.startsWith(own) && /^(?: x \d+)?$/.test(label.slice(own.length));
  return isOwn ? names[type] + label.slice(own.length) : `${names[type]}: ${label}`;
};

const statusLabels: Words["orders"]["statusLabels"] = {
  Created: "Recibido",
  QuoteReady: "Listo para pagar",
  AwaitingPayment: "En espera del pago",
  Paid: "Pagado",
  EsignPending: "Enviado para firmar",
  EsignComplete: "Firmado",
  NotarizationPending: "En notarización",
  NotarizationComplete: "Notarizado",
  ShippingPending: "Preparando el envío",
  Shipped: "Enviado",
  Delivered: "Entregado",
  FaxPending: "Preparando el fax",
  FaxSent: "Fax enviado",
  FaxDelivered: "Fax entregado",
  Completed: "Completo",
  PaymentFailed: "Pago rechazado",
  EsignDeclined: "Firma rechazada",
  EsignExpired: "Plazo de firma vencido",
  NotarizationFailed: "No notarizado",
  IdentityLocked: "Identidad sin confirmar",
  ManualQuoteRequired: "Calculando el precio",
  OnHold: "En pausa",
  ShippingFailed: "Envío fallido",
  RefundPending: "Reembolso en camino",
  Refunded: "Reembolsado",
  Cancelled: "Cancelado",
  FaxFailed: "Fax fallido",
};

export const orders: Words["orders"] = {
  statusLabels,
  statuses,
  otherStatus,
  steps: {
    labels: {
      placed: "Pedido hecho",
      payment: "Pago",
      sign: "Firma",
      notarize: "Notarización en línea",
      ship: "Envío",
      fax: "Fax",
      finished: "Terminado",
    },
    faxTo: (number) => `Fax al ${number}`,
    notes: {
      QuoteReady: "Listo para pagar",
      AwaitingPayment: "Aún sin confirmar",
      EsignPending: "Enviado para firmar",
      NotarizationPending: "En notarización",
      ShippingPending: "En preparación",
      Shipped: "En camino",
      Delivered: "Entregado",
      FaxPending: "Se está enviando",
      FaxSent: "Enviado, aún sin confirmar",
      FaxDelivered: "Entregado",
      PaymentFailed: "No se pudo hacer",
      EsignDeclined: "Rechazada",
      EsignExpired: "Plazo vencido",
      NotarizationFailed: "Sin completar",
      IdentityLocked: "Identidad sin confirmar",
      ManualQuoteRequired: "Calculando el precio",
      OnHold: "En pausa",
      ShippingFailed: "No llegó",
      RefundPending: "Detenido",
      Refunded: "Detenido",
      Cancelled: "Detenido",
      FaxFailed: "No se pudo enviar",
    },
  },
  signedElsewhere: "No firmó aquí: se incorporó un documento firmado en otro lugar",
  takenIn: "Terminado en otro lugar e incorporado por un operador",
  signerStates: {
    pending: "Aún sin avisar",
    sent: "Se le pidió que firme",
    viewed: "Documento abierto",
    signed: "Ya firmó",
    declined: "No quiso firmar",
    locked: "Enlace bloqueado: demasiados códigos",
  },
  documentTitles: {
    original: "El documento como llegó",
    sealed: "Firmado y sellado",
    notarized: "Notarizado",
    custody_certificate: "Certificado de la firma",
    fax_report: "Informe del equipo de fax",
    delivery_receipt: "Comprobante de la entrega",
    mail_receipt: "Comprobante del envío por correo",
    fax_certificate: "Certificado del fax",
  },
  deleted: "borrado el",
  hashOf: (document) => `hash: ${document}`,
  unnamed: (shortCode) => `Pedido ${shortCode}`,
  lineLabel,
};

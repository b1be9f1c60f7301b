import { feeLabels, type LineType } from "../../../../pricing/pricing.ts";
import type { OrderWords } from "../words.ts";

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

/** By the line's type. What somebody else called it stays beside it, as do quantities, carriers and zones. */
export const lineLabel: OrderWords["lineLabel"] = ({ type, label }) => {
  if (!isKnown(type)) return label;
  const [, postage, zone] = type === "ShippingCarrierRate" ? (/^(.+) postage(?:, zone (\d+))?$/.exec(label) ?? []) : [];
  if (postage) return `${names[type]} de ${postage}${zone ? `, zona\u00a0${zone}` : ""}`;
  const own = ownLabels[type];
  const isOwn = own !== undefined && label.startsWith(own) && /^(?: x \d+)?$/.test(label.slice(own.length));
  return isOwn ? names[type] + label.slice(own.length) : `${names[type]}: ${label}`;
};

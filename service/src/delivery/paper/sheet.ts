import { shortCode } from "../../kernel/platform/text.ts";
import type { Address } from "../../orders/pricing/pricing.ts";
import type { PaperOrder, SentDocument } from "./paper-order.ts";

/** The content of a page printed for an order. */
export type SheetContent = {
  /** The kind of page, shown at the top next to the service's mark. */
  kind: string;
  title: string;
  isTest: boolean;
  /** The lines of the destination, drawn in large type. */
  address: readonly string[];
  rows: readonly (readonly [label: string, value: string])[];
  notes: readonly string[];
  /** The URL that the page shows as a QR code; null for none. */
  url: string | null;
};

/**
 * The sheets' texts that may be in any script, because people typed them. Drawing needs these texts in advance, to load
 * fonts that have their characters.
 */
export const writtenTexts = (sheets: readonly SheetContent[]): string[] =>
  sheets.flatMap(({ title, address, rows, notes }) => [title, ...address, ...rows.map(([, value]) => value), ...notes]);

/** The lines of an address, as on an envelope. */
export const addressLines = ({ name, line1, line2, city, state, postal }: Address): string[] =>
  [name, line1, line2 ?? "", `${city}, ${state} ${postal}`].filter((line) => line !== "");

const kinds: Readonly<Record<string, string>> = {
  notarized: "Notarized document",
  sealed: "Signed and sealed document",
  original: "The document as it came",
};

/**
 * The sheets to print before the document, for a parcel, a letter or a fax.
 * @param hasLabel whether a carrier's label already shows the address
 */
export function sheetsOf(
  order: PaperOrder,
  document: Pick<SentDocument, "kind" | "sha256">,
  { baseUrl, hasLabel, isFax }: { baseUrl: string; hasLabel: boolean; isFax: boolean },
): SheetContent[] {
  const common = { isTest: order.environment === "test", url: `${baseUrl}/verify` };
  const sent: [string, string][] = [
    ["From", order.firmName],
    ["Order", shortCode(order.code)],
    ...(order.externalReference === null ? [] : [["Reference", order.externalReference] as [string, string]]),
    ["Document", kinds[document.kind] ?? document.kind],
    ["SHA-256", document.sha256],
  ];
  const check = `The sealed original is a PDF file. Its seal and signatures can be checked at ${baseUrl}/verify, by anyone.`;
  if (isFax) return [{ ...common, kind: "Fax", title: `To ${order.faxTo}`, address: [], rows: sent, notes: [check] }];
  const address = order.shipTo ? addressLines(order.shipTo) : [];
  const from: [string, string][] = order.shipFrom ? [["Return to", addressLines(order.shipFrom).join(", ")]] : [];
  const rows = [...sent, ...from];
  if (order.shipMethod === "print_mail")
    return [{ ...common, kind: "Letter", title: "Enclosed document", address, rows, notes: [check] }];
  const packing = { ...common, kind: "Packing sheet", title: "Enclosed document", address, rows, notes: [check] };
  if (hasLabel) return [packing];
  // Without the sender's address, the sheet still names the firm as the sender.
  const sender: [string, string][] = from.length > 0 ? from : [["From", order.firmName]];
  return [{ ...common, kind: "Address label", title: "Ship to", address, rows: sender, notes: [], url: null }, packing];
}

import { feeLabels, type LineType } from "../../../orders/pricing/pricing.ts";

/** The words of quote lines in languages other than English. */
type LineWords = {
  names: Readonly<Record<LineType, string>>;
  /** `USPS Priority Mail`, with the zone if there is one. */
  postage: (carrier: string, zone: string | undefined) => string;
  /** Translations of labels in the document catalog that comes with the service. */
  labels: Readonly<Record<"Recording format check", string>>;
  /** Combines the translated name of a line with a label that an operator wrote. By default, a colon separates them. */
  named?: (name: string, label: string) => string;
};

const ownLabels: Readonly<Partial<Record<string, string>>> = feeLabels;

/** Translates a line by its type. Quantities, carriers, zones, and an operator's own label stay unchanged. */
export const lineLabelIn =
  ({ names, postage, labels, named = (name, label) => `${name}: ${label}` }: LineWords) =>
  ({ type, label }: { type: string; label: string }): string => {
    if (!Object.hasOwn(names, type)) return label;
    if (type === "ServiceAdjustment" && Object.hasOwn(labels, label)) return labels[label as keyof typeof labels];
    const name = names[type as LineType];
    const [, carrier, zone] =
      type === "ShippingCarrierRate" ? (/^(.+) postage(?:, zone (\d+))?$/.exec(label) ?? []) : [];
    if (carrier) return postage(carrier, zone);
    const own = ownLabels[type];
    const isOwn = own !== undefined && label.startsWith(own) && /^(?: x \d+)?$/.test(label.slice(own.length));
    return isOwn ? name + label.slice(own.length) : named(name, label);
  };

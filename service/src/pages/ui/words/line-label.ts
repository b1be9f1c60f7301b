import { feeLabels, type LineType } from "../../../orders/pricing/pricing.ts";

/** The line of a quote in another language than English. */
type LineWords = {
  names: Readonly<Record<LineType, string>>;
  /** `USPS Priority Mail` with the zone, where it has one. */
  postage: (carrier: string, zone: string | undefined) => string;
  /** A name and the words that somebody else wrote for it. */
  named?: (name: string, label: string) => string;
};

const ownLabels: Readonly<Partial<Record<string, string>>> = feeLabels;

/** Translates by the line's type. Keeps quantities, carriers, zones, and a label that an operator wrote. */
export const lineLabelIn =
  ({ names, postage, named = (name, label) => `${name}: ${label}` }: LineWords) =>
  ({ type, label }: { type: string; label: string }): string => {
    if (!Object.hasOwn(names, type)) return label;
    const name = names[type as LineType];
    const [, carrier, zone] =
      type === "ShippingCarrierRate" ? (/^(.+) postage(?:, zone (\d+))?$/.exec(label) ?? []) : [];
    if (carrier) return postage(carrier, zone);
    const own = ownLabels[type];
    const isOwn = own !== undefined && label.startsWith(own) && /^(?: x \d+)?$/.test(label.slice(own.length));
    return isOwn ? name + label.slice(own.length) : named(name, label);
  };

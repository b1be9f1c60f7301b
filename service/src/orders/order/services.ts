import type { BoughtServices } from "../pricing/pricing.ts";

/** The contract's flag string: `Sign, Notarize, Ship, Fax`, those that are bought, in this order. */
export function serviceFlags({ sign, notarize, ship, fax }: BoughtServices): string {
  const flags = [sign && "Sign", notarize && "Notarize", ship && "Ship", fax && "Fax"];
  return flags.filter(Boolean).join(", ");
}

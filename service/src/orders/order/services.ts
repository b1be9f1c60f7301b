import type { BoughtServices } from "../pricing/pricing.ts";

/** The contract's string of flags: of `Sign, Notarize, Ship, Fax`, in this order, the services that were bought. */
export function serviceFlags({ sign, notarize, ship, fax }: BoughtServices): string {
  const flags = [sign && "Sign", notarize && "Notarize", ship && "Ship", fax && "Fax"];
  return flags.filter(Boolean).join(", ");
}

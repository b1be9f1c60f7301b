import type { BoughtServices } from "../pricing/pricing.ts";

/**
 * The bought services as the contract writes them, such as `Sign, Ship`. They are always listed in the sequence Sign,
 * Notarize, Ship, Fax.
 */
export function serviceFlags({ sign, notarize, ship, fax }: BoughtServices): string {
  const flags = [sign && "Sign", notarize && "Notarize", ship && "Ship", fax && "Fax"];
  return flags.filter(Boolean).join(", ");
}

/** What an order buys. */
export type Services = { sign: boolean; notarize: boolean; ship: boolean; fax: boolean };

/** The contract's flag string: `Sign, Notarize, Ship, Fax`, those that are bought, in this order. */
export function serviceFlags({ sign, notarize, ship, fax }: Services): string {
  const flags = [sign && "Sign", notarize && "Notarize", ship && "Ship", fax && "Fax"];
  return flags.filter(Boolean).join(", ");
}

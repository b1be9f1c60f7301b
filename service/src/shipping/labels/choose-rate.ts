import type { CarrierOffer } from "../../providers/providers.ts";

// Rates for books and recordings: a personal document may not be sent by them (USPS Domestic Mail Manual 273).
const notForDocuments: ReadonlySet<string> = new Set(["Media Mail", "Library Mail"]);

type Service = { carrier: string; service: string };

/**
 * The rate to buy, or to quote: that of the service which was quoted where it costs at most so much, else the cheapest of all.
 * @returns null when no carrier offers one
 */
export function chooseRate(
  rates: readonly CarrierOffer[],
  quoted: Service | null = null,
  mostCents = Number.POSITIVE_INFINITY,
): CarrierOffer | null {
  const offered = rates
    .filter(({ service }) => !notForDocuments.has(service))
    .sort((one, other) => one.amountCents - other.amountCents);
  const same = offered.find(({ carrier, service }) => carrier === quoted?.carrier && service === quoted.service);
  return same && same.amountCents <= mostCents ? same : (offered[0] ?? null);
}

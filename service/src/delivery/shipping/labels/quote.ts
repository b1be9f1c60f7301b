import type { Log } from "../../../kernel/platform/logs.ts";
import type { Random } from "../../../kernel/platform/random.ts";
import { endsWithin } from "../../../kernel/platform/work/ends-within.ts";
import type { AskCarriers, CarrierRate, Parcel } from "../../../orders/pricing/pricing.ts";
import { type CarrierOffer, createEasyPost, type EasyPost, type Providers } from "../../../providers/providers.ts";

// The time limit for rates is short, because a person is waiting for the quote.
const usualPatienceMs = 5_000;

type QuoteDeps = {
  providers: Pick<Providers, "has" | "callOf">;
  log: Pick<Log, "warn">;
  random: Random;
  patienceMs?: number;
};

/**
 * Returns the function that asks EasyPost for the price of a label without buying it; null without an account. The
 * function returns null if no carrier names a rate in time.
 */
export function labelRates({ providers, log, random, patienceMs = usualPatienceMs }: QuoteDeps): AskCarriers | null {
  if (!providers.has("easypost")) return null;
  const easypost = createEasyPost(providers.callOf("easypost"));
  return async (parcel) => {
    const asking = rateOf(easypost, random, parcel);
    const rate = (await endsWithin(asking, patienceMs)) ? await asking : null;
    if (!rate) log.warn({ provider: "easypost" }, "an order was quoted by the zone table: no carrier named its rate");
    return rate;
  };
}

async function rateOf(
  easypost: EasyPost,
  random: Random,
  { from, to, weightGrams }: Parcel,
): Promise<CarrierRate | null> {
  const address = await easypost.verifyAddress(to);
  if (address.kind !== "done") return null;
  const { addressId: toAddressId, problem: addressProblem } = address.result;
  const reference = `quote-${random.bytes(16).toString("hex")}`;
  const shipment = await easypost.createShipment({ from, toAddressId, weightGrams, reference });
  if (shipment.kind !== "done") return null;
  const { shipmentId, zone, rates } = shipment.result;
  const rate = chooseRate(rates);
  return (
    rate && {
      carrier: rate.carrier,
      service: rate.service,
      amountCents: rate.amountCents,
      zone,
      shipmentId,
      addressProblem,
    }
  );
}

// Rates that are only for books and recordings, and must not be used for personal documents (USPS Domestic Mail Manual
// 273).
const notForDocuments: ReadonlySet<string> = new Set(["Media Mail", "Library Mail"]);

type Service = { carrier: string; service: string };

/**
 * Chooses the rate to buy or to quote: the rate of the quoted service if it costs at most `mostCents`, otherwise the
 * cheapest rate.
 * @returns null when no carrier offers a rate
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

import { randomUUID } from "node:crypto";
import type { Log } from "../../platform/logs.ts";
import { endsWithin } from "../../platform/work/ends-within.ts";
import type { AskCarriers, CarrierRate, Parcel } from "../../pricing/pricing.ts";
import { createEasyPost, type EasyPost, type Providers } from "../../providers/providers.ts";
import { chooseRate } from "./choose-rate.ts";

// Somebody waits for the quote.
const usualPatienceMs = 5_000;

type QuoteDeps = { providers: Pick<Providers, "has" | "callOf">; log: Pick<Log, "warn">; patienceMs?: number };

/** Asks EasyPost what a label would cost; nothing is bought by it. Null without an account. */
export function labelRates({ providers, log, patienceMs = usualPatienceMs }: QuoteDeps): AskCarriers | null {
  if (!providers.has("easypost")) return null;
  const easypost = createEasyPost(providers.callOf("easypost"));
  return async (parcel) => {
    const asking = rateOf(easypost, parcel);
    const rate = (await endsWithin(asking, patienceMs)) ? await asking : null;
    if (!rate) log.warn({ provider: "easypost" }, "an order was quoted by the zone table: no carrier named its rate");
    return rate;
  };
}

async function rateOf(easypost: EasyPost, { from, to, weightGrams }: Parcel): Promise<CarrierRate | null> {
  const address = await easypost.verifyAddress(to);
  if (address.kind !== "done") return null;
  const { addressId: toAddressId, problem: addressProblem } = address.result;
  const reference = `quote-${randomUUID()}`;
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

import type { Call } from "../calls/call.ts";
import {
  AddressAnswer,
  type Asked,
  type BoughtLabel,
  type CarrierOffer,
  labelOf,
  ratesOf,
  readAnswer,
  ShipmentAnswer,
  TrackerAnswer,
  type Tracking,
  trackingOf,
} from "./answers.ts";

/** A US address as EasyPost takes it. */
export type PostalAddress = {
  name: string;
  line1: string;
  line2: string | null;
  city: string;
  state: string;
  postal: string;
};

export type ShipmentRequest = {
  from: PostalAddress;
  /** The id of an address that was sent before. */
  toAddressId: string;
  weightGrams: number;
  /** What it is found by in EasyPost's own pages. */
  reference: string;
};

/** EasyPost's words about a refund of postage; null where none was asked for. */
export type RefundStatus = string | null;

/** The parts of EasyPost's API that are used (docs.easypost.com), each one request. */
export type EasyPost = {
  /** Sends an address to be verified for delivery. `problem`: why nothing can be delivered there, in EasyPost's words. */
  verifyAddress: (address: PostalAddress) => Promise<Asked<{ addressId: string; problem: string | null }>>;
  /** Free of charge, and nothing is bought by it. */
  createShipment: (
    request: ShipmentRequest,
  ) => Promise<Asked<{ shipmentId: string; zone: number | null; rates: CarrierOffer[] }>>;
  /** Buys the label of a shipment, which can have one alone. */
  buyLabel: (shipmentId: string, rateId: string) => Promise<Asked<BoughtLabel>>;
  findShipment: (shipmentId: string) => Promise<Asked<{ label: BoughtLabel | null; refundStatus: RefundStatus }>>;
  refundLabel: (shipmentId: string) => Promise<Asked<{ refundStatus: RefundStatus }>>;
  findTracker: (trackerId: string) => Promise<Asked<Tracking>>;
};

const gramsPerOunce = 28.349523125;
/** Ounces with a decimal, rounded up. Whole thousandths first: a product may lie a hair above a tenth. */
const ouncesOf = (grams: number): number => Math.ceil(Math.round((grams / gramsPerOunce) * 1000) / 100) / 10;

// An envelope of letter size, in inches.
const envelope = { length: 12.5, width: 9.5, height: 0.5 };

// The carrier may still have been asked, or has answered before: the shipment has to be looked at.
const perhapsBought = /^SHIPMENT\.(POSTAGE\.(EXISTS|TIMED_OUT|NO_RESPONSE)|PURCHASE\.IN_PROGRESS)$/;
const perhapsRefunded = /^SHIPMENT\.REFUND\.(EXISTS|IN_PROGRESS)$/;

/** A refusal that does not say that nothing was done is no answer. */
const unlessPerhaps = <R>(asked: Asked<R>, perhaps: RegExp): Asked<R> =>
  asked.kind === "refused" && perhaps.test(asked.code ?? "") ? { kind: "unknown", why: asked.why } : asked;

const addressOf = ({ name, line1, line2, city, state, postal }: PostalAddress) => ({
  ...{ name, street1: line1, street2: line2 ?? "", city, state, zip: postal, country: "US" },
});

export function createEasyPost(call: Call): EasyPost {
  const get = (path: string) => call({ method: "GET", path });
  const post = (path: string, body: object) => call({ method: "POST", path, body: JSON.stringify(body) });
  const shipment = (id: string) => `/v2/shipments/${encodeURIComponent(id)}`;
  return {
    async verifyAddress(address) {
      const answer = await post("/v2/addresses", { verify: ["delivery"], address: addressOf(address) });
      return readAnswer(answer, AddressAnswer, ({ id, verifications }) => {
        const delivery = verifications?.delivery;
        const problem = delivery && !delivery.success ? delivery.errors.map(({ message }) => message).join("; ") : null;
        return { addressId: id, problem: problem === "" ? "not deliverable" : problem };
      });
    },
    async createShipment({ from, toAddressId, weightGrams, reference }) {
      const body = {
        shipment: {
          reference,
          to_address: { id: toAddressId },
          from_address: addressOf(from),
          parcel: { ...envelope, weight: ouncesOf(weightGrams) },
          options: { label_format: "PDF", label_size: "4x6" },
        },
      };
      return readAnswer(await post("/v2/shipments", body), ShipmentAnswer, (made) => {
        const zone = Number(made.usps_zone ?? Number.NaN);
        return { shipmentId: made.id, zone: Number.isInteger(zone) ? zone : null, rates: ratesOf(made) };
      });
    },
    async buyLabel(shipmentId, rateId) {
      const answer = await post(`${shipment(shipmentId)}/buy`, { rate: { id: rateId } });
      return unlessPerhaps(readAnswer(answer, ShipmentAnswer, labelOf), perhapsBought);
    },
    async findShipment(shipmentId) {
      const answer = await get(shipment(shipmentId));
      return readAnswer(answer, ShipmentAnswer, (found) => {
        const label = labelOf(found);
        // One that is there and can't be read is no reason to buy another.
        if (!label && found.postage_label) return null;
        return { label, refundStatus: found.refund_status ?? null };
      });
    },
    async refundLabel(shipmentId) {
      const answer = await post(`${shipment(shipmentId)}/refund`, {});
      const asked = readAnswer(answer, ShipmentAnswer, ({ refund_status }) => ({
        refundStatus: refund_status ?? null,
      }));
      return unlessPerhaps(asked, perhapsRefunded);
    },
    async findTracker(trackerId) {
      return readAnswer(await get(`/v2/trackers/${encodeURIComponent(trackerId)}`), TrackerAnswer, trackingOf);
    },
  };
}

import { type Fetch, requestBounded } from "../../kernel/platform/bounds/bounded-request.ts";
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

/** A US address. `addressOf` converts it to EasyPost's form. */
type PostalAddress = {
  name: string;
  line1: string;
  line2: string | null;
  city: string;
  state: string;
  postal: string;
};

type ShipmentRequest = {
  from: PostalAddress;
  /** The id that `verifyAddress` returned for the receiver's address. */
  toAddressId: string;
  weightGrams: number;
  /** The service's name for the shipment. EasyPost's own pages show it. */
  reference: string;
};

/** The state of a postage refund; null when none was requested. */
type RefundStatus = string | null;

/** The parts of EasyPost's API that the service uses (docs.easypost.com). Each method sends one request. */
export type EasyPost = {
  /** Requests a check whether mail can be delivered to an address. `problem` quotes EasyPost's reason if it can't. */
  verifyAddress: (address: PostalAddress) => Promise<Asked<{ addressId: string; problem: string | null }>>;
  /** Creates a shipment, which is free of charge and buys nothing. */
  createShipment: (
    request: ShipmentRequest,
  ) => Promise<Asked<{ shipmentId: string; zone: number | null; rates: CarrierOffer[] }>>;
  /** Buys the label of a shipment. A shipment can have only one label. */
  buyLabel: (shipmentId: string, rateId: string) => Promise<Asked<BoughtLabel>>;
  findShipment: (shipmentId: string) => Promise<Asked<{ label: BoughtLabel | null; refundStatus: RefundStatus }>>;
  refundLabel: (shipmentId: string) => Promise<Asked<{ refundStatus: RefundStatus }>>;
  findTracker: (trackerId: string) => Promise<Asked<Tracking>>;
};

const gramsPerOunce = 28.349523125;
/**
 * The weight in ounces, rounded up to one decimal. It is rounded to thousandths first, so that a floating-point error
 * never adds a tenth of an ounce.
 */
const ouncesOf = (grams: number): number => Math.ceil(Math.round((grams / gramsPerOunce) * 1000) / 100) / 10;

// An envelope for letter-size paper, in inches.
const envelope = { length: 12.5, width: 9.5, height: 0.5 };

// Error codes after which the carrier may nevertheless have sold a label, so the shipment must be looked up.
const perhapsBought = /^SHIPMENT\.(POSTAGE\.(EXISTS|TIMED_OUT|NO_RESPONSE)|PURCHASE\.IN_PROGRESS)$/;
const perhapsRefunded = /^SHIPMENT\.REFUND\.(EXISTS|IN_PROGRESS)$/;

/** Turns a refusal into `unknown` if its code means that the carrier may have acted. */
const unlessPerhaps = <R>(asked: Asked<R>, perhaps: RegExp): Asked<R> =>
  asked.kind === "refused" && perhaps.test(asked.code ?? "") ? { kind: "unknown", why: asked.why } : asked;

const addressOf = ({ name, line1, line2, city, state, postal }: PostalAddress) => ({
  name,
  street1: line1,
  street2: line2 ?? "",
  city,
  state,
  zip: postal,
  country: "US",
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
      return readAnswer(await post("/v2/shipments", body), ShipmentAnswer, (created) => {
        const zone = Number(created.usps_zone ?? Number.NaN);
        return { shipmentId: created.id, zone: Number.isInteger(zone) ? zone : null, rates: ratesOf(created) };
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
        // A label that can't be parsed still exists, so no other label may be bought.
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

const bounds = { timeoutMs: 15_000, maxBytes: 4 * 1024 * 1024 };
const header = Buffer.from("%PDF-");

/**
 * Fetches the PDF of a label from EasyPost's file store, which needs no key.
 * @param apiBase the account's base URL; a file at any other origin must be https
 * @throws Error with the reason when it can't be fetched now
 */
export async function fetchLabelFile(fetch: Fetch, apiBase: string, labelUrl: string): Promise<Buffer> {
  const url = URL.parse(labelUrl);
  if (url?.protocol !== "https:" && url?.origin !== new URL(apiBase).origin)
    throw new Error("the label's address is not https");
  const answer = await requestBounded(fetch, labelUrl, { method: "GET" }, bounds);
  if (!answer.ok) throw new Error(`the label can’t be fetched: ${answer.why}`);
  const file = Buffer.from(answer.body);
  if (answer.status !== 200 || !file.subarray(0, header.length).equals(header))
    throw new Error(`the label can’t be fetched: status ${answer.status}, no PDF`);
  return file;
}

import { randomBytes } from "node:crypto";
import { type EasyPostObject, easyPostId, numberOf, objectOf, type Reply, refusal, textOf } from "./easypost-values.ts";

/** A carrier's rate for every parcel. `rate` is in dollars, as the provider writes it. */
export type Offer = { carrier: string; service: string; rate: string; days: number };

export const usualOffers: readonly Offer[] = [
  { carrier: "USPS", service: "MediaMail", rate: "3.82", days: 7 },
  { carrier: "USPS", service: "Priority", rate: "8.45", days: 2 },
  { carrier: "USPS", service: "GroundAdvantage", rate: "5.93", days: 3 },
  { carrier: "UPSDAP", service: "2ndDayAir", rate: "17.20", days: 2 },
];

/** The double's stored objects, and its answers to requests. */
export type EasyPostObjects = {
  shipments: Map<string, EasyPostObject>;
  trackers: Map<string, EasyPostObject>;
  /** The carriers' rates for later shipments. */
  offers: Offer[];
  answer: (method: string, path: string, body: EasyPostObject) => Reply;
  /** Advances a parcel. @returns its tracker afterward */
  track: (trackerId: string, status: string, more?: EasyPostObject) => EasyPostObject;
};

/** @param files returns the URL of the server from which labels are downloaded */
export function createEasyPostObjects(files: () => string): EasyPostObjects {
  const addresses = new Map<string, EasyPostObject>();
  const shipments: EasyPostObjects["shipments"] = new Map();
  const trackers: EasyPostObjects["trackers"] = new Map();
  const offers = [...usualOffers];

  function createAddress({ address, verify }: EasyPostObject): Reply {
    const sent = objectOf(address);
    if (!textOf(sent["street1"])) return refusal(422, "PARAMETER.REQUIRED", "Missing required parameter.");
    const made = verify ? verified(sent) : { ...sent, verifications: {} };
    const found = { id: easyPostId("adr"), object: "Address", ...dates(), ...made };
    addresses.set(found.id, found);
    return { status: 201, body: found };
  }

  function addressFrom(value: unknown): EasyPostObject | undefined {
    const sent = objectOf(value);
    const known = addresses.get(textOf(sent["id"]));
    return (
      known ?? (textOf(sent["street1"]) ? { id: easyPostId("adr"), object: "Address", ...dates(), ...sent } : undefined)
    );
  }

  function createShipment({ shipment }: EasyPostObject): Reply {
    const { to_address, from_address, parcel, reference = null, options = {} } = objectOf(shipment);
    const [to, from] = [addressFrom(to_address), addressFrom(from_address)];
    if (!to || !from || numberOf(objectOf(parcel)["weight"]) <= 0)
      return refusal(422, "SHIPMENT.INVALID_PARAMS", "Unable to create shipment, one or more parameters were invalid.");
    const id = easyPostId("shp");
    const made: EasyPostObject & { id: string } = {
      id,
      object: "Shipment",
      ...dates(),
      reference,
      options,
      status: "unknown",
      is_return: false,
      tracking_code: null,
      tracker: null,
      postage_label: null,
      selected_rate: null,
      refund_status: null,
      to_address: to,
      from_address: from,
      buyer_address: to,
      return_address: from,
      parcel: { id: easyPostId("prcl"), object: "Parcel", ...dates(), ...objectOf(parcel) },
      insurance: null,
      scan_form: null,
      forms: [],
      fees: [],
      messages: [],
      customs_info: null,
      usps_zone: 4,
      rates: offers.map((offer) => rateOf(id, offer)),
    };
    shipments.set(id, made);
    return { status: 201, body: made };
  }

  function buy(shipment: EasyPostObject, rate: unknown): Reply {
    if (shipment["postage_label"])
      return refusal(422, "SHIPMENT.POSTAGE.EXISTS", "Postage already exists for this shipment.");
    const wanted = objectOf(rate)["id"];
    const selected = ratesOf(shipment).find(({ id }) => id === wanted);
    if (!selected) return refusal(404, "RATE.NOT_FOUND", "The rate was not found.");
    const code = `94${randomBytes(12).readBigUInt64BE().toString().padStart(20, "0")}`;
    const tracker = trackerOf(code, textOf(selected["carrier"]), textOf(shipment["id"]));
    trackers.set(tracker.id, tracker);
    const postage_label = labelOf(`${files()}/files/postage_label/${textOf(shipment["id"])}.pdf`);
    Object.assign(shipment, { selected_rate: selected, tracking_code: code, tracker, postage_label, ...dates() });
    return { status: 200, body: shipment };
  }

  function refund(shipment: EasyPostObject): Reply {
    if (!shipment["postage_label"])
      return refusal(422, "SHIPMENT.REFUND.UNAVAILABLE", "Shipment has no postage to refund.");
    if (shipment["refund_status"] !== null)
      return refusal(422, "SHIPMENT.REFUND.EXISTS", "Refund has already been requested.");
    shipment["refund_status"] = "submitted";
    return { status: 200, body: shipment };
  }

  function answerShipment(method: string, id: string, action: string | undefined, body: EasyPostObject): Reply {
    const shipment = shipments.get(id);
    if (!shipment) return notFound();
    if (method === "GET" && !action) return { status: 200, body: shipment };
    if (method === "POST" && action === "buy") return buy(shipment, body["rate"]);
    if (method === "POST" && action === "refund") return refund(shipment);
    return notFound();
  }

  return {
    shipments,
    trackers,
    offers,
    answer(method, path, body) {
      const [, kind, id, action] = /^\/v2\/(\w+)(?:\/(\w+))?(?:\/(\w+))?$/.exec(path) ?? [];
      if (kind === "addresses" && method === "POST" && !id) return createAddress(body);
      if (kind === "shipments" && method === "POST" && !id) return createShipment(body);
      if (kind === "shipments" && id) return answerShipment(method, id, action, body);
      const tracker = kind === "trackers" && method === "GET" && id ? trackers.get(id) : undefined;
      if (tracker) return { status: 200, body: tracker };
      if (kind === "users" && method === "GET")
        return { status: 200, body: { id: easyPostId("user"), object: "User", balance: "12.50000" } };
      return notFound();
    },
    track(trackerId, status, more = {}) {
      const tracker = trackers.get(trackerId);
      if (!tracker) throw new Error(`no such tracker: ${trackerId}`);
      const details = [...(tracker["tracking_details"] as EasyPostObject[]), detailOf(status)];
      return Object.assign(tracker, { status, tracking_details: details, ...dates(), ...more });
    },
  };
}

const notFound = () => refusal(404, "NOT_FOUND", "The requested resource could not be found.");

const dates = () => ({ created_at: new Date().toISOString(), updated_at: new Date().toISOString() });

const ratesOf = (shipment: EasyPostObject) => shipment["rates"] as EasyPostObject[];

/** Normalizes an address, as the postal service does. A street that contains `UNDELIVERABLE` counts as unknown. */
function verified(sent: EasyPostObject): EasyPostObject {
  const isKnown = !/undeliverable/i.test(textOf(sent["street1"]));
  const error = { code: "E.ADDRESS.NOT_FOUND", field: "address", message: "Address not found", suggestion: null };
  const details = { latitude: 37.79342, longitude: -122.40288, time_zone: "America/Los_Angeles" };
  const delivery = isKnown ? { success: true, errors: [], details } : { success: false, errors: [error], details: {} };
  if (!isKnown) return { ...sent, verifications: { delivery } };
  const written = Object.entries(sent).map(([name, value]) => [
    name,
    typeof value === "string" ? value.toUpperCase() : value,
  ]);
  return { ...Object.fromEntries(written), residential: true, verifications: { delivery } };
}

const rateOf = (shipmentId: string, { carrier, service, rate, days }: Offer): EasyPostObject => ({
  id: easyPostId("rate"),
  object: "Rate",
  ...dates(),
  mode: "test",
  service,
  carrier,
  rate,
  currency: "USD",
  retail_rate: rate,
  retail_currency: "USD",
  list_rate: rate,
  list_currency: "USD",
  billing_type: "easypost",
  delivery_days: days,
  delivery_date: null,
  delivery_date_guaranteed: false,
  est_delivery_days: days,
  shipment_id: shipmentId,
  carrier_account_id: easyPostId("ca"),
});

const labelOf = (url: string): EasyPostObject => ({
  object: "PostageLabel",
  id: easyPostId("pl"),
  ...dates(),
  date_advance: 0,
  integrated_form: "none",
  label_date: new Date().toISOString(),
  label_resolution: 300,
  label_size: "4x6",
  label_type: "default",
  label_file_type: "application/pdf",
  label_url: url,
  label_pdf_url: null,
  label_zpl_url: null,
  label_epl2_url: null,
});

const trackerOf = (code: string, carrier: string, shipmentId: string): EasyPostObject & { id: string } => ({
  id: easyPostId("trk"),
  object: "Tracker",
  ...dates(),
  mode: "test",
  tracking_code: code,
  status: "unknown",
  status_detail: "unknown",
  signed_by: null,
  weight: 4.0,
  est_delivery_date: null,
  shipment_id: shipmentId,
  carrier,
  tracking_details: [],
  fees: [],
  carrier_detail: null,
  public_url: `https://track.easypost.com/${code}`,
});

const detailOf = (status: string): EasyPostObject => ({
  object: "TrackingDetail",
  message: status.replaceAll("_", " ").toUpperCase(),
  status,
  status_detail: status,
  datetime: new Date().toISOString(),
  source: "USPS",
  tracking_location: { object: "TrackingLocation", city: "AUSTIN", state: "TX", country: "US", zip: "78701" },
});

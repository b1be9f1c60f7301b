import { type Static, type TSchema, Type } from "typebox";
import { Value } from "typebox/value";
import type { CallOutcome } from "../calls/call.ts";

/** A text in EasyPost's answers. The schemas below leave out most properties that the service does not read. */
const text = Type.String({ maxLength: 2000 });
const textOrNull = Type.Optional(Type.Union([text, Type.Null()]));

export const AddressAnswer = Type.Object({
  id: text,
  verifications: Type.Optional(
    Type.Object({
      delivery: Type.Optional(
        Type.Object({
          success: Type.Boolean(),
          errors: Type.Array(Type.Object({ code: text, message: text })),
        }),
      ),
    }),
  ),
});

const Rate = Type.Object({ id: text, carrier: text, service: text, rate: text, currency: text });

export const TrackerAnswer = Type.Object({ id: text, status: text, signed_by: textOrNull });

export const ShipmentAnswer = Type.Object({
  id: text,
  rates: Type.Array(Rate),
  selected_rate: Type.Optional(Type.Union([Rate, Type.Null()])),
  tracking_code: textOrNull,
  tracker: Type.Optional(Type.Union([Type.Object({ id: text }), Type.Null()])),
  postage_label: Type.Optional(Type.Union([Type.Object({ label_url: text, label_pdf_url: textOrNull }), Type.Null()])),
  refund_status: textOrNull,
  usps_zone: Type.Optional(Type.Union([Type.Number(), text, Type.Null()])),
});

type Shipment = Static<typeof ShipmentAnswer>;

/**
 * The outcome of a request, with the parsed response as `result`. If the response can't be parsed, the outcome is
 * `unknown`, because EasyPost may have done what was requested.
 */
export type Asked<R> = { kind: "done"; result: R } | Exclude<CallOutcome, { kind: "answered" }>;

export function readAnswer<Schema extends TSchema, R>(
  outcome: CallOutcome,
  schema: Schema,
  resultOf: (answer: Static<Schema>) => R | null,
): Asked<R> {
  if (outcome.kind !== "answered") return outcome;
  const { body } = outcome;
  const result = Value.Check(schema, body) ? resultOf(body) : null;
  return result === null ? { kind: "unknown", why: "EasyPost’s answer can’t be read" } : { kind: "done", result };
}

const carrierNames: Readonly<Record<string, string>> = {
  UPSDAP: "UPS",
  FedExDefault: "FedEx",
  DhlEcs: "DHL eCommerce",
  DHLExpress: "DHL Express",
};

/** A carrier and its service in readable form: `USPS`, `Ground Advantage`. */
const namesOf = ({ carrier, service }: Static<typeof Rate>) => ({
  carrier: carrierNames[carrier] ?? carrier,
  service: service.replace(/(?<=[a-z])(?=[A-Z])/g, " ").replaceAll("_", " "),
});

/** A carrier's offer for a parcel, in US cents. */
export type CarrierOffer = { rateId: string; carrier: string; service: string; amountCents: number };

export type BoughtLabel = {
  shipmentId: string;
  carrier: string;
  service: string;
  amountCents: number;
  trackingNumber: string;
  trackerId: string;
  /** The URL of the label's PDF. */
  labelUrl: string;
};

/** The state of a parcel, from its tracker. */
export type Tracking = {
  trackerId: string;
  status: string;
  /** The receiver's name, if the carrier reports it. */
  signedBy: string | null;
};

/** EasyPost's amount in US cents; null for another currency or a malformed amount. */
function centsOf({ rate, currency }: Static<typeof Rate>): number | null {
  const [, dollars, cents = "00"] = /^(\d{1,6})(?:\.(\d{2})\d*)?$/.exec(rate) ?? [];
  return currency !== "USD" || dollars === undefined ? null : Number(dollars) * 100 + Number(cents);
}

/** The carriers' offers for a shipment. Leaves out offers without a valid amount in US dollars. */
export const ratesOf = ({ rates }: Shipment): CarrierOffer[] =>
  rates.flatMap((rate) => {
    const amountCents = centsOf(rate);
    return amountCents === null ? [] : [{ rateId: rate.id, ...namesOf(rate), amountCents }];
  });

/** The label of a shipment; null before the label is bought, or if EasyPost's answer lacks a part of it. */
export function labelOf(shipment: Shipment): BoughtLabel | null {
  const { id, selected_rate: rate, tracking_code: trackingNumber, tracker, postage_label: label } = shipment;
  const amountCents = rate && centsOf(rate);
  if (!rate || amountCents === null || amountCents === undefined || !trackingNumber || !tracker || !label) return null;
  const labelUrl = label.label_pdf_url || label.label_url;
  return { shipmentId: id, ...namesOf(rate), amountCents, trackingNumber, trackerId: tracker.id, labelUrl };
}

export const trackingOf = ({ id, status, signed_by }: Static<typeof TrackerAnswer>): Tracking => ({
  trackerId: id,
  status,
  signedBy: signed_by || null,
});

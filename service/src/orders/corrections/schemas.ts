import { type Static, Type } from "typebox";
import { nullable, oneOf, orderCode, orderCodes, requestId, text, timestamp } from "../../kernel/http/schema-parts.ts";
import type { CorrectedOrders } from "./correct-email.ts";
import type { Corrected } from "./store.ts";

const kinds = ["document", "email", "address", "fax", "signer", "again", "refund"] as const;
const facts = (description: string) => Type.Record(Type.String(), Type.Unknown(), { description });
const why = (act: string) => nullable(text(`Why ${act} is refused now; null when it is allowed.`));

export const OrderCorrections = Type.Object(
  {
    orderCode: orderCode(),
    status: text("The order's status now.", "EsignDeclined"),
    refusals: Type.Object(
      {
        document: why("another document"),
        email: why("another address of the client"),
        address: why("another address of the parcel"),
        fax: why("another fax number"),
        again: why("a further try"),
        refund: why("a request for a refund"),
      },
      { description: "What may be done now." },
    ),
    corrections: Type.Array(
      Type.Object({
        kind: oneOf(kinds, "What was corrected or asked for. The list may grow.", ["fax"]),
        before: facts("What was there before."),
        after: facts("What is there since."),
        at: timestamp("When."),
      }),
      { description: "Everything that was corrected, oldest first. Nothing is ever removed here." },
    ),
    supplements: Type.Array(
      Type.Object({
        amountCents: Type.Integer({ description: "In US cents.", examples: [430] }),
        label: text("The reason, as the receipt prints it.", "USPS Ground Advantage postage to the corrected address"),
        state: oneOf(
          ["asked", "paid", "withdrawn"],
          "`asked`: the parcel waits until the order's checkout, or a charge of the firm, has paid it. `withdrawn`: no longer needed.",
          ["asked"],
        ),
        at: timestamp("When it was asked for."),
      }),
      { description: "What a correction costs on top of the order's total, oldest first." },
    ),
    alsoCorrected: Type.Optional(
      orderCodes(
        "The firm's other orders in which this correction of an email address replaced it, too. Only in the answer to such a correction.",
      ),
    ),
    notCorrected: Type.Optional(
      orderCodes(
        "Of the orders that share a room, those that were left out, because their record was altered outside the service: contact its operator. Present with `alsoCorrected`.",
      ),
    ),
    linksNotMailed: Type.Optional(
      Type.Boolean({
        description:
          "True if some new links were not mailed, because a room mails at most 25 a day. Present with `alsoCorrected`.",
      }),
    ),
    requestId: requestId(),
  },
  { $id: "OrderCorrections", description: "What was corrected on an order, and what may be corrected now." },
);

const field = (description: string, example: string) => Type.Optional(text(description, example));

export const correctionSchema = Type.Object({
  email: field("The client's email address.", "signer@example.com"),
  fax_to: field("The fax number, as in the order form.", "+12125550123"),
  ship_name: field("Of the parcel's address: who receives it. An address is sent whole.", "Lender Inc."),
  ship_line1: field("The first line.", "1 Main Street"),
  ship_line2: field("The second line, where there is one.", "Suite 200"),
  ship_city: field("The city.", "Albany"),
  ship_state: field("The state, 2 characters.", "NY"),
  ship_postal: field("The ZIP code.", "12207"),
});

export const refundRequestSchema = Type.Object({
  reason: text("Why, in 1 to 500 characters.", "The notary could not identify the client."),
  amountCents: Type.Optional(
    Type.Integer({ description: "The part of the payment in US cents. Default: the whole payment.", examples: [4900] }),
  ),
});

export const replacementForm = {
  type: "object",
  required: ["document"],
  examples: [{ document: "@deed.pdf" }],
  properties: {
    document: {
      type: "string",
      contentMediaType: "application/pdf",
      description:
        "The PDF that replaces the order's document, at most 35 MB. The order's present document changes nothing, and is refused with other places.",
    },
    fields: {
      type: "string",
      contentMediaType: "application/json",
      description: "Where people sign, as in the order form. Default: where they signed on the document before.",
    },
    find_places: {
      type: "string",
      description: "`true` or `on`: the document itself says where people sign, as for an order without `fields`.",
      examples: ["true"],
    },
  },
};

export const correctedView = (
  code: string,
  { status, refusals, corrections, supplements }: Corrected,
  requestId: string,
): Static<typeof OrderCorrections> => ({
  orderCode: code,
  status,
  refusals,
  corrections: corrections.map(({ kind, before, after, at }) => ({ kind, before, after, at: at.toISOString() })),
  supplements: supplements.map(({ amountCents, label, state, askedAt }) => ({
    amountCents,
    label,
    state,
    at: askedAt.toISOString(),
  })),
  requestId,
});

export const othersView = ({ corrected, altered, isUnmailed }: CorrectedOrders) => ({
  alsoCorrected: [...corrected],
  notCorrected: [...altered],
  linksNotMailed: isUnmailed,
});

import { Type } from "typebox";
import { nextCursor, nullable, oneOf, ref, requestId, text, timestamp, uuid } from "../../kernel/http/schema-parts.ts";
import { rowStates } from "./store.ts";

const count = (description: string, example = 0) => Type.Integer({ description, examples: [example] });

const progress = {
  bulkId: uuid("The bulk's id."),
  templateId: uuid("Its template."),
  version: Type.Integer({ description: "The template's version, for all rows.", examples: [1] }),
  createdAt: timestamp("When the file was accepted."),
  rows: count("Of the file.", 240),
  waiting: count("Not placed yet."),
  placed: count("Orders that were placed.", 240),
  failed: count("Refused when they were placed: see their reasons."),
  canceled: count("Not to be placed any more."),
};

export const BulkProgress = Type.Object(
  { ...progress, requestId: requestId() },
  { $id: "BulkProgress", description: "A bulk, and how far it is." },
);

const BulkError = Type.Object({
  row: Type.Integer({ description: "The row, from 1. The line of column names is not counted.", examples: [17] }),
  message: text("What is refused of it, and the rule.", "roles.Buyer.email must be an email address."),
});

export const BulkAnswer = Type.Object(
  {
    bulkId: nullable(
      Type.String({ format: "uuid", examples: ["6f9619ff-8b86-4d01-b42d-00cf4fc964ff"] }),
      "The bulk, to place; null where a row was refused. Then nothing was stored.",
    ),
    rows: count("Of the file.", 240),
    totalCents: nullable(
      Type.Integer({ examples: [288000] }),
      "What the orders cost in all as quoted now, in USD cents; null where a row was refused, or a person has to price one.",
    ),
    errors: Type.Array(BulkError, { description: "The first 200 refusals, in the order of the rows." }),
    requestId: requestId(),
  },
  { $id: "BulkAnswer", description: "What became of the file." },
);

export const BulkRow = Type.Object(
  {
    row: Type.Integer({ description: "From 1.", examples: [17] }),
    state: oneOf(rowStates, "Where it stands."),
    orderCode: nullable(
      Type.String({ examples: ["4f1c2a9d0b7e6358c1d2e3f4a5b6c7d8e9f0a1b2"] }),
      "Its order; null until it is placed.",
    ),
    reason: nullable(
      Type.String({ examples: ["ship_postal must be a US ZIP code: 5 digits, or ZIP+4."] }),
      "Why it failed; null in any other state.",
    ),
  },
  { $id: "BulkRow", description: "A row of a bulk." },
);

export const BulkRows = Type.Object(
  {
    rows: Type.Array(ref(BulkRow), { description: "In the order of the file." }),
    nextCursor: nextCursor(),
    requestId: requestId(),
  },
  { $id: "BulkRows", description: "A page of rows." },
);

const part = (description: string, more: object = {}) => ({ type: "string", description, ...more });

export const bulkFormSchema = {
  type: "object",
  required: ["file", "template", "byod_confirmed"],
  examples: [{ file: "@people.csv", template: "0b5f7d1e-8a2c-4c55-9a57-3d1f0f6a2b10", byod_confirmed: "true" }],
  properties: {
    file: part(
      "CSV, UTF-8, at most 5 MB and 5,000 rows. Columns: `Role.name` and `Role.email` of each role, `Role.phone`, `Role.access_code`, `Role.language`; `values.Label` of a field; and any field of an order, as `external_reference`. Without the column `email` the client is the first role.",
      { contentMediaType: "text/csv" },
    ),
    template: part("The id of one of your templates.", { format: "uuid" }),
    template_version: part("The version to use. Default: the latest.", { examples: ["3"] }),
    byod_confirmed: part("`true` or `on`: you attest that the documents are the clients' own, and completed.", {
      examples: ["true"],
    }),
    signer_state: part("Of all rows that name none: the US state where the signers are.", { examples: ["TX"] }),
    fax_to: part("Of all rows that name none: fax them to this number."),
    external_reference: part("Of all rows that name none: your own reference."),
  },
} as const;

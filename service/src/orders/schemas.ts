import { Type } from "typebox";
import { hexCode, nextCursor, nullable, ref, requestId, timestamp } from "../http/schema-parts.ts";
import { mostFields, mostSigners, requestedFieldSchema, signerAuths, signerSchema } from "./form/signing-schemas.ts";

const code = () => hexCode("3f1c0d5a9be24c7786a1f0e2d4b6c8900a1b2c3d");
const cents = () => Type.Integer({ examples: [6100] });

export const OrderLine = Type.Object(
  {
    type: Type.String({
      examples: ["WorkflowFee"],
      description: "Machine-readable; render unknown types as display-only rows.",
    }),
    label: Type.String({ examples: ["Document workflow and e-signature"] }),
    amountCents: Type.Integer({ examples: [1200], description: "USD cents; negative for discounts." }),
  },
  { $id: "OrderLine" },
);

const common = {
  requestId: requestId(),
  orderCode: code(),
  orderUrl: Type.String({ examples: ["/orders/3f1c0d5a9be24c7786a1f0e2d4b6c8900a1b2c3d"] }),
  status: Type.String({ examples: ["QuoteReady"] }),
  externalReference: nullable(Type.String({ examples: ["FILE-2207"] })),
  faxToNumber: nullable(Type.String({ examples: ["+12125550123"] })),
  subtotalCents: cents(),
  discountCents: cents(),
  totalCents: cents(),
  lines: Type.Array(ref(OrderLine)),
};

export const CreatedOrder = Type.Object({ ...common, checkoutUrl: nullable(Type.String()) }, { $id: "CreatedOrder" });

export const OrderDetail = Type.Object(
  {
    ...common,
    services: Type.String({ examples: ["Sign, Notarize"], description: "Flags joined by a comma and a space." }),
    envelopeStatus: nullable(Type.String({ examples: ["Created"] })),
    customerEmail: Type.String({ examples: ["signer@example.com"] }),
    createdAt: timestamp(),
  },
  { $id: "OrderDetail" },
);

export const OrderSummary = Type.Object(
  {
    orderCode: code(),
    status: Type.String(),
    services: Type.String(),
    totalCents: cents(),
    externalReference: nullable(Type.String()),
    customerEmail: Type.String(),
    createdAt: timestamp(),
  },
  { $id: "OrderSummary" },
);

export const OrderList = Type.Object(
  {
    orders: Type.Array(ref(OrderSummary)),
    nextCursor: nextCursor(),
    requestId: requestId(),
  },
  { $id: "OrderList" },
);

const text = (description: string, more: object = {}) => ({ type: "string", description, ...more });
const json = (description: string, items: object, maxItems: number) =>
  text(description, {
    contentMediaType: "application/json",
    contentSchema: { type: "array", items, minItems: 1, maxItems },
  });
const flag = (description: string) => text(description, { examples: ["true"] });

/** The create form, for the published description; the rules themselves are in form/form.ts. */
export const orderFormSchema = {
  type: "object",
  required: ["email", "byod_confirmed"],
  properties: {
    document: text("The client's own completed PDF, at most 35 MB. Exclusive with fill_token.", {
      contentMediaType: "application/pdf",
    }),
    fill_token: text("A document completed online. Exclusive with document.", { pattern: "^[0-9a-f]{40}$" }),
    email: text("The client's mail address.", { format: "email" }),
    name: text("The client's name."),
    doc_slug: text("A document of the catalog; it decides signing and notarization."),
    svc_sign: flag("`true` or `on`: e-signing."),
    svc_notary: flag("`true` or `on`: online notarization."),
    svc_ship: flag("`true` or `on`: shipping; send the ship_ fields with it."),
    signer_state: text("US state where the signer is.", { minLength: 2, maxLength: 2 }),
    dest_state: text("US state of the destination.", { minLength: 2, maxLength: 2 }),
    byod_confirmed: flag("`true` or `on`: attests that the document is the client's own completed document."),
    external_reference: text("Your own reference, echoed.", { maxLength: 120 }),
    ship_name: text("Recipient."),
    ship_line1: text("Recipient's street."),
    ship_line2: text("Recipient's second line."),
    ship_city: text("Recipient's city."),
    ship_state: text("Recipient's US state, 2 letters."),
    ship_postal: text("Recipient's ZIP code."),
    ship_method: text("`label` (default) or `print_mail`."),
    from_name: text("Sender; with it from_line1, from_city, from_state and from_postal are required."),
    from_line1: text("Sender's street."),
    from_line2: text("Sender's second line."),
    from_city: text("Sender's city."),
    from_state: text("Sender's US state."),
    from_postal: text("Sender's ZIP code."),
    fax_to: text("A 10-digit US number, or an international one in +country form."),
    create_checkout: flag("`true` or `on`: also mint the hosted checkout."),
    signers: json("Who signs, as JSON text. Default: the client, alone.", signerSchema, mostSigners),
    fields: json(
      "Where they sign, as JSON text. Default: the document's own empty signature fields, else its tags as `{{signature, r1}}`, else a page that is added to its end.",
      requestedFieldSchema,
      mostFields,
    ),
    signer_auth: text("How signers who name no `auth` of their own are identified, besides the mailed link.", {
      enum: signerAuths,
      default: "link",
    }),
  },
} as const;

/** The names of the form's text fields, and of its file. */
export type OrderFormField = keyof typeof orderFormSchema.properties;

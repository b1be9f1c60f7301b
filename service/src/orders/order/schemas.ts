import { Type } from "typebox";
import {
  text as described,
  nextCursor,
  nullable,
  orderCode,
  orderCodeExample,
  ref,
  requestId,
  timestamp,
} from "../../kernel/http/schema-parts.ts";
import { warnings } from "../../kernel/http/warnings.ts";
import { noticeCodes } from "../../kernel/pdf/unseen/notice.ts";
import { mostFields, mostSigners, requestedFieldSchema, signerAuths, signerSchema } from "./form/signing-schemas.ts";

const cents = (description: string, example: number) => Type.Integer({ description, examples: [example] });

const status = () =>
  described(
    "The order's status. The list of statuses may grow; treat one that you don't know as not finished.",
    "QuoteReady",
  );
const services = () =>
  described("What was ordered: `Sign`, `Notarize`, `Ship` and `Fax`, joined by a comma and a space.", "Sign, Notarize");
const externalReference = () =>
  nullable(Type.String({ examples: ["FILE-2207"] }), "Your own reference; null when none was sent.");
const customerEmail = () => described("The client's email address.", "signer@example.com");
const totalCents = () => cents("What the client pays: the subtotal less the discount, in USD cents.", 6100);
const createdAt = () => timestamp("When the order was placed.");

/** They add up to the total, and are what `services` names. */
const linesExample = [
  { type: "WorkflowFee", label: "Document workflow and e-signature", amountCents: 1200 },
  { type: "NotaryFee", label: "Online notarization", amountCents: 2500 },
  { type: "TechFee", label: "Notarization technology", amountCents: 2400 },
];

export const OrderLine = Type.Object(
  {
    type: Type.String({
      examples: ["WorkflowFee"],
      description: "What the line is for. Show a type that you don't know as a row and nothing more.",
    }),
    label: described("The same for people.", "Document workflow and e-signature"),
    amountCents: cents("In USD cents; negative for discounts.", 1200),
  },
  { $id: "OrderLine", description: "A line of an order's price." },
);

export const DocumentNoticeView = Type.Object(
  {
    code: Type.String({
      examples: ["text_below_place"],
      description: `What it is: ${noticeCodes.map((code) => `\`${code}\``).join(", ")}. The list may grow.`,
    }),
    page: nullable(Type.Integer(), "The page, from 1; null for the whole document."),
    text: nullable(
      Type.String(),
      "What the document says there, or what it names. Null where there is nothing to quote, and always in the answer to create: get the order to read it.",
    ),
    message: described("The same for people, in English.", "A place to sign or fill in is on top of words (page 2)."),
  },
  {
    $id: "DocumentNotice",
    description:
      "Something in a document that is signed which people may not see as it is sealed. Each signer is told it, too.",
  },
);

const documentNotices = Type.Optional(
  Type.Array(ref(DocumentNoticeView), {
    description: "What the signers are told of the document: only when there is something, and only with signing.",
  }),
);

const manualQuoteReason = Type.Optional(
  Type.String({
    description: "Why a person prices the order, in English: only while it is in `ManualQuoteRequired`.",
    examples: ["No notary on record may notarize online today."],
  }),
);

const template = Type.Optional(
  Type.Object(
    {
      templateId: described("The template's id.", "0b5f7d1e-8a2c-4c55-9a57-3d1f0f6a2b10"),
      version: Type.Integer({ description: "Its version, which never changes.", examples: [3] }),
    },
    { description: "The template that the order was placed from: only when there is one." },
  ),
);

const common = {
  requestId: requestId(),
  orderCode: orderCode(),
  orderUrl: described("The client's page of the order: a path on this service.", `/orders/${orderCodeExample}`),
  status: status(),
  externalReference: externalReference(),
  faxToNumber: nullable(Type.String(), "Where it is faxed to, in E.164 form; null when `fax_to` was not sent."),
  subtotalCents: cents("The sum of the lines, in USD cents.", 6100),
  discountCents: cents("The discount of your tier, in USD cents.", 0),
  totalCents: totalCents(),
  lines: Type.Array(ref(OrderLine), { description: "The price, line by line.", examples: [linesExample] }),
  payBy: Type.Optional(
    Type.Literal("firm", { description: "Your firm pays, as `pay_by` asked; absent when the client does." }),
  ),
  manualQuoteReason,
  template,
};

export const CreatedOrder = Type.Object(
  {
    ...common,
    checkoutUrl: nullable(
      Type.String(),
      "The hosted payment page. Null unless `create_checkout` was sent, payments are set up and the order can be paid.",
    ),
    documentNotices,
    warnings,
  },
  { $id: "CreatedOrder", description: "The new order, with its price." },
);

export const OrderDetail = Type.Object(
  {
    ...common,
    services: services(),
    envelopeStatus: nullable(
      Type.String({ examples: ["Created"] }),
      "Where signing stands: `Created`, `Sent`, `Viewed`, `PartiallySigned`, `Completed`, `Declined`, `Expired` or `Voided`. Null for an order without signing.",
    ),
    customerEmail: customerEmail(),
    createdAt: createdAt(),
    documentNotices,
  },
  { $id: "OrderDetail", description: "An order." },
);

export const OrderSummary = Type.Object(
  {
    orderCode: orderCode(),
    status: status(),
    services: services(),
    totalCents: totalCents(),
    externalReference: externalReference(),
    customerEmail: customerEmail(),
    createdAt: createdAt(),
  },
  { $id: "OrderSummary", description: "An order, as lists show it." },
);

export const OrderList = Type.Object(
  {
    orders: Type.Array(ref(OrderSummary), { description: "Newest first." }),
    nextCursor: nextCursor(),
    requestId: requestId(),
  },
  { $id: "OrderList", description: "A page of orders." },
);

const text = (description: string, more: object = {}) => ({ type: "string", description, ...more });
const json = (description: string, items: object, maxItems: number) =>
  text(description, {
    contentMediaType: "application/json",
    contentSchema: { type: "array", items, minItems: 1, maxItems },
  });
const jsonObject = (description: string, contentSchema: object) =>
  text(description, { contentMediaType: "application/json", contentSchema });
const flag = (description: string) => text(`\`true\` or \`on\`: ${description}`, { examples: ["true"] });

/** The create form, for the published description; the rules themselves are in form/form.ts. */
export const orderFormSchema = {
  type: "object",
  required: ["email", "byod_confirmed"],
  examples: [
    {
      document: "@deed.pdf",
      email: "signer@example.com",
      name: "Jane Doe",
      byod_confirmed: "true",
      svc_sign: "true",
      external_reference: "FILE-2207",
    },
  ],
  properties: {
    document: text("The client's own completed PDF, at most 35 MB. Send this or `fill_token`.", {
      contentMediaType: "application/pdf",
    }),
    fill_token: text(
      "The token of a document that was completed online: 40 lowercase hex digits. Send this or `document`.",
      { pattern: "^[0-9a-f]{40}$" },
    ),
    email: text("The client's email address.", { format: "email", examples: ["signer@example.com"] }),
    name: text("The client's name.", { examples: ["Jane Doe"] }),
    byod_confirmed: flag("you attest that the document is the client's own, and completed."),
    doc_slug: text("A document of the catalog, by its short name. It then decides about signing and notarization."),
    svc_sign: flag("have it signed online."),
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
    template: text(
      "The id of one of your templates. It decides the services `svc_sign`, `svc_notary` and `doc_slug`, the signers' roles and the fields; leave those out, and `signers` and `signer_auth`. Without `document` and `fill_token` its own document is ordered.",
      { format: "uuid" },
    ),
    template_version: text("Of the template: the version to use. Default: the latest.", { examples: ["3"] }),
    roles: jsonObject(
      "Of the template: who takes each of its roles, as JSON text: an object of signers by the role's name. A signer has `name` and `email`, and where needed `phone`, `access_code` and `language`.",
      {
        type: "object",
        additionalProperties: {
          type: "object",
          required: ["name", "email"],
          properties: {
            name: signerSchema.properties.name,
            email: signerSchema.properties.email,
            phone: signerSchema.properties.phone,
            access_code: signerSchema.properties.access_code,
            language: signerSchema.properties.language,
          },
          additionalProperties: false,
        },
      },
    ),
    values: jsonObject(
      "Of the template: values of its fields, as JSON text: an object of values by the field's label. They are in the document before anybody signs.",
      { type: "object", additionalProperties: requestedFieldSchema.properties.value },
    ),
    other_document: flag("Of the template: use its places although the document is another form than its own."),
    svc_notary: flag("have it notarized online."),
    signer_state: text("The US state where the signer is, 2 letters.", {
      minLength: 2,
      maxLength: 2,
      examples: ["TX"],
    }),
    svc_ship: flag("ship it. Send the `ship_` fields with it."),
    ship_method: text("`label`: a prepaid carrier label, the default. `print_mail`: we print and mail the document."),
    ship_name: text(
      "The recipient. Required for shipping, as are the other `ship_` fields but `ship_line2` and `ship_method`.",
    ),
    ship_line1: text("The recipient's street and number."),
    ship_line2: text("The recipient's suite or apartment."),
    ship_city: text("The recipient's city."),
    ship_state: text("The recipient's US state, 2 letters."),
    ship_postal: text("The recipient's ZIP code."),
    dest_state: text("The US state where it is shipped to, 2 letters.", {
      minLength: 2,
      maxLength: 2,
      examples: ["TX"],
    }),
    from_name: text(
      "The sender, where it is not us. With it `from_line1`, `from_city`, `from_state` and `from_postal` are required.",
    ),
    from_line1: text("The sender's street and number."),
    from_line2: text("The sender's suite or apartment."),
    from_city: text("The sender's city."),
    from_state: text("The sender's US state, 2 letters."),
    from_postal: text("The sender's ZIP code."),
    fax_to: text("Fax it to this number: 10 digits for the US, else with `+` and the country code."),
    external_reference: text("Your own reference, at most 120 characters. Lists, the order and its events repeat it.", {
      maxLength: 120,
      examples: ["FILE-2207"],
    }),
    pay_by: text(
      "Who pays: `client`, the default, or `firm`. When your firm pays, no mail and no page tells the client about money, and you open the checkout.",
    ),
    create_checkout: flag("also create the hosted payment page, and answer its address as `checkoutUrl`."),
  },
} as const;

/** The names of the form's text fields, and of its file. */
export type OrderFormField = keyof typeof orderFormSchema.properties;

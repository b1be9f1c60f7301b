import { type SenderTextName, senderTextNames, senderTexts } from "./form/sender-texts.ts";
import { maxFields, maxSigners, requestedFieldSchema, signerAuths, signerSchema } from "./form/signing-schemas.ts";

const text = (description: string, more: object = {}) => ({ type: "string", description, ...more });
const json = (description: string, items: object, maxItems: number) =>
  text(description, {
    contentMediaType: "application/json",
    contentSchema: { type: "array", items, minItems: 1, maxItems },
  });
const jsonObject = (description: string, contentSchema: object) =>
  text(description, { contentMediaType: "application/json", contentSchema });
const flag = (description: string) => text(`\`true\` or \`on\`: ${description}`, { examples: ["true"] });

const senderParts = Object.fromEntries(
  senderTextNames.map((name) => {
    const { sent, maxLength, example } = senderTexts[name];
    return [name, text(sent, { maxLength, examples: [example] })];
  }),
) as Record<SenderTextName, ReturnType<typeof text>>;

/** The schema of the form that creates an order, as published. The rules themselves are in form/form.ts. */
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
    signers: json(
      "Who signs, or appears before the notary, as JSON text. Default: the client, alone. With a notary and without signing nobody has `auth` or `routing`.",
      signerSchema,
      maxSigners,
    ),
    fields: json(
      "Where they sign, as JSON text. Default: the document's own empty signature fields, else its tags as `{{signature, r1}}`, else a page that is added to its end; and its other empty form fields whose names begin with a signer, as `signer2.phone`.",
      requestedFieldSchema,
      maxFields,
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
    ...senderParts,
    pay_by: text(
      "Who pays: `client`, the default, or `firm`. When your firm pays, no mail and no page tells the client about money, and you open the checkout.",
    ),
    create_checkout: flag("also create the hosted payment page, and answer its address as `checkoutUrl`."),
  },
} as const;

/** The names of the form's text fields, and of its file. */
export type OrderFormField = keyof typeof orderFormSchema.properties;

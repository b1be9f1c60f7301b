import { Type } from "typebox";
import { nextCursor, nullable, oneOf, ref, requestId, text, timestamp, uuid } from "../../kernel/http/schema-parts.ts";
import { maxFields, maxSigners, requestedFieldSchema, signerAuths, signerLanguages } from "../order/order.ts";

const templateId = () => uuid("The template's id.");
const version = () =>
  Type.Integer({ minimum: 1, description: "The version, from 1. A version never changes.", examples: [1] });

export const roleSchema = Type.Object(
  {
    name: Type.String({ maxLength: 60, description: "Unique among the roles.", examples: ["Buyer"] }),
    routing: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 10,
        description: "Roles of one number sign in parallel, after those of lower numbers. Default 1.",
      }),
    ),
    auth: Type.Optional(oneOf(signerAuths, "How the signer is identified besides the link. Default `link`.")),
    language: Type.Optional(oneOf(signerLanguages, "The language of the signer's emails and pages. Default `en`.")),
  },
  { additionalProperties: false },
);

export const TemplateRoleView = Type.Object(
  {
    name: Type.String({ description: "The role.", examples: ["Buyer"] }),
    routing: Type.Integer({ description: "The turn of its signer, from 1.", examples: [1] }),
    auth: oneOf(signerAuths, "How the signer is identified besides the link."),
    language: oneOf(signerLanguages, "The language of the signer's emails and pages."),
  },
  { $id: "TemplateRole", description: "A part that an order gives to a person." },
);

const summary = {
  templateId: templateId(),
  name: text("The template's name.", "Purchase agreement"),
  version: version(),
  roles: Type.Array(ref(TemplateRoleView), { description: "In their order: `signer` of a field counts them from 1." }),
  services: text("What an order gets: `Sign`, `Notarize` and `Ship`, joined by a comma and a space.", "Sign"),
  pages: Type.Integer({ description: "Of the document.", examples: [4] }),
  createdAt: timestamp("When this version was made."),
  archivedAt: nullable(
    timestamp("When it was archived."),
    "When the template was archived; null while it places orders.",
  ),
};

export const TemplateSummary = Type.Object(summary, {
  $id: "TemplateSummary",
  description: "A template, as lists show it.",
});

export const Template = Type.Object(
  {
    ...summary,
    documentSha256: text("The hash of the document, lowercase hex."),
    documentBytes: Type.Integer({ description: "The size of the document.", examples: [48213] }),
    docSlug: nullable(Type.String({ examples: ["deed"] }), "The document of the catalog; null for another."),
    shipMethod: nullable(
      Type.String({ examples: ["label"] }),
      "How it ships by default; null where the order decides.",
    ),
    message: nullable(
      Type.String({ examples: ["Please sign by Friday."] }),
      "Your words to the signers; null for none.",
    ),
    fields: nullable(
      Type.Array(Type.Unsafe<Record<string, unknown>>({ type: "object", additionalProperties: {} }), {
        description: "As you sent them, in the form of an order's `fields`.",
      }),
      "As you sent them, in the form of an order's `fields`; null where the document's own fields or tags decide.",
    ),
    requestId: requestId(),
  },
  { $id: "Template", description: "A version of a template." },
);

export const TemplateList = Type.Object(
  {
    templates: Type.Array(ref(TemplateSummary), { description: "Newest first." }),
    nextCursor: nextCursor(),
    requestId: requestId(),
  },
  { $id: "TemplateList", description: "A page of templates." },
);

export const TemplateSaved = Type.Object(
  { templateId: templateId(), version: version(), requestId: requestId() },
  { $id: "TemplateSaved", description: "The version that was made." },
);

export const TemplateMatches = Type.Object(
  {
    matches: Type.Array(
      Type.Object({
        templateId: templateId(),
        name: text("The template's name.", "Purchase agreement"),
        version: version(),
        likeness: oneOf(
          ["same_file", "same_form"],
          "`same_file`: byte for byte. `same_form`: the same words, other entries.",
        ),
      }),
      { description: "The same file first." },
    ),
    requestId: requestId(),
  },
  { $id: "TemplateMatches", description: "Templates that a document is the form of." },
);

const part = (description: string, more: object = {}) => ({ type: "string", description, ...more });
const list = (description: string, items: object, maxItems: number) =>
  part(description, {
    contentMediaType: "application/json",
    contentSchema: { type: "array", items, minItems: 1, maxItems },
  });
const flag = (description: string) => part(`\`true\` or \`on\`: ${description}`, { examples: ["true"] });

const formProperties = {
  document: part("The form as a PDF, at most 35 MB. Orders without a document of their own get a copy of it.", {
    contentMediaType: "application/pdf",
  }),
  name: part("The template's name, at most 120 characters.", { examples: ["Purchase agreement"], maxLength: 120 }),
  roles: list("Who signs, as JSON text. An order gives each role to a person.", roleSchema, maxSigners),
  fields: list(
    "Where they sign, as JSON text: as an order's `fields`, where `signer` is the role's place in `roles`. Default: the document's own empty signature fields, else its tags; and its other empty form fields whose names begin with a signer, as `signer2.phone`.",
    requestedFieldSchema,
    maxFields,
  ),
  message: part(
    "Your words to the signers, in the mail that asks them to sign: at most 500 characters, without addresses.",
    {
      maxLength: 500,
    },
  ),
  doc_slug: part("A document of the catalog, by its short name. It then decides about signing and notarization."),
  svc_sign: flag("orders are signed online."),
  svc_notary: flag("orders are notarized online."),
  svc_ship: flag("orders are shipped; each names its own address."),
  ship_method: part("`label` or `print_mail`, where the order names none."),
};

export const templateFormSchema = {
  type: "object",
  required: ["name"],
  examples: [
    {
      document: "@agreement.pdf",
      name: "Purchase agreement",
      svc_sign: "true",
      roles: '[{"name":"Buyer"},{"name":"Seller","routing":2}]',
    },
  ],
  properties: {
    ...formProperties,
    order: part(
      "In place of `document`: the code of one of your orders, whose document, fields and services are taken.",
      {
        examples: ["4f1c2a9d0b7e6358c1d2e3f4a5b6c7d8e9f0a1b2"],
      },
    ),
  },
} as const;

export const versionFormSchema = {
  type: "object",
  examples: [{ name: "Purchase agreement 2027" }],
  properties: formProperties,
} as const;

export const matchFormSchema = {
  type: "object",
  required: ["document"],
  examples: [{ document: "@agreement.pdf" }],
  properties: { document: part("The PDF to recognize, at most 35 MB.", { contentMediaType: "application/pdf" }) },
} as const;

export const templateParams = Type.Object({ templateId: Type.String({ description: "The template's id." }) });
export const versionParams = Type.Object({
  templateId: Type.String({ description: "The template's id." }),
  version: Type.String({ description: "The version, from 1." }),
});

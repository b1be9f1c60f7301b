import { Type } from "typebox";
import { nextCursor, nullable, oneOf, ref, requestId, text, timestamp, uuid } from "../../kernel/http/schema-parts.ts";
import { signerLanguages } from "../order/order.ts";

const language = () => oneOf(signerLanguages, "Of the page and the mail. Default `en`.");

const values = () =>
  Type.Unsafe<Record<string, unknown>>({
    type: "object",
    additionalProperties: {},
    description:
      "Answers by the names of fields: a text, `true` or `false` for a checkbox, a list of texts for a list.",
    examples: [{ buyer: "Jane Doe", agree: true }],
  });

export const NewFill = Type.Object(
  {
    template: Type.Optional(
      Type.String({
        description: "The id of one of your templates. Send this or `docSlug`.",
        examples: ["0198c0de-0000-7000-8000-000000000001"],
      }),
    ),
    docSlug: Type.Optional(
      Type.String({
        description:
          "A document of the catalog: your newest template for it is filled in, or else the form that the service has for every firm.",
      }),
    ),
    templateVersion: Type.Optional(Type.Integer({ minimum: 1, description: "Default: the latest." })),
    name: Type.Optional(
      Type.String({ maxLength: 200, description: "Of the person who fills it in.", examples: ["Jane Doe"] }),
    ),
    email: Type.Optional(
      Type.String({ maxLength: 254, description: "Where `send` mails the link to.", examples: ["jane@example.com"] }),
    ),
    language: Type.Optional(language()),
    days: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 90, description: "How long the link works. Default 30.", examples: [30] }),
    ),
    returnUrl: Type.Optional(
      Type.String({ maxLength: 2000, description: "An https address that the page leads to after the end." }),
    ),
    values: Type.Optional(values()),
    labels: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        type: "object",
        additionalProperties: { type: "string" },
        description: "Your own words for questions, by the names of fields.",
      }),
    ),
    send: Type.Optional(Type.Boolean({ description: "Mails the link to `email`." })),
    complete: Type.Optional(
      Type.Boolean({
        description: "Fills the form in at once with `values`: nobody is asked, and `fillToken` is in the answer.",
      }),
    ),
  },
  { $id: "NewFill", description: "A form that somebody is to fill in." },
);

const summary = {
  fillId: uuid("The fill's id."),
  template: Type.Object(
    {
      templateId: nullable(
        uuid("The template's id."),
        "For `template` of an order. Null for the service's form of a catalog document: order that by `fill_token` alone.",
      ),
      version: Type.Integer({ minimum: 1, description: "Its version.", examples: [1] }),
    },
    {
      description: "The template whose form it is.",
    },
  ),
  docSlug: nullable(
    Type.String({ examples: ["quitclaim-deed"] }),
    "The document of the catalog; an order with `fillToken` is for it. Null for another.",
  ),
  title: text("The template's name.", "Purchase agreement"),
  state: oneOf(
    ["open", "completed", "used", "gone", "canceled", "expired"],
    "`completed`: an order may take the document. `used`: one did, see `orderCode`. `gone`: none did within seven days. `expired`: nobody finished it in time.",
    ["open"],
  ),
  name: nullable(Type.String({ examples: ["Jane Doe"] }), "Of the person who fills it in."),
  email: nullable(Type.String({ examples: ["jane@example.com"] }), "Where the link is mailed to."),
  language: oneOf(signerLanguages, "Of the page and the mail."),
  url: nullable(
    Type.String({
      examples: [
        "https://sign.example.com/fill/0198c0de-0000-7000-8000-000000000001/4f1c2a9d0b7e6358c1d2e3f4a5b6c7d8e9f0a1b2",
      ],
    }),
    "The link to the form. Anyone who has it sees and changes the answers, so it is null for a key without the scope `orders`.",
  ),
  createdAt: timestamp("When it was made."),
  expiresAt: timestamp("Until when the link works."),
  endedAt: nullable(timestamp("When it ended."), "When it was completed or canceled; null before."),
  fillToken: nullable(
    Type.String({ pattern: "^[0-9a-f]{40}$", examples: ["4f1c2a9d0b7e6358c1d2e3f4a5b6c7d8e9f0a1b2"] }),
    "For `fill_token` of one order of yours; null before the end, once an order took it, and for a key without the scope `orders`.",
  ),
  usableUntil: nullable(
    timestamp("Until when an order may take the document."),
    "Until when an order may take the document.",
  ),
  orderCode: nullable(
    Type.String({ examples: ["4f1c2a9d0b7e6358c1d2e3f4a5b6c7d8e9f0a1b2"] }),
    "The order that took the document; null before.",
  ),
};

export const FillSummary = Type.Object(summary, { $id: "FillSummary", description: "A form that somebody fills in." });

export const FillAnswer = Type.Object(
  { ...summary, requestId: requestId() },
  { $id: "Fill", description: "A form that somebody fills in online." },
);

export const FillList = Type.Object(
  {
    fills: Type.Array(ref(FillSummary), { description: "Newest first." }),
    nextCursor: nextCursor(),
    requestId: requestId(),
  },
  { $id: "FillList", description: "A page of fills." },
);

export const FillQuestions = Type.Object(
  {
    questions: Type.Array(
      Type.Object({
        name: text("The field's name, as `values` and `labels` have it.", "buyer"),
        kind: oneOf(["text", "checkbox", "radio", "dropdown", "list"], "How it is answered."),
        label: text("The words of the question.", "Full name of the buyer"),
        isGuessed: Type.Boolean({
          description: "The form has no words for it: send your own in `labels`.",
          examples: [false],
        }),
        required: Type.Boolean({ description: "Whether the form asks for an answer.", examples: [true] }),
        page: Type.Integer({ description: "The page of the form, from 1.", examples: [1] }),
        maxLength: nullable(
          Type.Integer({ examples: [40] }),
          "In characters; null where only the field's room bounds it.",
        ),
        options: Type.Array(
          Type.Object({ value: text("As `values` has it.", "CA"), label: text("What people read.", "California") }),
          { description: "What may be chosen; empty for texts and checkboxes." },
        ),
      }),
      { description: "In reading order." },
    ),
    requestId: requestId(),
  },
  { $id: "FillQuestions", description: "The questions of a form." },
);

export const documentParams = Type.Object({
  docSlug: Type.String({ description: "The document, by its short name in the catalog." }),
});
export const fillParams = Type.Object({ fillId: Type.String({ description: "The fill's id." }) });

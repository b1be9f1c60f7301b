import { Type } from "typebox";
import { oneOf } from "../../../kernel/http/schema-parts.ts";
import { languages } from "../../../kernel/platform/languages.ts";
import { conditions } from "./field-rules.ts";
import { currencies, dateFormats, maxDecimals, textFormats } from "./field-values.ts";
import { maxFormulaLength } from "./formula.ts";

/** The ways to identify a signer. `link`: by the mailed link alone; the others require a code in addition. */
export const signerAuths = ["link", "mail_code", "access_code", "text_code"] as const;
export const signerLanguages = languages;
export const requestedKinds = [
  "signature",
  "initials",
  "date",
  "name",
  "text",
  "number",
  "checkbox",
  "radio",
  "multiple",
  "dropdown",
] as const;
export const maxSigners = 10;
export const maxFields = 500;
export const maxPoints = 14_400;
export const maxPages = 100_000;
export const maxLabelLength = 200;
export const maxHelpLength = 400;
export const maxOptions = 50;
/** The most fields of one document that have a condition or a formula. */
export const maxRules = 100;
export const maxIdLength = 40;
/** The most characters of a value. A value is on one line, and no page is wide enough for more, even at 6 points. */
export const maxValueLength = 200;

const points = (description: string) => Type.Number({ minimum: 0, maximum: maxPoints, description });
const choicePoints = (description: string, minimum: number, maximum: number) =>
  Type.Optional(Type.Number({ minimum, maximum, description }));

/** One element of the form's `signers`. */
export const signerSchema = Type.Object(
  {
    name: Type.String({ maxLength: 200, description: "The signer's name.", examples: ["Jane Doe"] }),
    email: Type.String({
      format: "email",
      maxLength: 254,
      description: "Where the link is mailed.",
      examples: ["jane@example.com"],
    }),
    phone: Type.Optional(
      Type.String({
        description:
          "The signer's phone: 10 digits for the US, else with `+` and the country code. Required when `auth` is `text_code`.",
      }),
    ),
    routing: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 10,
        description: "Signers of one number sign in parallel, after those of lower numbers. Default 1.",
      }),
    ),
    auth: Type.Optional(oneOf(signerAuths, "How this signer is identified besides the link. Default: `signer_auth`.")),
    access_code: Type.Optional(
      Type.String({
        minLength: 4,
        maxLength: 64,
        description: "For `access_code`: the code, which you tell the signer yourself. We keep only a hash of it.",
      }),
    ),
    language: Type.Optional(oneOf(signerLanguages, "The language of this signer's emails and pages. Default `en`.")),
  },
  { additionalProperties: false },
);

/** The person who replaces a signer. */
export const replacementSchema = Type.Object(
  {
    name: signerSchema.properties.name,
    email: signerSchema.properties.email,
    language: Type.Optional(oneOf(signerLanguages, "The language of emails and pages. Default: as before.")),
    auth: Type.Optional(oneOf(signerAuths, "How the person is identified besides the link. Default: as before.")),
    phone: signerSchema.properties.phone,
    access_code: signerSchema.properties.access_code,
  },
  { additionalProperties: false, $id: "SignerReplacement", description: "Who signs instead." },
);

/** One element of a field's `options`. */
const optionSchema = Type.Object(
  {
    label: Type.String({
      maxLength: maxLabelLength,
      description: "What is chosen: no other option may look the same.",
    }),
    x: choicePoints("Of an option of a radio or a multiple: points from the left edge of the page.", 0, maxPoints),
    y: choicePoints("Of such an option: points from the upper edge of the page.", 0, maxPoints),
    width: choicePoints("Of such an option.", 6, 36),
    height: choicePoints("Of such an option.", 6, 36),
  },
  { additionalProperties: false },
);

const numberFormatSchema = Type.Object(
  {
    decimals: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: maxDecimals,
        description:
          "How many decimals are shown, and at most typed. Default 2 with a currency, else as many as typed.",
      }),
    ),
    min: Type.Optional(Type.Number({ description: "The least number, with at most 4 decimals." })),
    max: Type.Optional(Type.Number({ description: "The largest number, with at most 4 decimals." })),
    currency: Type.Optional(oneOf(currencies, "Shown with the number.")),
  },
  { additionalProperties: false },
);

const showWhenSchema = Type.Object(
  {
    field: Type.String({
      maxLength: maxIdLength,
      description:
        "The `id` of a field that the same signer fills in, or a signer of an earlier turn, or that is `read_only`.",
      examples: ["has_pets"],
    }),
    operator: oneOf(
      conditions,
      "`checked` and `unchecked` of a checkbox, `greater_than` and `less_than` of a number, `filled` and `empty` of the others, `equals` and `not_equals` of all but a checkbox.",
    ),
    value: Type.Optional(
      Type.Union([Type.String({ maxLength: maxValueLength }), Type.Number()], {
        description: "What it is compared with: a text, a number, or the label of an option. Not with the first four.",
      }),
    ),
  },
  {
    additionalProperties: false,
    description:
      "When the field is shown. A field that is not shown is neither required nor drawn, whatever was typed. Not of a signature or a `read_only` field.",
  },
);

/** One element of the form's `fields`. */
export const requestedFieldSchema = Type.Object(
  {
    kind: oneOf(requestedKinds, "What is filled in here."),
    signer: Type.Integer({ minimum: 1, maximum: maxSigners, description: "The signer's place in `signers`, from 1." }),
    page: Type.Integer({ minimum: 1, description: "The page, from 1." }),
    x: Type.Optional(
      points(
        "Points (1/72 inch) from the left edge of the page as a reader shows it, rotated and cropped. Required for all but a radio and a multiple, whose options have places.",
      ),
    ),
    y: Type.Optional(points("Points from the upper edge of that page.")),
    width: Type.Optional(
      points(
        "The width in points: 6 to 36 for a checkbox, at least 24 for a number or a dropdown, else 8, and at most 360 for a signature, 120 for initials, else the page's width less 36. A field takes at most 10 percent of its page.",
      ),
    ),
    height: Type.Optional(
      points(
        "The height in points: 6 to 36 for a checkbox, at least 10 for a number or a dropdown, else 8, and at most 120 for a signature, 60 for initials, else 200.",
      ),
    ),
    label: Type.Optional(Type.String({ maxLength: maxLabelLength, description: "What the signer is asked for." })),
    required: Type.Optional(
      Type.Boolean({ description: "Whether it must be filled, or checked. Default true, of a checkbox false." }),
    ),
    help: Type.Optional(
      Type.String({ maxLength: maxHelpLength, description: "Shown to the signer next to the field." }),
    ),
    value: Type.Optional(
      Type.Union([Type.String({ maxLength: maxValueLength }), Type.Number(), Type.Boolean()], {
        description:
          "Your value, written into the document before the first signer sees it: `true` or `false` of a checkbox, the label of an option, else text. Not of a signature, initials, a date or a name.",
      }),
    ),
    read_only: Type.Optional(
      Type.Boolean({ description: "Whether the value is fixed, so that nobody fills the field in. It needs `value`." }),
    ),
    format: Type.Optional(
      Type.Union([oneOf([...dateFormats, ...textFormats], "Of a date, or of a text."), numberFormatSchema], {
        description:
          "Of a date, which is the day of the signature in your firm’s time zone: `iso` (2026-01-05, the default), `us` or `long`. Of a text: `any`, `email`, `phone_us`, `zip_us`, `ssn_last4`. Of a number: an object.",
      }),
    ),
    options: Type.Optional(
      Type.Array(optionSchema, {
        minItems: 2,
        maxItems: maxOptions,
        description: "The choices of a radio, a multiple or a dropdown, required for these.",
      }),
    ),
    least: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: maxOptions,
        description: "Of a multiple: how many options must be chosen. Default 1, or 0 where `required` is false.",
      }),
    ),
    most: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: maxOptions,
        description: "Of a multiple: how many options may be chosen. Default all.",
      }),
    ),
    id: Type.Optional(
      Type.String({
        maxLength: maxIdLength,
        pattern: "^[a-z][a-z0-9_]*$",
        description: "Unique among the fields: `show_when` and `formula` of other fields name it.",
        examples: ["rent"],
      }),
    ),
    show_when: Type.Optional(showWhenSchema),
    formula: Type.Optional(
      Type.String({
        maxLength: maxFormulaLength,
        description:
          "Of a number: the service calculates it when its signer signs, and nobody types it. Numbers, ids of number fields, `+ - * / ( )`, `sum`, `min`, `max` and `round`. An empty or hidden field counts as 0.",
        examples: ["round(rent * 12, 2)"],
      }),
    ),
  },
  { additionalProperties: false },
);

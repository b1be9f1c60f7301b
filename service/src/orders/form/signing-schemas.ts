import { Type } from "typebox";
import { oneOf } from "../../http/schema-parts.ts";

/** How a signer is identified, besides the link that is mailed. */
export const signerAuths = ["link", "mail_code", "access_code", "text_code"] as const;
export const signerLanguages = ["en", "es"] as const;
export const requestedKinds = ["signature", "initials", "date", "name", "text"] as const;
export const mostSigners = 10;
export const mostFields = 500;
export const mostPoints = 14_400;
export const mostPages = 100_000;

const points = (description: string) => Type.Number({ minimum: 0, maximum: mostPoints, description });

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

/** Who signs in another's place. */
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

/** One element of the form's `fields`. */
export const requestedFieldSchema = Type.Object(
  {
    kind: oneOf(requestedKinds, "What is filled in here."),
    signer: Type.Integer({ minimum: 1, maximum: mostSigners, description: "The signer's place in `signers`, from 1." }),
    page: Type.Integer({ minimum: 1, description: "The page, from 1." }),
    x: points("Points (1/72 inch) from the left edge of the page as a reader shows it, rotated and cropped."),
    y: points("Points from the upper edge of that page."),
    width: points(
      "The width in points: at least 8, and at most 360 for a signature, 120 for initials, else the page's width less 36. A field takes at most 10 percent of its page.",
    ),
    height: points("The height in points: at least 8, and at most 120 for a signature, 60 for initials, else 200."),
    label: Type.Optional(Type.String({ maxLength: 100, description: "What the signer is asked for." })),
    required: Type.Optional(Type.Boolean({ description: "Whether it must be filled. Default true." })),
  },
  { additionalProperties: false },
);

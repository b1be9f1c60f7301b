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
    name: Type.String({ maxLength: 200 }),
    email: Type.String({ format: "email", maxLength: 254 }),
    phone: Type.Optional(
      Type.String({
        description:
          "A 10-digit US number, or an international one in +country form. Required when `auth` is `text_code`.",
      }),
    ),
    routing: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 10,
        description: "Signers of one number sign in parallel, after those of lower numbers. Default 1.",
      }),
    ),
    auth: Type.Optional(oneOf(signerAuths, "Default: `signer_auth`.")),
    access_code: Type.Optional(
      Type.String({
        minLength: 4,
        maxLength: 64,
        description: "For `access_code`: what you tell the signer yourself. We keep only a hash of it.",
      }),
    ),
    language: Type.Optional(oneOf(signerLanguages, "Of mails and pages. Default `en`.")),
  },
  { additionalProperties: false },
);

/** Who signs in another's place. */
export const replacementSchema = Type.Object(
  {
    name: signerSchema.properties.name,
    email: signerSchema.properties.email,
    language: Type.Optional(oneOf(signerLanguages, "Default: as before.")),
    auth: Type.Optional(oneOf(signerAuths, "Default: as before.")),
    phone: signerSchema.properties.phone,
    access_code: signerSchema.properties.access_code,
  },
  { additionalProperties: false, $id: "SignerReplacement" },
);

/** One element of the form's `fields`. */
export const requestedFieldSchema = Type.Object(
  {
    kind: oneOf(requestedKinds),
    signer: Type.Integer({ minimum: 1, maximum: mostSigners, description: "The signer's place in `signers`, from 1." }),
    page: Type.Integer({ minimum: 1, description: "From 1." }),
    x: points("Points (1/72 inch) from the left edge of the page as a reader shows it, rotated and cropped."),
    y: points("Points from its upper edge."),
    width: points("Points; at least 8."),
    height: points("Points; at least 8."),
    label: Type.Optional(Type.String({ maxLength: 100, description: "What the signer is asked for." })),
    required: Type.Optional(Type.Boolean({ description: "Whether it must be filled. Default true." })),
  },
  { additionalProperties: false },
);

import { type Static, Type } from "typebox";
import { nullable, oneOf } from "../http/schema-parts.ts";
import { maxLengths } from "./fields.ts";

const optionalText = (field: keyof typeof maxLengths, description: string) =>
  Type.Optional(nullable(Type.String({ maxLength: maxLengths[field], description })));

export const PartnerRequest = Type.Object(
  {
    firmName: Type.String({ minLength: 1, maxLength: maxLengths.firmName, examples: ["Harbor Title Co."] }),
    contactName: Type.String({ minLength: 1, maxLength: maxLengths.contactName, examples: ["Dana Reyes"] }),
    workEmail: Type.String({
      format: "email",
      maxLength: maxLengths.workEmail,
      examples: ["dana@harbor-title.example"],
    }),
    role: optionalText("role", "What the contact does at the firm."),
    expectedVolume: optionalText("expectedVolume", "Documents a month, in words."),
    useCase: optionalText("useCase", "What the firm wants to do, in some sentences."),
    recaptchaToken: optionalText("recaptchaToken", "Leaving it out never blocks."),
  },
  { $id: "PartnerRequest", description: "Texts are trimmed." },
);

export const requestMessages = {
  issued: "Your trial key is on its way to your work email. It is sent once.",
  pending: "Thank you. A person will look at your request. If it fits, a key comes to your work email.",
} as const;

export const PartnerRequestAnswer = Type.Object(
  {
    status: oneOf(["issued", "pending"]),
    message: Type.String({ examples: [requestMessages.issued] }),
  },
  {
    $id: "PartnerRequestAnswer",
    description: "`issued`: a trial key was created and mailed once to `workEmail`; `pending`: queued for a person.",
  },
);
export type PartnerRequestAnswer = Static<typeof PartnerRequestAnswer>;

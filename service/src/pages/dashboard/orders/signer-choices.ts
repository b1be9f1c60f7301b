import type { SignerState } from "../../../signing/envelopes/envelopes.ts";
import type { Choice } from "../../ui/forms/fields.ts";

/** How a signer is identified, in the words of the pages. */
export const identified: Readonly<Record<SignerState["auth"], string>> = {
  link: "the link in the email",
  mail_code: "the link and a code by email",
  access_code: "the link and your access code",
  text_code: "the link and a code by text message",
};

export const languageChoices: readonly Choice[] = [
  { value: "en", label: "English" },
  { value: "es", label: "Spanish" },
  { value: "fr", label: "French" },
  { value: "pt", label: "Portuguese (Brazil)" },
  { value: "zh", label: "Chinese (Simplified)" },
  { value: "vi", label: "Vietnamese" },
  { value: "ko", label: "Korean" },
  { value: "tl", label: "Tagalog" },
];

/**
 * The ways to identify a signer, as choices of a form.
 * @param textCodes true if this installation sends text messages
 */
export const authChoices = (textCodes: boolean): readonly Choice[] =>
  Object.entries(identified)
    .filter(([value]) => textCodes || value !== "text_code")
    .map(([value, label]) => ({ value, label: label[0]?.toUpperCase() + label.slice(1) }));

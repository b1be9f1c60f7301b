import { invalid } from "../../kernel/platform/errors.ts";
import { membersIn } from "../../kernel/platform/json.ts";
import { isEmail } from "../../kernel/platform/mail/email.ts";
import { isPlainLines, isPlainText } from "../../kernel/platform/text.ts";

/** An access request (contract, Partner access request), trimmed. */
export type AccessRequest = {
  firmName: string;
  contactName: string;
  workEmail: string;
  role: string | null;
  expectedVolume: string | null;
  useCase: string | null;
};

/** A request as sent: the stored fields, and the bot token that the page may add. */
export type SentRequest = AccessRequest & { recaptchaToken: string | null };

export const requiredMessage = "firmName, contactName, and a valid workEmail are required.";

/** The maximum length of each field, in UTF-16 units after trimming. */
export const maxLengths = {
  firmName: 200,
  contactName: 200,
  workEmail: 254,
  role: 120,
  expectedVolume: 120,
  useCase: 4000,
  recaptchaToken: 8192,
} as const;

type Field = keyof typeof maxLengths;

/**
 * Reads the body of `POST /api/partner/request`.
 * @throws ServiceError with the contract's message, or naming the field and the rule
 */
export function accessRequestFields(body: unknown): SentRequest {
  const members = membersIn(body);

  function optional(field: Field, isReadable = isPlainText): string | null {
    const value = members[field] ?? "";
    if (typeof value !== "string") throw invalid(`${field} must be text.`);
    const text = value.trim();
    if (text.length > maxLengths[field]) throw invalid(`${field} must have at most ${maxLengths[field]} characters.`);
    if (!isReadable(text)) throw invalid(`${field} must be UTF-8 text without control characters.`);
    return text || null;
  }

  const texts = {
    firmName: optional("firmName"),
    contactName: optional("contactName"),
    workEmail: optional("workEmail"),
  };
  const { firmName, contactName, workEmail } = texts;
  if (firmName === null || contactName === null || workEmail === null || !isEmail(workEmail))
    throw invalid(requiredMessage);
  return {
    firmName,
    contactName,
    workEmail,
    role: optional("role"),
    expectedVolume: optional("expectedVolume"),
    useCase: optional("useCase", isPlainLines),
    recaptchaToken: optional("recaptchaToken"),
  };
}

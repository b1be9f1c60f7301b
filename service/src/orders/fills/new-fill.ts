import { invalid } from "../../kernel/platform/errors.ts";
import { membersIn } from "../../kernel/platform/json.ts";
import { isLanguage, type Language, languages } from "../../kernel/platform/languages.ts";
import { isEmail } from "../../kernel/platform/mail/email.ts";
import { isPlainText } from "../../kernel/platform/text.ts";

const days = { usual: 30, max: 90 } as const;

/** The fields of a new fill, from a request's body. */
export type NewFillFields = {
  /** The template to fill in; null when `docSlug` names a catalog document instead. */
  template: string | null;
  /** The slug of a catalog document; absent when `template` is set. */
  docSlug?: string;
  templateVersion: string | null;
  name: string | null;
  email: string | null;
  language: Language;
  days: number;
  returnUrl: string | null;
  /**
   * The value of `values` in the body. It is validated later, because the form's questions decide which values are
   * allowed.
   */
  values: unknown;
  labels: unknown;
  /** True to mail the link to `email`. */
  send: boolean;
  /** True to finish the fill at once, with `values` and the values that the form already contains. */
  complete: boolean;
};

/**
 * Reads the body of a request for a fill.
 * @throws ServiceError naming the field and the rule
 */
export function readNewFill(body: unknown): NewFillFields {
  const fields = membersIn(body);
  const text = (name: string, max: number): string | null => {
    const value = fields[name] ?? "";
    if (typeof value !== "string" || [...value].length > max)
      throw invalid(`${name} must be text of at most ${max} characters.`);
    if (!isPlainText(value)) throw invalid(`${name} must be UTF-8 text without control characters.`);
    return value.trim() || null;
  };
  const flag = (name: string): boolean => {
    const value = fields[name] ?? false;
    if (typeof value !== "boolean") throw invalid(`${name} must be true or false.`);
    return value;
  };
  const template = text("template", 100);
  const docSlug = text("docSlug", 100);
  if (template === null && docSlug === null) throw invalid("template or docSlug is required: send one of them.");
  if (template !== null && docSlug !== null)
    throw invalid("template and docSlug exclude each other: send one of them.");
  const email = text("email", 254);
  if (email !== null && !isEmail(email)) throw invalid("email must be an email address.");
  const language = text("language", 10) ?? "en";
  if (!isLanguage(language)) throw invalid(`language must be one of ${languages.join(", ")}.`);
  const lasts = fields["days"] ?? days.usual;
  if (typeof lasts !== "number" || !Number.isInteger(lasts) || lasts < 1 || lasts > days.max)
    throw invalid(`days must be a whole number from 1 to ${days.max}.`);
  const version = fields["templateVersion"] ?? null;
  if (version !== null && typeof version !== "number") throw invalid("templateVersion must be a whole number from 1.");
  if (version !== null && docSlug !== null) throw invalid("templateVersion must be left out with docSlug.");
  const [send, isComplete] = [flag("send"), flag("complete")];
  if (send && email === null) throw invalid("email is required with send.");
  if (send && isComplete) throw invalid("send and complete exclude each other.");
  return {
    template,
    // Omitted when null, because earlier releases had no `docSlug`. A request with a template then still matches the
    // fingerprint stored with its idempotency key.
    ...(docSlug !== null && { docSlug }),
    templateVersion: version === null ? null : String(version),
    name: text("name", 200),
    email: email?.toLowerCase() ?? null,
    language,
    days: lasts,
    returnUrl: returnUrlOf(text("returnUrl", 2000)),
    values: fields["values"],
    labels: fields["labels"],
    send,
    complete: isComplete,
  };
}

function returnUrlOf(text: string | null): string | null {
  if (text === null) return null;
  const url = URL.parse(text);
  if (url?.protocol !== "https:" || url.username || url.password) throw invalid("returnUrl must be an https address.");
  return url.href;
}

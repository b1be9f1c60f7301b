import { StartupError } from "../platform/errors.ts";
import { type Env, httpUrl, listOf, oneOf, read, secretEnv, wholeNumber } from "./read.ts";

/**
 * The settings that the accounts at all providers share. If an account's `webhookSecret` or `publicKey` is null, the
 * service can't verify the provider's events. It then rejects events and polls the provider instead.
 */
type Account = { apiKey: string; apiBase: string | null };

export type EasyPostSettings = Account & {
  webhookSecret: string | null;
  /** The share by which a carrier's label may cost more than was quoted: 0.1 for a tenth. */
  rateTolerance: number;
};

const mailClasses = ["standard", "certified", "certified_return_receipt"] as const;
type MailClass = (typeof mailClasses)[number];
export type LobSettings = Account & { webhookSecret: string | null; mailClass: MailClass };

export type TelnyxSettings = Account & {
  /** The provider's public key for this account (base64), which verifies its events. */
  publicKey: string | null;
  /** The id of the provider's fax application. Faxes can be sent only with this and `faxFrom`. */
  faxApp: string | null;
  faxFrom: string | null;
  /** The phone number from which text messages are sent, in E.164 form. Without it none are sent. */
  smsFrom: string | null;
  /** ISO 3166 codes of the countries that text messages may be sent to. */
  smsCountries: readonly string[];
};

/**
 * The account at a provider; null when its key is not set.
 * @throws StartupError when one of `others` is set without the key, or when the key or the base URL is malformed
 */
function accountOf(env: Env, keyName: string, baseName: string, others: readonly string[]): Account | null {
  const apiKey = secretEnv(env, keyName);
  const apiBase = read<string | null>(env, baseName, null, "an http(s) URL", httpUrl);
  if (apiKey !== null && !/^[\x21-\x7e]+$/.test(apiKey))
    throw new StartupError(`${keyName} must be printable characters without spaces`);
  const alone = others.find((name) => secretEnv(env, name) !== null);
  if (apiKey === null && alone) throw new StartupError(`${keyName} must be set when ${alone} is`);
  return apiKey === null ? null : { apiKey, apiBase };
}

export function easypostFrom(env: Env): EasyPostSettings | null {
  const account = accountOf(env, "EASYPOST_API_KEY", "EASYPOST_API_BASE", ["EASYPOST_WEBHOOK_SECRET"]);
  const percent = (text: string) => wholeNumber(0, 100)(text.replace(/%$/, ""));
  const tolerance = read(env, "SHIP_RATE_TOLERANCE", 10, "a whole percentage from 0 to 100", percent);
  return (
    account && {
      ...account,
      webhookSecret: secretEnv(env, "EASYPOST_WEBHOOK_SECRET"),
      rateTolerance: tolerance / 100,
    }
  );
}

export function lobFrom(env: Env): LobSettings | null {
  const account = accountOf(env, "LOB_API_KEY", "LOB_API_BASE", ["LOB_WEBHOOK_SECRET"]);
  const mailClass = read<MailClass>(env, "LOB_MAIL_CLASS", "certified", mailClasses.join(", "), oneOf(...mailClasses));
  return account && { ...account, webhookSecret: secretEnv(env, "LOB_WEBHOOK_SECRET"), mailClass };
}

/** The environment, live or test, of the orders that use the account. */
type OfEnvironment = { environment: "live" | "test" };

export type IdentitySettings = Account & OfEnvironment & { webhookSecret: string | null };

const confirmed = (text: string): string | undefined =>
  /^\d{4}-[01]\d-[0-3]\d \S.{2,200}$/.test(text) ? text : undefined;

export function identityFrom(env: Env): IdentitySettings | null {
  const others = ["IDENTITY_WEBHOOK_SECRET", "IDENTITY_TERMS_CONFIRMED"];
  const account = accountOf(env, "IDENTITY_API_KEY", "IDENTITY_API_BASE", others);
  const rule = "a day and a reference, such as 2026-11-01 letter of the vendor";
  const terms = read<string | null>(env, "IDENTITY_TERMS_CONFIRMED", null, rule, confirmed);
  if (account === null) return null;
  const environment = /^(?:sk|rk)_test_/.test(account.apiKey) ? "test" : "live";
  // The vendor forbids reselling its identity checks. So a live key is accepted only if the operator has confirmed the
  // vendor's terms.
  if (environment === "live" && terms === null)
    throw new StartupError(`IDENTITY_TERMS_CONFIRMED must be ${rule}, when IDENTITY_API_KEY is a live key`);
  return { ...account, environment, webhookSecret: secretEnv(env, "IDENTITY_WEBHOOK_SECRET") };
}

export type QuizSettings = OfEnvironment & { url: string; apiKey: string };

export function quizFrom(env: Env): QuizSettings | null {
  const account = accountOf(env, "QUIZ_API_KEY", "QUIZ_URL", []);
  const environment = read<"live" | "test">(env, "QUIZ_ENVIRONMENT", "live", "live or test", oneOf("live", "test"));
  if (account === null) {
    if (env["QUIZ_URL"]) throw new StartupError("QUIZ_API_KEY must be set when QUIZ_URL is");
    return null;
  }
  if (account.apiBase === null) throw new StartupError("QUIZ_URL must be set when QUIZ_API_KEY is");
  return { url: account.apiBase, apiKey: account.apiKey, environment };
}

/**
 * Reads REMOTE_SIGNING_URL. Access tokens and PINs are sent to this URL, so it must be https unless it is on this
 * machine.
 */
export const remoteSigningFrom = (env: Env): string | null =>
  read<string | null>(
    env,
    "REMOTE_SIGNING_URL",
    null,
    "an https URL that ends in a version, such as /csc/v2",
    (text) => {
      const url = httpUrl(text);
      const isSafe = url !== undefined && (/^https:/.test(url) || /^http:\/\/(127\.0\.0\.1|localhost)[:/]/.test(url));
      return isSafe && /\/csc\/v2$/.test(url) ? url : undefined;
    },
  );

const publicKey = (text: string): string | undefined =>
  /^[A-Za-z0-9+/]+={0,2}$/.test(text) && Buffer.from(text, "base64").length === 32 ? text : undefined;

const phoneNumber = (text: string): string | undefined => (/^\+[1-9]\d{6,14}$/.test(text) ? text : undefined);
const anyId = (text: string): string | undefined => (/^[\w-]{1,100}$/.test(text) ? text : undefined);

const country = (text: string): string | undefined => (/^[A-Z]{2}$/.test(text) ? text : undefined);

export function telnyxFrom(env: Env): TelnyxSettings | null {
  const others = ["TELNYX_PUBLIC_KEY", "TELNYX_FAX_APP", "TELNYX_FAX_FROM", "TELNYX_SMS_FROM", "TELNYX_SMS_COUNTRIES"];
  const account = accountOf(env, "TELNYX_API_KEY", "TELNYX_API_BASE", others);
  const optional = (name: string, rule: string, parse: (text: string) => string | undefined) =>
    read<string | null>(env, name, null, rule, parse);
  const faxApp = optional("TELNYX_FAX_APP", "the id of a fax application", anyId);
  const faxFrom = optional("TELNYX_FAX_FROM", "a number as +13125550100", phoneNumber);
  if ((faxApp === null) !== (faxFrom === null))
    throw new StartupError("TELNYX_FAX_APP and TELNYX_FAX_FROM must be set together");
  return (
    account && {
      ...account,
      publicKey: optional("TELNYX_PUBLIC_KEY", "32 bytes in base64", publicKey),
      faxApp,
      faxFrom,
      smsFrom: optional("TELNYX_SMS_FROM", "a number as +13125550100", phoneNumber),
      smsCountries: read(env, "TELNYX_SMS_COUNTRIES", ["US", "CA"], "country codes as US,CA", listOf(country)),
    }
  );
}

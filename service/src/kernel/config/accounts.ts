import { StartupError } from "../platform/errors.ts";
import { type Env, httpUrl, read, secretEnv } from "./read.ts";

export type StripeSettings = {
  secretKey: string;
  webhookSecret: string;
  apiBase: string | null;
  accountAgain: string | null;
};

const accountName = (text: string): string | undefined =>
  /^acct_\w{1,100} (?:live|test)$/.test(text) ? text : undefined;

export function stripeFrom(env: Env): StripeSettings | null {
  const secretKey = secretEnv(env, "STRIPE_SECRET_KEY");
  const webhookSecret = secretEnv(env, "STRIPE_WEBHOOK_SECRET");
  const apiBase = read<string | null>(env, "STRIPE_API_BASE", null, "an http(s) URL", httpUrl);
  const named = "an account’s id and its mode (acct_… live)";
  const accountAgain = read<string | null>(env, "STRIPE_ACCOUNT_AGAIN", null, named, accountName);
  if (!secretKey && !webhookSecret) return null;
  if (!secretKey) throw new StartupError("STRIPE_SECRET_KEY must be set when STRIPE_WEBHOOK_SECRET is");
  if (!webhookSecret) throw new StartupError("STRIPE_WEBHOOK_SECRET must be set when STRIPE_SECRET_KEY is");
  if (webhookSecret.split(",").some((each) => each.trim() === ""))
    throw new StartupError("STRIPE_WEBHOOK_SECRET must be one secret, or several secrets with commas between them");
  return { secretKey, webhookSecret, apiBase, accountAgain };
}

// A URL with harmless characters only, because it becomes part of a page's Content-Security-Policy.
const policySource = (text: string): string | undefined => (/^[\w.~:/[\]-]+$/.test(text) ? httpUrl(text) : undefined);

export type RecaptchaSettings = { siteKey: string; secret: string; apiBase: string };

export function recaptchaFrom(env: Env): RecaptchaSettings | null {
  const siteKey = read<string | null>(env, "RECAPTCHA_SITE_KEY", null, "a site key", (text) =>
    /^[\w-]{1,100}$/.test(text) ? text : undefined,
  );
  const secret = secretEnv(env, "RECAPTCHA_SECRET");
  const google = "https://www.google.com/recaptcha";
  const apiBase = read(env, "RECAPTCHA_API_BASE", google, "an http(s) URL without query", policySource);
  if (!siteKey && !secret) return null;
  if (!siteKey) throw new StartupError("RECAPTCHA_SITE_KEY must be set when RECAPTCHA_SECRET is");
  if (!secret) throw new StartupError("RECAPTCHA_SECRET must be set when RECAPTCHA_SITE_KEY is");
  return { siteKey, secret, apiBase };
}

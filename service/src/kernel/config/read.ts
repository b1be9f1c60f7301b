import { StartupError } from "../platform/errors.ts";
import { parseRange } from "../platform/network.ts";
import { wholeNumberIn } from "../platform/text.ts";

/** Environment variables, as in `process.env`. */
export type Env = Readonly<Record<string, string | undefined>>;

// Variables whose values error messages must not quote. The value is a secret, may contain a password, or may be a key
// by mistake instead of the path to its file.
const hidden: ReadonlySet<string> = new Set([
  "DATABASE_URL",
  "DATABASE_LISTEN_URL",
  "REDIS_URL",
  "SMTP_URL",
  "SEAL_KEY",
  "SIGNER_CA_KEY",
  "LOG_KEY",
  "WITNESS_KEY",
  "SECRETS_KEY",
  "SECRETS_KEYS_OLD",
  "METRICS_TOKEN",
]);

/** True if a text may be a URL with a password. */
const mayHavePassword = (text: string): boolean => text.includes("://") && text.includes("@");

/** Reads a variable; empty counts as unset. `rule` completes the sentence "NAME must be ...". */
export function read<T>(env: Env, name: string, fallback: T, rule: string, parse: (text: string) => T | undefined): T {
  const text = env[name];
  if (text === undefined || text === "") return fallback;
  const value = parse(text);
  if (value !== undefined) return value;
  const isQuoted = !hidden.has(name) && !mayHavePassword(text);
  throw new StartupError(`${name} must be ${rule}${isQuoted ? `; it is '${text}'` : ""}`);
}

export function httpUrl(text: string): string | undefined {
  const url = URL.parse(text);
  return url && (url.protocol === "http:" || url.protocol === "https:") ? text.replace(/\/+$/, "") : undefined;
}

export const wholeNumber =
  (min: number, max: number) =>
  (text: string): number | undefined =>
    wholeNumberIn(text.replace(/^0+(?=\d)/, ""), min, max);

export function oneOf<const T extends string>(...choices: readonly T[]) {
  return (text: string): T | undefined => choices.find((choice) => choice === text);
}

export function withScheme(...schemes: string[]) {
  return (text: string): string | undefined => (schemes.some((scheme) => text.startsWith(scheme)) ? text : undefined);
}

export function listOf(item: (text: string) => string | undefined) {
  return (text: string): string[] | undefined => {
    const items = text.split(",").map((part) => item(part.trim()));
    return items.every((each) => each !== undefined) ? items : undefined;
  };
}

export const listOrOff = (text: string): string[] | undefined => (text === "off" ? [] : listOf(httpUrl)(text));

export const addressRange = (text: string): string | undefined => (parseRange(text) ? text : undefined);

export const secretEnv = (env: Env, name: string): string | null => env[name] || null;

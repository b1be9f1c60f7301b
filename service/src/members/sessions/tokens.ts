import { createHmac, hash } from "node:crypto";
import { parseCookie, stringifySetCookie } from "cookie";
import { base32, newSecret } from "../../platform/ids.ts";
import { deriveKey, type SecretBytes } from "../../platform/secrets.ts";
import { isSecret } from "../../platform/text.ts";

/** `__Host-` (RFC 6265bis, section 4.1.3.2): no subdomain and no plain http can set or overwrite them. */
export const cookieNames = {
  session: "__Host-session",
  operator: "__Host-operator",
  /** Of the browser that asked for a link. */
  signIn: "__Host-sign-in",
  /** Of a browser that has signed in before. */
  known: "__Host-known",
} as const;

export type CookieName = (typeof cookieNames)[keyof typeof cookieNames];

/** The value of a cookie of ours; undefined when it is missing or can't be one. */
export function cookieOf(header: string | undefined, name: CookieName): string | undefined {
  if (header === undefined || !header.includes(name)) return undefined;
  const value = parseCookie(header)[name];
  return value !== undefined && isSecret(value) ? value : undefined;
}

/** `Set-Cookie` of a new value. */
export const setCookie = (name: CookieName, value: string, maxAge: number): string =>
  stringifySetCookie({ name, value, maxAge, path: "/", secure: true, httpOnly: true, sameSite: "lax" });

/** `Set-Cookie` that makes the browser forget it. */
export const clearCookie = (name: CookieName): string => setCookie(name, "", 0);

/** 256 random bits; tables hold the hash alone. */
export const newToken = newSecret;

export const tokenSha256 = (token: string): Buffer => hash("sha256", token, "buffer");

/**
 * What a browser keeps that has signed in with an address: it opens nothing, but strangers cannot use up its share of links. No table
 * holds it.
 */
export function knownBrowserTokens(secrets: SecretBytes): (email: string) => string {
  const key = deriveKey(secrets, "known-browser");
  return (email) => base32(createHmac("sha256", key).update(email).digest());
}

/** The token in a sign-in link, 160 bits as 40 hex digits, made anew from the link's id. */
export function linkTokens(secrets: SecretBytes): (linkId: string) => string {
  const key = deriveKey(secrets, "sign-in-link");
  return (linkId) => createHmac("sha256", key).update(linkId).digest("hex").slice(0, 40);
}

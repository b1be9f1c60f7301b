import { createHmac, hash } from "node:crypto";
import { parseCookie, stringifySetCookie } from "cookie";
import { base32, newSecret } from "../../../kernel/platform/ids.ts";
import { derivedToken, deriveKey, keysOf, type SecretBytes } from "../../../kernel/platform/secrets.ts";
import { isCode, isSecret } from "../../../kernel/platform/text.ts";

/**
 * The prefix `__Host-` (RFC 6265bis, section 4.1.3.2) prevents a subdomain or plain http from setting or overwriting
 * the cookies.
 */
export const cookieNames = {
  session: "__Host-session",
  operator: "__Host-operator",
  /** The cookie that binds a link to the browser that requested it. */
  signIn: "__Host-sign-in",
  /** The cookie that marks a browser which has signed in before. */
  known: "__Host-known",
  /** The cookie with the token of the invitation that was opened in the browser. */
  invitation: "__Host-invitation",
} as const;

export type CookieName = (typeof cookieNames)[keyof typeof cookieNames];

/** The value of one of the service's cookies; undefined when it is missing or malformed. */
export function cookieOf(header: string | undefined, name: CookieName): string | undefined {
  if (header === undefined || !header.includes(name)) return undefined;
  const value = parseCookie(header)[name];
  return value !== undefined && (isSecret(value) || isCode(value)) ? value : undefined;
}

/** The `Set-Cookie` header for a new value. */
export const setCookie = (name: CookieName, value: string, maxAge: number): string =>
  stringifySetCookie({ name, value, maxAge, path: "/", secure: true, httpOnly: true, sameSite: "lax" });

/** The `Set-Cookie` header that deletes the cookie. */
export const clearCookie = (name: CookieName): string => setCookie(name, "", 0);

/** A new token: 256 random bits. Tables store only its hash. */
export const newToken = newSecret;

export const tokenSha256 = (token: string): Buffer => hash("sha256", token, "buffer");

/**
 * The token of a browser that has signed in with an address. It gives no access, but such browsers have a quota of
 * links of their own, which strangers can't use up. It is derived, so no table stores it.
 */
export function knownBrowserToken(secrets: SecretBytes, email: string): string {
  return base32(createHmac("sha256", deriveKey(secrets, "known-browser")).update(email).digest());
}

/** Whether a browser has the token of an address, made with any of the keys. */
export const isKnownBrowser = (secrets: SecretBytes, email: string, token: string): boolean =>
  keysOf(secrets).some((key) => tokenSha256(knownBrowserToken(key, email)).equals(tokenSha256(token)));

/** The token in a sign-in link: 160 bits as 40 hex digits, derived from the link's id. */
export const linkToken = (secrets: SecretBytes, linkId: string): string =>
  derivedToken(deriveKey(secrets, "sign-in-link"), linkId);

/** The token in an invitation's link: 160 bits as 40 hex digits, derived from the invitation's id. */
export const invitationToken = (secrets: SecretBytes, invitationId: string): string =>
  derivedToken(deriveKey(secrets, "invitation"), invitationId);

/** The token of an existing link, made with any of the keys; null when no key matches. */
const madeBefore =
  (make: typeof linkToken) =>
  (secrets: SecretBytes, id: string, sha256: Buffer): string | null =>
    keysOf(secrets)
      .map((key) => make(key, id))
      .find((token) => tokenSha256(token).equals(sha256)) ?? null;

export const linkTokenOf = madeBefore(linkToken);
export const invitationTokenOf = madeBefore(invitationToken);

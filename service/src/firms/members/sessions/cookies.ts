import { parseCookie, stringifySetCookie } from "cookie";
import { isCode, isSecret } from "../../../kernel/platform/text.ts";

/**
 * The prefix `__Host-` (RFC 6265bis, section 4.1.3.2) prevents a subdomain or plain http from setting or overwriting
 * the cookies.
 */
export const cookieNames = {
  session: "__Host-session",
  operator: "__Host-operator",
  /** The cookie that binds a sign-in link to the browser that requested it. */
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

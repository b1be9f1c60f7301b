import { parseCookie, stringifySetCookie } from "cookie";

/** The pages on a member's device that signers use one after another. */
export const sittingPath = "/in-person";

const name = "sitting";

/**
 * `Set-Cookie` for a member's device that signers use one after another. Browsers do not send the cookie to the
 * signers' pages. @param secure true if the pages are https
 */
export const sittingCookie = (token: string, expiresAt: Date, secure: boolean): string =>
  stringifySetCookie({
    name,
    value: token,
    expires: expiresAt,
    path: sittingPath,
    secure,
    httpOnly: true,
    sameSite: "strict",
  });

/** The token in a `Cookie` header; empty without one. */
export const sittingTokenOf = (cookies: string | undefined): string =>
  (cookies === undefined ? {} : parseCookie(cookies))[name] ?? "";

import { parseCookie, stringifySetCookie } from "cookie";

/** The path of the pages for signing in person: signers sign one after another on a member's device. */
export const sittingPath = "/in-person";

const name = "sitting";

/**
 * `Set-Cookie` for signing in person on a member's device (sittings). Browsers do not send this cookie to the pages
 * where a signer signs.
 * @param secure true if the pages are https
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

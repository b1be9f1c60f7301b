import { parseCookie, stringifySetCookie } from "cookie";
import type { Language, Link } from "../../envelopes/envelopes.ts";
import { isLanguage } from "../ui/words/reader.ts";

const name = "signer";
const languageName = "signing_language";
const longest = 200;

/** A link with the session that a code gave in this browser, and the language that was chosen in it. */
export function linkOf(token: string, cookies: string | undefined): Link {
  const { [name]: session, [languageName]: language } = cookies === undefined ? {} : parseCookie(cookies);
  return {
    token,
    session: session !== undefined && session.length <= longest ? session : null,
    language: isLanguage(language) ? language : null,
  };
}

const days = 30 * 24 * 3600;

/** `Set-Cookie` of the language of a link's pages: a stranger who has the link changes nobody else's. */
export const languageCookie = (token: string, language: Language, secure: boolean): string =>
  stringifySetCookie({
    name: languageName,
    value: language,
    maxAge: days,
    path: `/sign/${token}`,
    secure,
    httpOnly: true,
    sameSite: "lax",
  });

/** `Set-Cookie` of a session, for the pages of its link alone. @param secure whether the pages are https */
export const sessionCookie = (
  token: string,
  { session, expiresAt }: { session: string; expiresAt: Date },
  secure: boolean,
): string =>
  stringifySetCookie({
    name,
    value: session,
    expires: expiresAt,
    path: `/sign/${token}`,
    secure,
    httpOnly: true,
    sameSite: "lax",
  });

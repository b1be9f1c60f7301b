import { parseCookie, stringifySetCookie } from "cookie";
import type { Language } from "../../kernel/platform/languages.ts";
import { isLanguage } from "../../kernel/platform/languages.ts";
import type { Link } from "../../signing/envelopes/envelopes.ts";

const name = "signer";
const languageName = "signing_language";
const maxLength = 200;

/** The parts of a URL below `/sign/`. `document` is set when the link opens several documents. */
export type SignParams = { readonly token: string; readonly document?: string };

/** The two URL patterns of a signer's link: without a document's number, and with one. */
export const signUrls = <Rest extends string>(rest: Rest) =>
  [`/sign/:token${rest}`, `/sign/:token/:document(^\\d{1,3}$)${rest}`] as unknown as readonly `/sign/:token${Rest}`[];

/** The part after `/sign/` in a link's URLs. */
export const pathOf = ({ token, document }: Pick<Link, "token" | "document">): string =>
  document ? `${token}/${document}` : token;

/** The link, with the session and the language from this browser's cookies. */
export function linkOf({ token, document }: SignParams, cookies: string | undefined): Link {
  const { [name]: session, [languageName]: language } = cookies === undefined ? {} : parseCookie(cookies);
  return {
    token,
    document: document === undefined ? null : Number(document),
    session: session !== undefined && session.length <= maxLength ? session : null,
    language: isLanguage(language) ? language : null,
  };
}

const days = 30 * 24 * 3600;

/**
 * `Set-Cookie` for the language. It applies to one browser, so a stranger with the link can't change the signer's
 * language.
 */
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

/**
 * `Set-Cookie` for the session of a signer who entered a code or used an entry link. Browsers send the cookie only to
 * the pages of this link.
 * @param secure true if the pages are https
 */
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

import { parseCookie, stringifySetCookie } from "cookie";
import type { Link } from "../../envelopes/envelopes.ts";

const name = "signer";
const longest = 200;

/** A link with the session that a code gave in this browser. */
export function linkOf(token: string, cookies: string | undefined): Link {
  const session = cookies === undefined ? undefined : parseCookie(cookies)[name];
  return { token, session: session !== undefined && session.length <= longest ? session : null };
}

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

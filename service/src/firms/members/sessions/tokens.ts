import { createHmac } from "node:crypto";
import { base32, newSecret } from "../../../kernel/platform/ids.ts";
import {
  derivedToken,
  deriveKey,
  keysOf,
  type SecretBytes,
  tokenOfHash,
  tokenSha256,
} from "../../../kernel/platform/secrets.ts";

/** A new token: 256 random bits. Tables store only its hash. */
export const newToken = newSecret;

/**
 * The token of a browser that has signed in with an email address. The token grants no access. Sign-in links for such
 * browsers have a quota of their own, which strangers can't use up. The token is derived from the address, so no table
 * stores it.
 */
export function rememberedBrowserToken(secrets: SecretBytes, email: string): string {
  return base32(createHmac("sha256", deriveKey(secrets, "known-browser")).update(email).digest());
}

/** True if the token is the one for this email address, derived from SECRETS_KEY or one of SECRETS_KEYS_OLD. */
export const isRememberedBrowser = (secrets: SecretBytes, email: string, token: string): boolean =>
  keysOf(secrets).some((key) => tokenSha256(rememberedBrowserToken(key, email)).equals(tokenSha256(token)));

/** The token in a sign-in link: 160 bits as 40 hex digits, derived from the link's id. */
export const linkToken = (secrets: SecretBytes, linkId: string): string =>
  derivedToken(deriveKey(secrets, "sign-in-link"), linkId);

/** The token in an invitation's link: 160 bits as 40 hex digits, derived from the invitation's id. */
export const invitationToken = (secrets: SecretBytes, invitationId: string): string =>
  derivedToken(deriveKey(secrets, "invitation"), invitationId);

/**
 * Returns a function that computes the token of an existing link from its id. It tries SECRETS_KEY and
 * SECRETS_KEYS_OLD, and returns null when no key gives the stored hash.
 */
const matchingToken =
  (make: typeof linkToken) =>
  (secrets: SecretBytes, id: string, sha256: Buffer): string | null =>
    tokenOfHash(secrets, sha256, (key) => make(key, id)) ?? null;

export const linkTokenOf = matchingToken(linkToken);
export const invitationTokenOf = matchingToken(invitationToken);

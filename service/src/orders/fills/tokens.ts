import { timingSafeEqual } from "node:crypto";
import { derivedToken, deriveKey, keysOf, type SecretBytes } from "../../kernel/platform/secrets.ts";
import { isCode } from "../../kernel/platform/text.ts";

// Both are derived from the fill's id, so that no table stores a token and its firm can see it again.

const under = (key: SecretBytes, use: "link" | "token", id: string): string =>
  derivedToken(deriveKey(key, `fill ${use}`), id);

/** The credential in a fill's link. Links that were made before a rotation work while their key is kept. */
export const linkToken = (secrets: SecretBytes, id: string): string => under(secrets, "link", id);

export const isLinkToken = (secrets: SecretBytes, id: string, token: string): boolean =>
  isCode(token) &&
  keysOf(secrets).some((key) => timingSafeEqual(Buffer.from(under(key, "link", id)), Buffer.from(token)));

/** The token of a fill under each key that is kept, with the current key first. */
export const fillTokensOf = (secrets: SecretBytes, id: string): string[] =>
  keysOf(secrets).map((key) => under(key, "token", id));

import { timingSafeEqual } from "node:crypto";
import { derivedToken, deriveKey, keysOf, type SecretBytes } from "../../kernel/platform/secrets.ts";
import { isCode } from "../../kernel/platform/text.ts";

// Both tokens are derived from the fill's id, so that no table stores them and the firm can see them again.

const under = (key: SecretBytes, use: "link" | "token", id: string): string =>
  derivedToken(deriveKey(key, `fill ${use}`), id);

/** The credential in a fill's link. A link from before a key rotation works as long as its key is configured. */
export const linkToken = (secrets: SecretBytes, id: string): string => under(secrets, "link", id);

export const isLinkToken = (secrets: SecretBytes, id: string, token: string): boolean =>
  isCode(token) &&
  keysOf(secrets).some((key) => timingSafeEqual(Buffer.from(under(key, "link", id)), Buffer.from(token)));

/** The tokens of a fill, one for each configured key, the current key's first. */
export const fillTokensOf = (secrets: SecretBytes, id: string): string[] =>
  keysOf(secrets).map((key) => under(key, "token", id));

import { timingSafeEqual } from "node:crypto";
import { derivedToken, deriveKey, keysOf, type SecretBytes } from "../../kernel/platform/secrets.ts";
import { isCode } from "../../kernel/platform/text.ts";

// Derives a fill's two tokens from its id: one for the link, one for the document. So no table stores them, and the
// service can still show both to the firm again.

const under = (key: SecretBytes, use: "link" | "token", id: string): string =>
  derivedToken(deriveKey(key, `fill ${use}`), id);

/**
 * The credential in a fill's link. After a key rotation, earlier links work as long as the earlier key is configured.
 */
export const linkToken = (secrets: SecretBytes, id: string): string => under(secrets, "link", id);

export const isLinkToken = (secrets: SecretBytes, id: string, token: string): boolean =>
  isCode(token) &&
  keysOf(secrets).some((key) => timingSafeEqual(Buffer.from(under(key, "link", id)), Buffer.from(token)));

/** The tokens for a fill's document: one for each configured key, the current key's first. */
export const fillTokensOf = (secrets: SecretBytes, id: string): string[] =>
  keysOf(secrets).map((key) => under(key, "token", id));

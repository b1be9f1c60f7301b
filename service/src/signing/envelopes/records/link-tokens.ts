import { hash } from "node:crypto";
import { derivedToken, deriveKey, keysOf, type SecretBytes } from "../../../kernel/platform/secrets.ts";

export const tokenSha256 = (token: string): Buffer => hash("sha256", token, "buffer");

/** The token of a signing link, 160 bits as 40 hex digits, recomputed from the link's id. */
export const signingToken = (secrets: SecretBytes, linkId: string): string =>
  derivedToken(deriveKey(secrets, "signing-link"), linkId);

/** The token of a link that was made before, under whichever key it was; null when none of them made it. */
export const signingTokenOf = (secrets: SecretBytes, linkId: string, sha256: Buffer): string | null =>
  keysOf(secrets)
    .map((key) => signingToken(key, linkId))
    .find((token) => tokenSha256(token).equals(sha256)) ?? null;

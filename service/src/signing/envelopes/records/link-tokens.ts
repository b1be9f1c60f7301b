import { derivedToken, deriveKey, type SecretBytes, tokenOfHash } from "../../../kernel/platform/secrets.ts";

/** The token of a signing link: 160 bits as 40 hex digits, derived from the link's id. */
const signingToken = (secrets: SecretBytes, linkId: string): string =>
  derivedToken(deriveKey(secrets, "signing-link"), linkId);

/** The links that lead signers to their documents. */
export type SigningLinks = {
  tokenOf: (linkId: string) => string;
  /** The URL of an existing link; null when no current or previous secret derives its token. */
  urlOf: (linkId: string, sha256: Buffer) => string | null;
};

export const signingLinks = (secrets: SecretBytes, baseUrl: string): SigningLinks => ({
  tokenOf: (linkId) => signingToken(secrets, linkId),
  urlOf(linkId, sha256) {
    const token = signingTokenOf(secrets, linkId, sha256);
    return token && `${baseUrl}/sign/${token}`;
  },
});

/** The token of an existing link, derived with the secret that matches the stored hash; null when none matches. */
export const signingTokenOf = (secrets: SecretBytes, linkId: string, sha256: Buffer): string | null =>
  tokenOfHash(secrets, sha256, (key) => signingToken(key, linkId)) ?? null;

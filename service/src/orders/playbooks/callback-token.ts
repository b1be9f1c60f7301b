import { derivedToken, deriveKey, keysOf, type SecretBytes, tokenSha256 } from "../../kernel/platform/secrets.ts";

/**
 * The callbacks that end executions. A callback's token is derived from the execution's id whenever it is needed, so no
 * table stores it.
 */
export type Callbacks = {
  /** The token of a new execution: 160 bits as 40 hex digits. */
  tokenOf: (executionId: string) => string;
  /** The token with this hash, derived with any of the configured keys; null when its key is no longer configured. */
  tokenOfHash: (executionId: string, sha256: Buffer) => string | null;
};

export function createCallbacks(secrets: SecretBytes): Callbacks {
  const keys = keysOf(secrets).map((one) => deriveKey(one, "playbook-callback"));
  return {
    tokenOf: (id) => derivedToken(deriveKey(secrets, "playbook-callback"), id),
    tokenOfHash: (id, sha256) =>
      keys.map((key) => derivedToken(key, id)).find((token) => tokenSha256(token).equals(sha256)) ?? null,
  };
}

export const callbackPath = (token: string): string => `/internal/playbooks/${token}`;

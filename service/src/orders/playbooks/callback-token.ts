import { hash } from "node:crypto";
import { derivedToken, deriveKey, keysOf, type SecretBytes } from "../platform/secrets.ts";

/** The callback of an execution. Its token is derived from the execution's id whenever it is shown; no table holds it. */
export type Callbacks = {
  /** 160 bits as 40 hex digits: of a new execution. */
  tokenOf: (executionId: string) => string;
  /** Of one that was started under whichever key; null when none of them is there. */
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

export const tokenSha256 = (token: string): Buffer => hash("sha256", token, "buffer");

export const callbackPath = (token: string): string => `/internal/playbooks/${token}`;

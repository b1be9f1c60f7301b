import { createHmac, hash } from "node:crypto";
import { deriveKey, type SecretBytes } from "../platform/secrets.ts";

/** The callback of an execution. Its token is derived from the execution's id whenever it is shown; no table holds it. */
export type Callbacks = {
  /** 160 bits as 40 hex digits. */
  tokenOf: (executionId: string) => string;
};

export function createCallbacks(secrets: SecretBytes): Callbacks {
  const key = deriveKey(secrets, "playbook-callback");
  return { tokenOf: (id) => createHmac("sha256", key).update(id).digest("hex").slice(0, 40) };
}

export const tokenSha256 = (token: string): Buffer => hash("sha256", token, "buffer");

export const callbackPath = (token: string): string => `/internal/playbooks/${token}`;

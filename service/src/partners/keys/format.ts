import { hash } from "node:crypto";
import type { Environment } from "../../identity/identity.ts";
import { newSecret } from "../../platform/ids.ts";
import type { Members } from "../../platform/row-mac.ts";

/** What a key begins with; it names the key's environment. */
export const keyPrefixes = { live: "svc_pk_", test: "svc_pk_test_" } as const;

const bearer = /^Bearer +(svc_pk_(?:test_)?[a-z2-7]{52})$/i;

/** A new key of 256 random bits (contract, Authentication 1). It is shown once; the tables hold its hash. */
export const newKey = (environment: Environment): string => keyPrefixes[environment] + newSecret();

/** What a key opens, as its row's MAC says it. */
export type KeyFacts = {
  keyId: string;
  partnerId: string;
  environment: Environment;
  sha256: Buffer;
  scopes: readonly string[] | null;
  expiresAt: Date | null;
};

export const keyTable = "partner_keys";

export const keyMembers = ({ keyId, partnerId, environment, sha256, scopes, expiresAt }: KeyFacts): Members => ({
  keyId,
  partnerId,
  environment,
  sha256: sha256.toString("hex"),
  scopes: scopes?.join() ?? null,
  expiresAt,
});

export const keySha256 = (key: string): Buffer => hash("sha256", key, "buffer");

/** The key of an `Authorization` header; undefined for any other header. */
export const bearerKey = (authorization: string | undefined): string | undefined =>
  bearer.exec(authorization ?? "")?.[1];

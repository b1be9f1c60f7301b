import { hash } from "node:crypto";
import type { Environment } from "../../identity/identity.ts";
import { newSecret } from "../../platform/ids.ts";

/** What a key begins with; it names the key's environment. */
export const keyPrefixes = { live: "svc_pk_", test: "svc_pk_test_" } as const;

const bearer = /^Bearer +(svc_pk_(?:test_)?[a-z2-7]{52})$/i;

/** A new key of 256 random bits (contract, Authentication 1). It is shown once; the tables hold its hash. */
export const newKey = (environment: Environment): string => keyPrefixes[environment] + newSecret();

export const keySha256 = (key: string): Buffer => hash("sha256", key, "buffer");

/** The key of an `Authorization` header; undefined for any other header. */
export const bearerKey = (authorization: string | undefined): string | undefined =>
  bearer.exec(authorization ?? "")?.[1];

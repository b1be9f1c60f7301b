import { hash } from "node:crypto";
import type { Environment } from "../../../kernel/identity/identity.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { newSecret } from "../../../kernel/platform/ids.ts";
import type { MacTable } from "../../../kernel/platform/protected-data.ts";
import type { Members } from "../../../kernel/platform/row-mac.ts";

/** The prefixes of keys. A key's prefix names its environment. */
export const keyPrefixes = { live: "svc_pk_", test: "svc_pk_test_" } as const;

const bearer = /^Bearer +(svc_pk_(?:test_)?[a-z2-7]{52})$/i;

/** Creates a key of 256 random bits (contract, Authentication 1). It is shown once; tables store its hash. */
export const newKey = (environment: Environment): string => keyPrefixes[environment] + newSecret();

/** The facts of a key that its row's MAC covers. */
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

/** The rows of keys, and the fields that their MACs cover. The row of a revoked key has no MAC. */
export const keyRows: MacTable<KeyFacts> = {
  table: sql`partner_keys`,
  key: sql`id`,
  mac: sql`row_mac`,
  rows: sql`
SELECT id AS key, id AS "keyId", partner_id AS "partnerId", environment, key_sha256 AS sha256, scopes,
  expires_at AS "expiresAt", row_mac AS mac FROM partner_keys`,
  members: keyMembers,
};

export const keySha256 = (key: string): Buffer => hash("sha256", key, "buffer");

/** The key in an `Authorization` header; undefined when the header has any other form. */
export const bearerKey = (authorization: string | undefined): string | undefined =>
  bearer.exec(authorization ?? "")?.[1];

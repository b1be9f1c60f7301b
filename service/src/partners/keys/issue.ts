import type { Environment, Scope } from "../../identity/identity.ts";
import type { Tx } from "../../platform/database/database.ts";
import { newUuid } from "../../platform/ids.ts";
import type { RowMac } from "../../platform/row-mac.ts";
import { auditPartner, type ChangedBy } from "../audit.ts";
import { keyMembers, keySha256, keyTable, newKey } from "./format.ts";
import { insertKey } from "./store.ts";

/** A key that was just issued; its text is here and nowhere else. */
export type IssuedKey = { keyId: string; key: string; environment: Environment };

export type KeyToIssue = {
  partnerId: string;
  environment: Environment;
  name?: string | null;
  /** Null for a key without restrictions. */
  scopes?: readonly Scope[] | null;
  expiresAt?: Date | null;
  /** The member who issues it. */
  issuedBy?: string | null;
  /** The key that it takes the place of. */
  replaces?: string | null;
};

/** Issues a key inside a transaction. */
export async function addKey(tx: Tx, rowMac: RowMac, wanted: KeyToIssue, by: ChangedBy): Promise<IssuedKey> {
  const { partnerId, environment, name = null, scopes = null, expiresAt = null } = wanted;
  const { issuedBy = null, replaces = null } = wanted;
  const key = newKey(environment);
  const facts = { keyId: newUuid(), partnerId, environment, sha256: keySha256(key), scopes, expiresAt };
  const mac = rowMac.of(keyTable, keyMembers(facts));
  await insertKey(tx, { ...facts, name, last4: key.slice(-4), issuedBy, replaces, mac });
  const detail = { keyId: facts.keyId, environment, ...(name && { name }), ...(scopes && { scopes }) };
  const until = expiresAt && { expiresAt: expiresAt.toISOString() };
  await auditPartner(tx, by, "key.issued", partnerId, { ...detail, ...until, ...(replaces && { replaces }) });
  return { keyId: facts.keyId, key, environment };
}

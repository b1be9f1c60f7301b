import type { Environment } from "../../identity/identity.ts";
import type { Tx } from "../../platform/database/database.ts";
import { newUuid } from "../../platform/ids.ts";
import { auditPartner, type ChangedBy } from "../audit.ts";
import { keySha256, newKey } from "./format.ts";
import { insertKey } from "./store.ts";

/** A key that was just issued; its text is here and nowhere else. */
export type IssuedKey = { keyId: string; key: string; environment: Environment };

/** Issues a key inside a transaction. */
export async function addKey(tx: Tx, partnerId: string, environment: Environment, by: ChangedBy): Promise<IssuedKey> {
  const key = newKey(environment);
  const keyId = newUuid();
  await insertKey(tx, { id: keyId, partnerId, environment, sha256: keySha256(key), last4: key.slice(-4) });
  await auditPartner(tx, by, "key.issued", partnerId, { keyId, environment });
  return { keyId, key, environment };
}

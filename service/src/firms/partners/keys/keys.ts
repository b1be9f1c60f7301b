import type { Environment, Scope } from "../../../kernel/identity/identity.ts";
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import { requireUuid } from "../../../kernel/platform/text.ts";
import type { KeyDeps } from "../audit.ts";
import { requirePartner } from "../firms.ts";
import { updatePartner } from "../store.ts";
import { addKey, type IssuedKey } from "./issue.ts";
import { type RotatedKey, rotateUnderLock } from "./rotate.ts";
import * as store from "./store.ts";

/** Options of a key that the operator issues. `actor` is for the audit log. */
export type KeyOptions = {
  actor: string;
  name?: string;
  scopes?: readonly Scope[];
  expiresAt?: Date;
  also?: KeyWork;
};

/** Further work about a key of a firm, for the transaction that issues or rotates the key. */
type KeyWork = (tx: Tx, key: { keyId: string; partnerId: string }) => Promise<void>;

/**
 * Issues a key on behalf of the operator. Issuing a live key also gives the firm live access.
 * @throws ServiceError for an unknown partner
 */
export async function issueKey(
  { db, clock, rowMac }: KeyDeps,
  partnerId: string,
  environment: Environment,
  { actor, also, ...options }: KeyOptions = { actor: "operator" },
): Promise<IssuedKey> {
  requireUuid("PARTNER_ID", partnerId);
  return db.transaction(async (tx) => {
    const partner = await updatePartner(tx, partnerId, environment === "live" ? { live: true } : {});
    if (!partner) throw new ServiceError("not_found", "No such partner.");
    const issued = await addKey(tx, rowMac, { partnerId, environment, ...options }, { at: clock(), actor });
    await also?.(tx, { keyId: issued.keyId, partnerId });
    return issued;
  });
}

/** Rotates a key on behalf of the operator. @throws ServiceError for an unknown, inactive, replaced or altered key */
export const rotateKey = (
  { db, clock, rowMac }: KeyDeps,
  keyId: string,
  overlap: number,
  also?: KeyWork,
): Promise<RotatedKey> =>
  db.transaction(async (tx) => {
    const partnerId = await lockFirmOfKey({ db: tx }, keyId);
    const key = await store.selectKey(tx, keyId);
    if (!key) throw new ServiceError("not_found", "No such key.");
    const rotated = await rotateUnderLock(tx, rowMac, { key, overlap }, { at: clock(), actor: "operator" });
    await also?.(tx, { keyId, partnerId });
    return rotated;
  });

/**
 * All keys of a firm, oldest first, also those that have ended.
 * @throws ServiceError for an unknown partner
 */
export async function listKeys({ db }: { db: Sql }, partnerId: string) {
  await requirePartner({ db }, partnerId);
  return store.selectKeys(db, partnerId);
}

/**
 * Locks the firm of a key against new members and subscriptions until the transaction ends.
 * @throws ServiceError for an unknown key
 */
export async function lockFirmOfKey({ db }: { db: Tx }, keyId: string): Promise<string> {
  const partnerId = await store.lockFirmOfKey(db, requireUuid("KEY_ID", keyId));
  if (partnerId === undefined) throw new ServiceError("not_found", "No such key.");
  return partnerId;
}

/** Revokes a key. Every node refuses the next request with it. @throws ServiceError for an unknown key */
export async function revokeKey(
  { db, clock, rowMac }: { db: Sql; clock: Clock; rowMac: RowMac },
  keyId: string,
  actor = "operator",
) {
  const key = await store.revokeKey(db, rowMac, requireUuid("KEY_ID", keyId), { at: clock(), actor });
  if (!key) throw new ServiceError("not_found", "No such key.");
  return key;
}

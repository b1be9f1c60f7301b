import { hourMs } from "../../../kernel/platform/clock.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import { auditPartner, type ChangedBy } from "../audit.ts";
import { keyMembers, keyTable } from "./format.ts";
import { addKey, type IssuedKey } from "./issue.ts";
import * as store from "./store.ts";

/** A replacement key, and when the replaced key stops working. */
export type RotatedKey = IssuedKey & { previousKeyId: string; previousExpiresAt: Date };

/**
 * Replaces an active key. The old key keeps working for the overlap, unless it expires earlier; without an overlap, it
 * stops at once. The new key has the same name, scopes and lifetime. The caller must have locked the firm.
 * @throws ServiceError for a key that is inactive, already replaced or altered
 */
export async function rotateUnderLock(
  tx: Tx,
  rowMac: RowMac,
  { key, overlap, issuedBy = null }: { key: store.KeyRow; overlap: number; issuedBy?: string | null },
  by: ChangedBy,
): Promise<RotatedKey> {
  const { keyId, partnerId, environment, name, scopes, expiresAt, createdAt } = key;
  requireRotatable(rowMac, key, by.at);
  const lastsMs = expiresAt && expiresAt.getTime() - createdAt.getTime();
  const newExpiry = lastsMs === null ? null : new Date(by.at.getTime() + lastsMs);
  const wanted = { partnerId, environment, name, scopes, expiresAt: newExpiry, issuedBy, replaces: keyId };
  const issued = await addKey(tx, rowMac, wanted, by);
  const end = new Date(by.at.getTime() + overlap * hourMs);
  const previousExpiresAt = expiresAt && expiresAt < end ? expiresAt : end;
  if (overlap === 0) await store.revokeKey(tx, rowMac, keyId, by);
  else {
    const mac = rowMac.of(keyTable, keyMembers({ ...key, expiresAt: previousExpiresAt }));
    await store.updateExpiry(tx, rowMac, { keyId, expiresAt: previousExpiresAt, mac });
  }
  const detail = { keyId, newKeyId: issued.keyId, previousExpiresAt: previousExpiresAt.toISOString() };
  await auditPartner(tx, by, "key.rotated", partnerId, detail);
  return { ...issued, previousKeyId: keyId, previousExpiresAt };
}

/**
 * Requires a key that is active, was not replaced before, and has a valid MAC. The MAC is checked because the rotation
 * may write a new one, which would make an altered row authentic.
 */
function requireRotatable(rowMac: RowMac, key: store.KeyRow, now: Date): void {
  const conflict = (message: string) => new ServiceError("conflict", message);
  if (key.revokedAt) throw conflict("This key is revoked. Issue a new one instead.");
  if (key.isReplaced) throw conflict("This key was rotated before. Rotate the key that took its place.");
  if (key.expiresAt && key.expiresAt <= now) throw conflict("This key has expired. Issue a new one instead.");
  if (!rowMac.holds(keyTable, keyMembers(key), key.mac))
    throw conflict("The record of this key was altered. Revoke it, and issue a new one.");
}

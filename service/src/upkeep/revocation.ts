import { endMembersOfKey, mailOwnersOfKey, membersOfKey } from "../firms/members/members.ts";
import { type ByOperator, lockFirmOfKey, revokeKey, selectKey } from "../firms/partners/partners.ts";
import type { Clock } from "../kernel/platform/clock.ts";
import type { Database } from "../kernel/platform/database/database.ts";
import type { RowMac } from "../kernel/platform/row-mac.ts";
import { disableWebhook, webhooksCreatedByKey } from "../outgoing/webhooks/webhooks.ts";

/**
 * Revokes a key, and finds the objects that were created with it and outlive it: webhooks, and memberships with their
 * sessions. Mails all owners of the firm, unless the key was revoked before. Locks the firm. So a concurrent request
 * with the key is refused, or the object that it creates is found.
 * @param all true to end these objects as well: webhooks permanently, memberships, and all sessions of their holders
 * @throws ServiceError for an unknown key
 */
export const revokeWithCreated = (
  { db, clock, rowMac }: { db: Database; clock: Clock; rowMac: RowMac },
  keyId: string,
  all: boolean,
  { actor, also }: ByOperator = { actor: "operator" },
) =>
  db.transaction(async (tx) => {
    const deps = { db: tx, clock, rowMac };
    const partnerId = await lockFirmOfKey(deps, keyId);
    const wasRevoked = (await selectKey(tx, keyId))?.revokedAt !== null;
    const key = await revokeKey(deps, keyId, actor);
    if (!wasRevoked) {
      await also?.(tx);
      await mailOwnersOfKey(tx, { partnerId, keyId, userId: null, what: "revoked", at: clock() });
    }
    const webhooks = await webhooksCreatedByKey(deps, partnerId, keyId);
    const members = await membersOfKey(deps, keyId);
    if (all) {
      for (const { webhookId } of webhooks) await disableWebhook(deps, webhookId);
      await endMembersOfKey(deps, partnerId, members);
    }
    return { ...key, webhooks, members, ended: all };
  });

import { endMembersOfKey, membersOfKey } from "./members/members.ts";
import { lockFirmOfKey, revokeKey } from "./partners/partners.ts";
import type { Clock } from "./platform/clock.ts";
import type { Database } from "./platform/database/database.ts";
import type { RowMac } from "./platform/row-mac.ts";
import { disableWebhook, webhooksMadeByKey } from "./webhooks/webhooks.ts";

/**
 * Revokes a key, and finds what was made with it and outlives it: webhooks, and memberships with their sessions. The firm is locked, so
 * that whoever is linking or subscribing with the key at this moment is either found or refused.
 * @param all ends what was found, too: webhooks for good, memberships, and every session of their holders
 * @param actor who, for the audit log
 * @throws ServiceError for an unknown key
 */
export const revokeWithWhatItMade = (
  { db, clock, rowMac }: { db: Database; clock: Clock; rowMac: RowMac },
  keyId: string,
  all: boolean,
  actor = "operator",
) =>
  db.transaction(async (tx) => {
    const deps = { db: tx, clock, rowMac };
    const partnerId = await lockFirmOfKey(deps, keyId);
    const key = await revokeKey(deps, keyId, actor);
    const webhooks = await webhooksMadeByKey(deps, partnerId, keyId);
    const members = await membersOfKey(deps, keyId);
    if (all) {
      for (const { webhookId } of webhooks) await disableWebhook(deps, webhookId);
      await endMembersOfKey(deps, partnerId, members);
    }
    return { ...key, webhooks, members, ended: all };
  });

import type { Clock } from "../../platform/clock.ts";
import type { Sql } from "../../platform/database/database.ts";
import { requireUuid } from "../../platform/text.ts";
import { endAnySubscription, type MadeWebhook, selectMadeByKey, selectOfPartner } from "./store.ts";
import { webhookNotFound } from "./subscriptions.ts";

export type { MadeWebhook } from "./store.ts";

/** The subscriptions of a firm in both environments, newest first. */
export const webhooksOfPartner = ({ db }: { db: Sql }, partnerId: string): Promise<MadeWebhook[]> =>
  selectOfPartner(db, partnerId);

/** The subscriptions that are still there and were made with a key, or by somebody who linked with it. */
export const webhooksMadeByKey = ({ db }: { db: Sql }, partnerId: string, keyId: string): Promise<MadeWebhook[]> =>
  selectMadeByKey(db, partnerId, keyId);

/** Ends a subscription for good and forgets its secrets. @throws ServiceError for an unknown or ended one. */
export async function disableWebhook({ db, clock }: { db: Sql; clock: Clock }, webhookId: string) {
  const ended = await endAnySubscription(db, requireUuid("WEBHOOK_ID", webhookId), clock());
  if (!ended) throw webhookNotFound();
  return { webhookId, ...ended, disabled: true as const };
}

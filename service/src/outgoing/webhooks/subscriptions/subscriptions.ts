import { type Clock, dayMs } from "../../../kernel/platform/clock.ts";
import type { Database, Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { isUuid, requireUuid } from "../../../kernel/platform/text.ts";
import {
  type Change,
  endAnySubscription,
  endSubscription,
  insertSecret,
  insertSubscription,
  isStillAllowed,
  lockAndRead,
  lockSubscription,
  retireSecret,
  type Subscription,
  type SubscriptionRecord,
  selectCreatedByKey,
  selectOfPartner,
  selectSubscription,
  selectSubscriptions,
} from "./store.ts";

export type { SubscriptionRecord } from "./store.ts";

import { actorOf, type Owner, type Principal } from "../../../kernel/identity/identity.ts";
import type { ColumnCipher } from "../../../kernel/platform/column-cipher.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import { requireProof } from "../../../kernel/platform/recent-proof.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import type { CreatedWebhook, RotatedSecret, Webhook } from "../schemas.ts";
import { newSigningSecret, secretHash, signatureHeader } from "../signing.ts";
import { standardSecret } from "../standard-signature.ts";
import { isSameUrl } from "./fields.ts";

export type SubscriptionDeps = { db: Database; clock: Clock; rowMac: RowMac; secretCipher: ColumnCipher };

const maxSubscriptions = 100;
const overlapMs = dayMs;
// At most this many replaced secrets still sign. A receiver needs an older one only if secrets are rotated more often
// than the receiver is updated. More secrets would only lengthen the header.
const maxPreviousSecrets = 4;

export const webhookNotFound = (): ServiceError => new ServiceError("not_found", "No such webhook.");

function changeOf({ clock }: SubscriptionDeps, principal: Principal, id: string): Change {
  const { partnerId, environment } = principal;
  return { id, partnerId, environment, at: clock(), actor: actorOf(principal) };
}

const subscriptionView = ({ id, url, topics, active, createdAt }: Subscription): Webhook => ({
  id,
  url,
  topics,
  active,
  createdAt: createdAt.toISOString(),
});

/**
 * True if the caller may create, rotate and delete subscriptions. Live subscriptions require an API key, or an owner
 * with live access.
 */
export const mayChangeSubscriptions = ({ environment, member }: Principal): boolean =>
  environment === "test" || !member || (member.role === "owner" && member.liveAccess);

/** The caller's subscriptions, newest first (contract, Webhook subscription). */
export async function listSubscriptions({ db }: SubscriptionDeps, owner: Owner): Promise<Webhook[]> {
  return (await selectSubscriptions(db, owner)).map(subscriptionView);
}

/**
 * One of the owner's webhooks, as the API shows it.
 * @throws ServiceError for an unknown subscription
 */
export async function oneSubscription({ db }: SubscriptionDeps, owner: Owner, id: string): Promise<Webhook> {
  const row = isUuid(id) ? await selectSubscription(db, id, owner) : undefined;
  if (!row) throw webhookNotFound();
  return subscriptionView(row);
}

/**
 * Creates a subscription. Only this result contains the secret.
 * @throws ServiceError for a caller who may not change the firm's webhooks or has no recent proof. Also when the URL
 * has an active subscription in this environment, or there are too many
 */
export async function subscribe(
  deps: SubscriptionDeps,
  principal: Principal,
  url: string,
  topics: string[],
): Promise<CreatedWebhook> {
  const secret = newSigningSecret();
  const change = changeOf(deps, principal, newUuid());
  const hash = deps.secretCipher.encrypt(secretHash(secret), change.id);
  await deps.db.transaction(async (tx) => {
    const present = await lockAndRead(tx, principal);
    await requireStillAllowed(tx, principal, change.at);
    requireProof(principal, change.at);
    if (present.some((other) => other.active && isSameUrl(other.url, url)))
      throw invalid("This URL already has an active webhook.");
    if (present.length >= maxSubscriptions) throw invalid(`A partner holds at most ${maxSubscriptions} webhooks.`);
    await insertSubscription(tx, deps.rowMac, { ...change, url, topics, hash });
  });
  return { id: change.id, secret, url, topics, ...formsOf(secret) };
}

const formsOf = (secret: string) => ({
  signatureHeader,
  standardWebhooksSecret: standardSecret(secretHash(secret)),
});

/**
 * Ends a webhook and deletes its secrets.
 * @throws ServiceError for an unknown subscription, or a caller who may not change the firm's webhooks
 */
export async function unsubscribe(deps: SubscriptionDeps, principal: Principal, id: string): Promise<void> {
  await deps.db.transaction(async (tx) => {
    const change = changeOf(deps, principal, id);
    await requireStillAllowed(tx, principal, change.at);
    if (!isUuid(id) || !(await endSubscription(tx, change))) throw webhookNotFound();
  });
}

async function requireStillAllowed(tx: Tx, principal: Principal, now: Date): Promise<void> {
  if (await isStillAllowed(tx, principal, now)) return;
  // The caller's API key was revoked or expired during the request. The caller gets the same error as for a key that
  // was revoked earlier (contract, Errors, 401).
  if (principal.key) throw new ServiceError("key_revoked", "A valid partner API key is required.");
  const message = "Only an owner of the firm with live access may create, rotate or delete live webhooks.";
  throw new ServiceError("owner_required", message);
}

/**
 * Replaces the secret by a new one. The old secret still signs for a day, or until `maxPreviousSecrets` newer ones are
 * replaced as well.
 * @throws ServiceError for an unknown subscription, or a caller who may not change the firm's webhooks or has no recent
 * proof
 */
export async function rotateSecret(deps: SubscriptionDeps, principal: Principal, id: string): Promise<RotatedSecret> {
  const secret = newSigningSecret();
  return deps.db.transaction(async (tx) => {
    const change = changeOf(deps, principal, id);
    await requireStillAllowed(tx, principal, change.at);
    if (!isUuid(id) || !(await lockSubscription(tx, id, principal))) throw webhookNotFound();
    requireProof(principal, change.at);
    const previousSecretExpiresAt = new Date(change.at.getTime() + overlapMs);
    await retireSecret(tx, id, previousSecretExpiresAt, maxPreviousSecrets);
    await insertSecret(tx, { ...change, hash: deps.secretCipher.encrypt(secretHash(secret), id) });
    return { id, secret, ...formsOf(secret), previousSecretExpiresAt: previousSecretExpiresAt.toISOString() };
  });
}

/** The subscriptions of a firm in both environments, newest first. */
export const webhooksOfPartner = ({ db }: { db: Sql }, partnerId: string): Promise<SubscriptionRecord[]> =>
  selectOfPartner(db, partnerId);

/**
 * The active subscriptions that this key created. Includes those of members who were added, or whose live access was
 * changed, with this key.
 */
export const webhooksCreatedByKey = (
  { db }: { db: Sql },
  partnerId: string,
  keyId: string,
): Promise<SubscriptionRecord[]> => selectCreatedByKey(db, partnerId, keyId);

/**
 * Ends a subscription permanently and deletes its secrets.
 * @throws ServiceError for an unknown or ended subscription
 */
export async function disableWebhook({ db, clock }: { db: Sql; clock: Clock }, webhookId: string) {
  const ended = await endAnySubscription(db, requireUuid("WEBHOOK_ID", webhookId), clock());
  if (!ended) throw webhookNotFound();
  return { webhookId, ...ended, disabled: true as const };
}

import { joinFirm, type MarkedFirm, markedFirm, type Tier, tierOf } from "../../../firms/partners/partners.ts";
import type { Owner } from "../../../kernel/identity/identity.ts";
import type { ColumnCipher } from "../../../kernel/platform/column-cipher.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import type { Log } from "../../../kernel/platform/logs.ts";
import { isRevoked } from "../../../kernel/platform/revocations.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import { keyContext, privateKeyOf } from "../public-key.ts";
import { secretKeys } from "../signing.ts";
import type { SigningKeys } from "../standard-signature.ts";
import { type WebhookFacts, webhookColumns, webhookMembers, webhookTable } from "../subscriptions/store.ts";

/** The endpoint of a subscription. `isFailing`: true if failures were counted since its last successful delivery. */
export type Destination = Owner & {
  url: string;
  /**
   * True if the MACs of the subscription and its firm are valid. Otherwise the subscription gets no events, so database
   * access alone is not enough to receive a firm's events. Always true if the subscription's row says that it was
   * deleted.
   */
  isWhole: boolean;
  deleted: boolean;
  tier: Tier;
  keys: SigningKeys;
  isFailing: boolean;
};

type DestinationRow = WebhookFacts & {
  mac: Buffer | null;
  isRevoked: boolean;
  deleted: boolean;
  isFailing: boolean;
  tier: string;
  hashes: Buffer[];
  sealedKey: Buffer | null;
} & MarkedFirm;

const selectDestinations = (db: Sql, webhookIds: readonly string[], now: Date) =>
  db.query<DestinationRow>(sql`
SELECT ${webhookColumns}, ${isRevoked(now, sql`webhooks.id::text`)} AS "isRevoked", deleted_at IS NOT NULL AS deleted, failures > 0 AS "isFailing", p.tier, array(
  SELECT hash FROM webhook_secrets WHERE webhook_id = webhooks.id AND (expires_at IS NULL OR expires_at > ${now})
  ORDER BY id DESC
) AS hashes, private_key AS "sealedKey", ${markedFirm}
FROM webhooks ${joinFirm(sql`webhooks.partner_id`)} LEFT JOIN webhook_keys USING (partner_id, environment)
WHERE webhooks.id = ANY (${webhookIds}::uuid[])`);

/**
 * The destinations of subscriptions, by id. Logs and omits subscriptions whose secrets or private key can't be
 * decrypted.
 */
export async function readDestinations(
  {
    db,
    log,
    rowMac,
    secretCipher,
    keyCipher,
  }: { db: Sql; log: Log; rowMac: RowMac; secretCipher: ColumnCipher; keyCipher: ColumnCipher },
  webhookIds: Iterable<string>,
  now: Date,
): Promise<Map<string, Destination>> {
  const ids = [...new Set(webhookIds)];
  const rows = ids.length === 0 ? [] : await selectDestinations(db, ids, now);
  const destinations = new Map<string, Destination>();
  for (const {
    mac,
    isRevoked: hasEnded,
    deleted,
    isFailing,
    tier,
    hashes,
    sealedKey,
    isFirmAuthentic,
    ...facts
  } of rows) {
    const { id, url, partnerId, environment } = facts;
    const owner = { partnerId, environment };
    try {
      destinations.set(id, {
        ...owner,
        url,
        isWhole: deleted || (isFirmAuthentic && rowMac.holds(webhookTable, webhookMembers(facts), mac)),
        deleted: deleted || hasEnded,
        isFailing,
        tier: tierOf(tier),
        keys: {
          secrets: hashes.map((hash) => secretKeys(secretCipher.decrypt(hash, id))),
          privateKey: sealedKey && privateKeyOf(keyCipher.decrypt(sealedKey, keyContext(owner))),
        },
      });
    } catch (error) {
      log.error(
        { err: error, webhook: id },
        "the secret of a webhook cannot be decrypted: is SECRETS_KEY the right one?",
      );
    }
  }
  return destinations;
}
